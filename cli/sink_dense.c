/* Tables with every value: NumPy arrays and text. */
#include "cli/sink.h"

#include "base/memory.h"
#include "base/number.h"
#include "stream/npy.h"
#include "stream/transpose.h"

#include <stdio.h>
#include <string.h>

/* ---- .npy: one feature per row ------------------------------------------ */

/* The number of features is known at the end; the header has room for any. */
static roofs_status npy_begin(sink *s, roofs_error *err)
{
    double *values;
    TRY(memory_get(&values, s->n, sizeof *values, "a feature", err));
    s->state = values;
    npy_write_header(s->out.file, "<f8", 2, (int64_t[]){0, s->n});
    return ROOFS_OK;
}

static roofs_status npy_features(sink *s, const sparse *some, roofs_error *err)
{
    for (int64_t k = 0; k < some->count; k++) {
        sparse_spread(some, k, s->state);
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

typedef struct table {
    transposer *transposer; /* features go in as rows, samples come out as columns */
} table;

static roofs_status table_begin(sink *s, roofs_error *err)
{
    table *t;
    TRY(memory_get(&t, 1, sizeof *t, "a table", err));
    s->state = t;
    return transposer_create(&t->transposer, s->n, ROOFS_F64, 0, err);
}

static roofs_status table_features(sink *s, const sparse *some, roofs_error *err)
{
    table *t = s->state;
    for (int64_t k = 0; k < some->count; k++) {
        void *row;
        TRY(transposer_row(t->transposer, &row, err));
        sparse_spread(some, k, row);
        TRY(transposer_push(t->transposer, err));
    }
    return ROOFS_OK;
}

/* A header of numbers only would be read as data. */
static int is_header(const sink *s)
{
    double value;
    for (int64_t k = 0; k < s->count && s->named; k++) {
        const char *name = names_get(&s->names, k);
        if (number_read(name, name + strlen(name), &value) == NUMBER_TEXT)
            return 1;
    }
    return 0;
}

static void put_header(const sink *s)
{
    for (int64_t k = 0; k < s->count; k++) {
        if (k > 0)
            fputc(s->separator, s->out.file);
        sink_put_name(s, names_get(&s->names, k));
    }
    fputc('\n', s->out.file);
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

/* As many samples at a time as make a few megabytes. */
static roofs_status put_rows(sink *s, transposer *t, roofs_error *err)
{
    const int64_t most = (1 << 20) / (s->count + 1) + 1;
    double *values;
    TRY(memory_reserve(&values, most * s->count, sizeof *values, "rows of a table", err));
    roofs_status status = ROOFS_OK;
    for (int64_t first = 0; first < s->n && !status; first += most) {
        int64_t here = s->n - first < most ? s->n - first : most;
        status = transposer_read(t, first, here, ROOFS_F64, values, err);
        for (int64_t i = 0; i < here && !status; i++)
            put_row(s, values + i * s->count);
        if (!status && ferror(s->out.file))
            status = sink_failed(s, err);
    }
    memory_free(values);
    return status;
}

static roofs_status table_end(sink *s, roofs_error *err)
{
    table *t = s->state;
    TRY(transposer_finish(t->transposer, err));
    if (is_header(s))
        put_header(s);
    return put_rows(s, t->transposer, err);
}

static void table_drop(sink *s)
{
    table *t = s->state;
    if (t)
        transposer_destroy(t->transposer);
}

static const char *const table_endings[] = {".csv", ".tsv", NULL};
const sink_kind sink_table = {.endings = table_endings,
                              .begin = table_begin,
                              .features = table_features,
                              .end = table_end,
                              .drop = table_drop};
