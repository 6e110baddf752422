/* Tables of numbers as text, separated by comma, semicolon or tab. Features in columns are
 * transposed first; features in rows are read one by one. */
#include "base/memory.h"
#include "stream/first_row.h"
#include "stream/format.h"
#include "stream/transpose.h"

typedef struct text {
    reader base;
    rows rows;
    int by_row;             /* one feature per row */
    transposer *transposer; /* by column, after `load` */
} text;

/* ---- features are columns ---------------------------------------------- */

static roofs_status open_columns(text *t, roofs_error *err)
{
    rows_fix_width(&t->rows);
    t->base.features = t->rows.fields;
    TRY(first_row_is_header(&t->rows, t->base.hints.header, &t->base.named, err));
    if (t->base.named)
        return rows_names(&t->rows, &t->base.names, err);
    lines_unread(&t->rows.lines);
    return ROOFS_OK;
}

static int text_reads_sample(const reader *r, int64_t sample)
{
    return r->shard_count == 0 ||
           (sample >= r->shard_first && sample < r->shard_first + r->shard_count);
}

/* Counts the rows of other ranks without parsing them. */
static roofs_status load_columns(text *t, roofs_error *err)
{
    void *row;
    int64_t n = 0;
    TRY(transposer_create(&t->transposer, t->rows.fields, ROOFS_F64, t->base.hints.transpose_bytes,
                          err));
    for (;; n++) {
        TRY(lines_next(&t->rows.lines, err));
        if (!t->rows.lines.record)
            break;
        if (!text_reads_sample(&t->base, n))
            continue;
        TRY(transposer_row(t->transposer, &row, err));
        TRY(rows_numbers(&t->rows, NULL, row, err));
        TRY(transposer_push(t->transposer, err));
    }
    TRY(transposer_finish(t->transposer, err));
    t->base.n = n;
    t->base.reads_shard = t->base.shard_count > 0;
    if (t->base.n == 0)
        return fail(err, ROOFS_BAD_DATA, "%s has a header but no data", bytes_name(t->base.input));
    return ROOFS_OK;
}

/* ---- features are rows ------------------------------------------------- */

/* Skips a first line with names of samples: a line with text, but without a number, after its
 * first field. */
static roofs_status text_skip_header(text *t, roofs_error *err)
{
    int skip;
    TRY(first_row_names_samples(&t->rows, t->base.hints.header, &skip, err));
    if (!skip)
        return ROOFS_OK;
    TRY(lines_next(&t->rows.lines, err));
    if (!t->rows.lines.record)
        return fail(err, ROOFS_BAD_DATA, "%s has a header but no data", bytes_name(t->base.input));
    return ROOFS_OK;
}

static roofs_status open_rows(text *t, roofs_error *err)
{
    TRY(text_skip_header(t, err));
    rows_fix_width(&t->rows);
    TRY(first_field_is_name(&t->rows, t->base.hints.header, &t->base.named, err));
    t->base.n = t->rows.fields - t->base.named;
    if (t->base.n == 0)
        return fail(err, ROOFS_BAD_DATA, "%s, line %lld: a name without values",
                    bytes_name(t->base.input), (long long)t->rows.lines.number);
    lines_unread(&t->rows.lines);
    return ROOFS_OK;
}

/* With `values` NULL the rows are skipped. */
static roofs_status text_read_rows(text *t, int64_t count, double *values, int64_t *got,
                                   roofs_error *err)
{
    names_clear(&t->base.names);
    for (*got = 0; *got < count; ++*got) {
        TRY(lines_next(&t->rows.lines, err));
        if (!t->rows.lines.record)
            break;
        if (t->base.named)
            TRY(first_field_stays_name(&t->rows, t->base.hints.header, err));
        if (values)
            TRY(rows_numbers(&t->rows, t->base.named ? &t->base.names : NULL,
                             values + *got * t->base.n, err));
    }
    return ROOFS_OK;
}

/* ---- the format -------------------------------------------------------- */

static void text_close(reader *r)
{
    text *t = (text *)r;
    transposer_destroy(t->transposer);
    rows_close(&t->rows);
}

static roofs_status text_open(reader *r, roofs_error *err)
{
    text *t = (text *)r;
    t->by_row = r->hints.orient == ORIENT_FEATURES;
    TRY(rows_open(&t->rows, r->input, err));
    t->rows.keep_missing = r->hints.keep_missing;
    return t->by_row ? open_rows(t, err) : open_columns(t, err);
}

static roofs_status text_load(reader *r, roofs_error *err)
{
    text *t = (text *)r;
    return t->by_row ? ROOFS_OK : load_columns(t, err);
}

static roofs_status text_read(reader *r, int64_t count, roofs_dtype dtype, void *values,
                              int64_t *got, roofs_error *err)
{
    text *t = (text *)r;
    if (t->by_row)
        return text_read_rows(t, count, values, got, err);
    int64_t first = r->position;
    *got = reader_advance(r, count);
    return transposer_read(t->transposer, first, *got, dtype, values, err);
}

static roofs_status text_skip(reader *r, int64_t count, int64_t *got, roofs_error *err)
{
    text *t = (text *)r;
    if (t->by_row)
        return text_read_rows(t, count, NULL, got, err);
    *got = reader_advance(r, count);
    return ROOFS_OK;
}

/* Text with a digit in its first bytes, or a header too long to see one. */
static int text_recognises(const unsigned char *start, int64_t length)
{
    if (!rows_are_text(start, length))
        return 0;
    for (int64_t i = 0; i < length; i++)
        if (start[i] >= '0' && start[i] <= '9')
            return 1;
    return length == 0 || length == BYTES_PEEK;
}

extern const file_format format_text;
const file_format format_text = {
    .name = "text",
    .endings = {".csv", ".tsv", ".txt"},
    .size = sizeof(text),
    .orientable = 1,
    .recognises = text_recognises,
    .open = text_open,
    .load = text_load,
    .read = text_read,
    .skip = text_skip,
    .close = text_close,
};
