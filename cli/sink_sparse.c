/* Sparse text formats, which list nonzero values: LIBSVM and triplets. */
#include "cli/sink.h"

#include "stream/sparse_transpose.h"

#include <inttypes.h>
#include <stdio.h>

/* ---- LIBSVM: one sample per line ---------------------------------------- */

/* The state is a transposer: it gets entries by feature and returns them by sample. */
static roofs_status libsvm_begin(sink *s, roofs_error *err)
{
    sparse_transposer *t = NULL;
    roofs_status status = sparse_transposer_create(&t, 0, err);
    s->state = t;
    return status;
}

static roofs_status libsvm_features(sink *s, const sparse *block, roofs_error *err)
{
    if (s->count + block->count >= INT32_MAX)
        return fail(err, ROOFS_BAD_DATA,
                    "a LIBSVM file can have at most %d features; choose another format",
                    INT32_MAX - 1);
    for (int64_t k = 0; k < block->count; k++)
        for (int64_t at = block->starts[k]; at < block->starts[k + 1]; at++)
            TRY(sparse_transposer_add(s->state,
                                      (sparse_entry){(int32_t)block->samples[at],
                                                     (int32_t)(s->count + k), block->values[at]},
                                      err));
    return ROOFS_OK;
}

/* LIBSVM counts indices from 1. With `width` a zero of the last feature is written, too: the
 * largest index is the number of features. */
static void put_sample(const sink *s, const sparse *samples, int64_t k, double label, int width)
{
    char text[SINK_NUMBER];
    sink_number(label, text);
    fputs(text, s->out.file);
    for (int64_t at = samples->starts[k]; at < samples->starts[k + 1]; at++) {
        sink_number(samples->values[at], text);
        fprintf(s->out.file, " %" PRId64 ":%s", samples->samples[at] + 1, text);
    }
    if (width)
        fprintf(s->out.file, " %" PRId64 ":0", s->count);
    fputc('\n', s->out.file);
}

static roofs_status libsvm_end(sink *s, roofs_error *err)
{
    enum { TOGETHER = 256 };
    sparse samples = {.n = s->count};
    roofs_status status = sparse_transposer_finish(s->state, err);
    for (int64_t first = 0; first < s->n && !status; first += TOGETHER) {
        int64_t count = s->n - first < TOGETHER ? s->n - first : TOGETHER;
        sparse_clear(&samples);
        status = sparse_transposer_read(s->state, first, count, &samples, err);
        for (int64_t k = 0; k < count && !status; k++)
            put_sample(s, &samples, k, s->labels ? s->labels[first + k] : 0.0,
                       s->last_is_zero && first + k == 0);
        if (!status && ferror(s->out.file))
            status = sink_failed(s, err);
    }
    sparse_free(&samples);
    return status;
}

static void libsvm_destroy(void *state)
{
    sparse_transposer_destroy(state);
}

static const char *const libsvm_endings[] = {".svm", ".libsvm", ".svmlight", NULL};
const sink_kind sink_libsvm = {.endings = libsvm_endings,
                               .begin = libsvm_begin,
                               .features = libsvm_features,
                               .end = libsvm_end,
                               .destroy = libsvm_destroy};

/* ---- triplets: one value per line ---------------------------------------- */

static roofs_status triplets_begin(sink *s, roofs_error *err)
{
    (void)err;
    fputs("feature,sample,value\n", s->out.file);
    return ROOFS_OK;
}

static void put_feature_name(const sink *s, int64_t place)
{
    const char *name = names_get(&s->names, place);
    if (name[0] == '\0')
        fprintf(s->out.file, "f%" PRId64, place);
    else
        sink_put_name(s, name, 0);
}

static void put_triplet(const sink *s, int64_t feature, int64_t sample, double value)
{
    char text[SINK_NUMBER];
    sink_number(value, text);
    put_feature_name(s, feature);
    fprintf(s->out.file, ",%" PRId64 ",%s\n", sample, text);
}

/* Writes one zero for a feature without other values, so that the feature is not lost, and one of
 * the last sample for the first feature: the largest sample is the number of samples. */
static roofs_status triplets_features(sink *s, const sparse *block, roofs_error *err)
{
    (void)err;
    for (int64_t k = 0; k < block->count; k++) {
        const int64_t first = block->starts[k], end = block->starts[k + 1], feature = s->count + k;
        for (int64_t at = first; at < end; at++)
            put_triplet(s, feature, block->samples[at], block->values[at]);
        const int has_last = end > first && block->samples[end - 1] == s->n - 1;
        if (feature == 0 ? !has_last : end == first)
            put_triplet(s, feature, feature == 0 ? s->n - 1 : 0, 0.0);
    }
    return ROOFS_OK;
}

static const char *const triplets_endings[] = {".triplets", NULL};
const sink_kind sink_triplets = {.endings = triplets_endings,
                                 .is_text = 1,
                                 .names_differ = 1,
                                 .begin = triplets_begin,
                                 .features = triplets_features};
