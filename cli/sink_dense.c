/* Dense formats: NumPy arrays and text tables. */
#include "cli/sink.h"

#include "base/memory.h"
#include "base/number.h"
#include "stream/first_row.h"
#include "stream/npy.h"
#include "stream/transpose.h"

#include <stdio.h>
#include <string.h>
#include <strings.h>

/* ---- .npy: one feature per row ------------------------------------------ */

/* Writes a preliminary header of the final length: the number of features is known at the end. */
static roofs_status npy_begin(sink *s, roofs_error *err)
{
    double *values;
    TRY(memory_get(&values, s->n, sizeof *values, "a feature", err));
    s->state = values;
    npy_write_header(s->out.file, "<f8", 2, (int64_t[]){0, s->n});
    return ROOFS_OK;
}

static roofs_status npy_features(sink *s, const sparse *block, roofs_error *err)
{
    for (int64_t k = 0; k < block->count; k++) {
        sparse_spread(block, k, s->state);
        if (fwrite(s->state, sizeof(double), (size_t)s->n, s->out.file) != (size_t)s->n)
            return sink_failed(s, err);
    }
    return ROOFS_OK;
}

static roofs_status npy_end(sink *s, roofs_error *err)
{
    if (fseek(s->out.file, 0, SEEK_SET) != 0)
        return sink_failed(s, err);
    npy_write_header(s->out.file, "<f8", 2, (int64_t[]){s->count, s->n});
    return ROOFS_OK;
}

static const char *const npy_endings[] = {".npy", NULL};
const sink_kind sink_npy = {
    .endings = npy_endings, .begin = npy_begin, .features = npy_features, .end = npy_end};

/* ---- text: one feature per column --------------------------------------- */

/* The state is a transposer: it gets features as rows and returns samples as columns. */
static roofs_status table_begin(sink *s, roofs_error *err)
{
    transposer *t = NULL;
    roofs_status status = transposer_create(&t, s->n, ROOFS_F64, 0, err);
    s->state = t;
    return status;
}

static roofs_status table_features(sink *s, const sparse *block, roofs_error *err)
{
    for (int64_t k = 0; k < block->count; k++) {
        void *row;
        TRY(transposer_row(s->state, &row, err));
        sparse_spread(block, k, row);
        TRY(transposer_push(s->state, err));
    }
    return ROOFS_OK;
}

/* The header of triplets, which readers recognise. */
static int looks_like_triplets(const sink *s)
{
    static const char *const words[] = {"feature", "sample", "value"};
    int same = s->count == 3;
    for (int64_t k = 0; same && k < 3; k++)
        same = strcasecmp(names_get(&s->names, k), words[k]) == 0;
    return same;
}

/* True if readers could take a name without quotes for a number. */
static int looks_like_numbers(const sink *s)
{
    double value;
    for (int64_t k = 0; k < s->count; k++) {
        const char *name = names_get(&s->names, k), *end = name + strlen(name);
        if (number_read(name, end, &value) != NUMBER_TEXT ||
            field_resembles_number((field){name, end, 0}) != FIELD_WORD)
            return 1;
    }
    return 0;
}

static roofs_status put_table_header(const sink *s, roofs_error *err)
{
    if (!header_is_clear(&s->names))
        return fail(err, ROOFS_BAD_DATA,
                    "the names of the features look like damaged numbers (such as \"%.60s\"), and "
                    "readers would refuse the table; choose another format, or give other names "
                    "with --names",
                    names_get(&s->names, 0));
    const int quoted = looks_like_numbers(s) || looks_like_triplets(s);
    for (int64_t k = 0; k < s->count; k++) {
        if (k > 0)
            fputc(s->separator, s->out.file);
        sink_put_name(s, names_get(&s->names, k), quoted);
    }
    fputc('\n', s->out.file);
    return ROOFS_OK;
}

static void put_row(const sink *s, const double *values)
{
    char text[SINK_NUMBER];
    for (int64_t k = 0; k < s->count; k++) {
        sink_number(values[k], text);
        if (k > 0)
            fputc(s->separator, s->out.file);
        fputs(text, s->out.file);
    }
    fputc('\n', s->out.file);
}

/* Reads and writes a few megabytes of samples at a time. */
static roofs_status put_rows(sink *s, roofs_error *err)
{
    const int64_t most = (1 << 20) / (s->count + 1) + 1;
    double *values;
    TRY(memory_reserve(&values, most * s->count, sizeof *values, "rows of a table", err));
    roofs_status status = ROOFS_OK;
    for (int64_t first = 0; first < s->n && !status; first += most) {
        int64_t count = s->n - first < most ? s->n - first : most;
        status = transposer_read(s->state, first, count, ROOFS_F64, values, err);
        for (int64_t i = 0; i < count && !status; i++)
            put_row(s, values + i * s->count);
        if (!status && ferror(s->out.file))
            status = sink_failed(s, err);
    }
    memory_free(values);
    return status;
}

static roofs_status table_end(sink *s, roofs_error *err)
{
    TRY(transposer_finish(s->state, err));
    if (s->named && s->count > 0)
        TRY(put_table_header(s, err));
    return put_rows(s, err);
}

static void table_destroy(void *state)
{
    transposer_destroy(state);
}

static const char *const table_endings[] = {".csv", ".tsv", NULL};
const sink_kind sink_table = {.endings = table_endings,
                              .is_text = 1,
                              .begin = table_begin,
                              .features = table_features,
                              .end = table_end,
                              .destroy = table_destroy};
