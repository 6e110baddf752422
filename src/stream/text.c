/* Tables as text, separated by comma, semicolon or tab. table.h reads features in columns; features
 * in rows are numbers and read one by one. */
#include "stream/first_row.h"
#include "stream/table.h"

typedef struct text {
    reader base;
    rows rows;
    int by_row;  /* one feature per row */
    table table; /* otherwise */
} text;

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
    table_close(&t->table);
    rows_close(&t->rows);
}

static roofs_status text_open(reader *r, roofs_error *err)
{
    text *t = (text *)r;
    t->by_row = r->hints.orient == ORIENT_FEATURES;
    TRY(rows_open(&t->rows, r->input, err));
    t->rows.keep_missing = r->hints.keep_missing;
    return t->by_row ? open_rows(t, err) : table_open(&t->table, r, &t->rows, err);
}

static roofs_status text_load(reader *r, roofs_error *err)
{
    text *t = (text *)r;
    return t->by_row ? ROOFS_OK : table_load(&t->table, err);
}

/* Every value is 64 bits: text has no narrower type. */
static roofs_status text_read(reader *r, int64_t count, roofs_dtype dtype, void *values,
                              int64_t *got, roofs_error *err)
{
    text *t = (text *)r;
    (void)dtype;
    return t->by_row ? text_read_rows(t, count, values, got, err)
                     : table_read(&t->table, count, values, got, err);
}

static roofs_status text_skip(reader *r, int64_t count, int64_t *got, roofs_error *err)
{
    text *t = (text *)r;
    if (t->by_row)
        return text_read_rows(t, count, NULL, got, err);
    if (r->features < 0)
        TRY(reader_load(r, err));
    *got = reader_advance(r, count);
    return ROOFS_OK;
}

static roofs_status text_visit_recipes(const reader *r, recipe_visit visit, void *user,
                                       roofs_error *err)
{
    const text *t = (const text *)r;
    for (int64_t k = 0; !t->by_row && k < t->rows.fields; k++)
        if (recipe_is_needed(&t->table.cells[k].recipe))
            TRY(visit(user, &t->table.cells[k].recipe, err));
    return ROOFS_OK;
}

static const char *text_column_name(const reader *r, int64_t k)
{
    const text *t = (const text *)r;
    return t->by_row || k >= t->table.column_names.count ? NULL : table_column_name(&t->table, k);
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
    .visit_recipes = text_visit_recipes,
    .column_name = text_column_name,
    .close = text_close,
};
