/* Text that lists only what is not zero: LIBSVM and triplets. */
#include "cli/sink.h"

#include "base/memory.h"
#include "stream/sparse_transpose.h"

#include <inttypes.h>
#include <stdio.h>

/* ---- LIBSVM: one sample per line ---------------------------------------- */

typedef struct libsvm {
    sparse_transposer *transposer; /* entries go in by feature, come out by sample */
} libsvm;

static roofs_status libsvm_begin(sink *s, roofs_error *err)
{
    libsvm *l;
    TRY(memory_get(&l, 1, sizeof *l, "a LIBSVM file", err));
    s->state = l;
    return sparse_transposer_create(&l->transposer, 0, err);
}

static roofs_status libsvm_features(sink *s, const sparse *some, roofs_error *err)
{
    libsvm *l = s->state;
    if (s->count + some->count >= INT32_MAX)
        return fail(err, ROOFS_BAD_DATA, "LIBSVM text has room for %d features", INT32_MAX - 1);
    for (int64_t k = 0; k < some->count; k++)
        for (int64_t at = some->starts[k]; at < some->starts[k + 1]; at++)
            TRY(sparse_transposer_add(l->transposer,
                                      (sparse_entry){(int32_t)some->samples[at],
                                                     (int32_t)(s->count + k), some->values[at]},
                                      err));
    return ROOFS_OK;
}

/* Indices are counted from 1, as LIBSVM itself does. */
static void put_sample(const sink *s, const sparse *samples, int64_t k, double label)
{
    char text[SINK_NUMBER];
    sink_number(label, text);
    fputs(text, s->out.file);
    for (int64_t at = samples->starts[k]; at < samples->starts[k + 1]; at++) {
        sink_number(samples->values[at], text);
        fprintf(s->out.file, " %" PRId64 ":%s", samples->samples[at] + 1, text);
    }
    fputc('\n', s->out.file);
}

static roofs_status libsvm_end(sink *s, roofs_error *err)
{
    enum { TOGETHER = 256 };
    libsvm *l = s->state;
    sparse samples = {.n = s->count};
    roofs_status status = sparse_transposer_finish(l->transposer, err);
    for (int64_t first = 0; first < s->n && !status; first += TOGETHER) {
        int64_t here = s->n - first < TOGETHER ? s->n - first : TOGETHER;
        sparse_clear(&samples);
        status = sparse_transposer_read(l->transposer, first, here, &samples, err);
        for (int64_t k = 0; k < here && !status; k++)
            put_sample(s, &samples, k, s->labels ? s->labels[first + k] : 0.0);
        if (!status && ferror(s->out.file))
            status = sink_failed(s, err);
    }
    sparse_free(&samples);
    return status;
}

static void libsvm_drop(sink *s)
{
    libsvm *l = s->state;
    if (l)
        sparse_transposer_destroy(l->transposer);
}

static const char *const libsvm_endings[] = {".svm", ".libsvm", ".svmlight", NULL};
const sink_kind sink_libsvm = {.endings = libsvm_endings,
                               .begin = libsvm_begin,
                               .features = libsvm_features,
                               .end = libsvm_end,
                               .drop = libsvm_drop};

/* ---- triplets: one value per line ---------------------------------------- */

static roofs_status triplets_begin(sink *s, roofs_error *err)
{
    (void)err;
    fputs("feature,sample,value\n", s->out.file);
    return ROOFS_OK;
}

static void put_feature(const sink *s, int64_t place)
{
    const char *name = names_get(&s->names, place);
    if (name[0] == '\0')
        fprintf(s->out.file, "f%" PRId64, place);
    else
        sink_put_name(s, name);
}

/* A feature that is zero everywhere gets one line, or it would be lost. */
static roofs_status triplets_features(sink *s, const sparse *some, roofs_error *err)
{
    (void)err;
    for (int64_t k = 0; k < some->count; k++) {
        int64_t first = some->starts[k], end = some->starts[k + 1];
        for (int64_t at = first; at < end || at == first; at++) {
            char text[SINK_NUMBER];
            sink_number(at < end ? some->values[at] : 0.0, text);
            put_feature(s, s->count + k);
            fprintf(s->out.file, ",%" PRId64 ",%s\n", at < end ? some->samples[at] : 0, text);
        }
    }
    return ROOFS_OK;
}

static const char *const triplets_endings[] = {".triplets", NULL};
const sink_kind sink_triplets = {
    .endings = triplets_endings, .begin = triplets_begin, .features = triplets_features};
