/* Tables of numbers as text: comma, semicolon or tab between the fields. Features
 * are columns, which takes a turner; or rows, which are read one by one. */
#include "base/memory.h"
#include "stream/format.h"
#include "stream/rows.h"
#include "stream/turn.h"

typedef struct text {
    reader base;
    rows rows;
    int by_row;         /* one feature per row */
    names names;        /* by column: all of them; by row: those of the last read */
    int64_t position;   /* by column: the next feature */
    int64_t last_count; /* by column: how many the last read gave */
    turner *turner;     /* by column, after `load` */
    int keep_missing;
    int64_t turn_bytes;
} text;

/* ---- features are columns ---------------------------------------------- */

static roofs_status open_columns(text *t, roofs_error *err)
{
    rows_fix_width(&t->rows);
    t->base.features = t->rows.fields;
    t->base.n = -1;
    t->base.named = rows_census(&t->rows, 0).texts > 0;
    if (t->base.named)
        return rows_names(&t->rows, &t->names, err);
    lines_give_back(&t->rows.lines);
    return ROOFS_OK;
}

static int is_wanted(const reader *r, int64_t sample)
{
    return r->part_count == 0 ||
           (sample >= r->part_first && sample < r->part_first + r->part_count);
}

/* Rows of samples that are not wanted are counted, but not parsed. */
static roofs_status load_columns(text *t, roofs_error *err)
{
    void *row;
    int64_t n = 0;
    TRY(turner_create(&t->turner, t->rows.fields, ROOFS_F64, t->turn_bytes, err));
    for (;; n++) {
        TRY(lines_next(&t->rows.lines, err));
        if (!t->rows.lines.record)
            break;
        if (!is_wanted(&t->base, n))
            continue;
        TRY(turner_row(t->turner, &row, err));
        TRY(rows_numbers(&t->rows, NULL, row, err));
        TRY(turner_push(t->turner, err));
    }
    TRY(turner_finish(t->turner, err));
    t->base.n = n;
    t->base.cuts = t->base.part_count > 0;
    if (t->base.n == 0)
        return fail(err, ROOFS_BAD_DATA, "%s has a header, but no data", bytes_name(t->base.input));
    return ROOFS_OK;
}

static int64_t pass_columns(text *t, int64_t count)
{
    int64_t left = t->base.features - t->position;
    t->last_count = count < left ? count : left;
    t->position += t->last_count;
    return t->last_count;
}

/* ---- features are rows ------------------------------------------------- */

/* A first line with names of samples is passed over: then no field after the
 * first is a number, and not because all of them are missing. */
static roofs_status pass_header(text *t, roofs_error *err)
{
    row_census after_first = rows_census(&t->rows, 1);
    if (after_first.numbers > 0 || after_first.texts == 0)
        return ROOFS_OK;
    TRY(lines_next(&t->rows.lines, err));
    if (!t->rows.lines.record)
        return fail(err, ROOFS_BAD_DATA, "%s has a header, but no data", bytes_name(t->base.input));
    return ROOFS_OK;
}

static roofs_status open_rows(text *t, roofs_error *err)
{
    TRY(pass_header(t, err));
    rows_fix_width(&t->rows);
    t->base.named = rows_census(&t->rows, 0).texts > rows_census(&t->rows, 1).texts;
    t->base.n = t->rows.fields - t->base.named;
    t->base.features = -1;
    if (t->base.n == 0)
        return fail(err, ROOFS_BAD_DATA, "%s, line %lld: a name without values",
                    bytes_name(t->base.input), (long long)t->rows.lines.number);
    lines_give_back(&t->rows.lines);
    return ROOFS_OK;
}

/* With `values` NULL the rows are passed over. */
static roofs_status take_rows(text *t, int64_t count, double *values, int64_t *got,
                              roofs_error *err)
{
    names_clear(&t->names);
    for (*got = 0; *got < count; ++*got) {
        TRY(lines_next(&t->rows.lines, err));
        if (!t->rows.lines.record)
            break;
        if (values)
            TRY(rows_numbers(&t->rows, t->base.named ? &t->names : NULL, values + *got * t->base.n,
                             err));
    }
    return ROOFS_OK;
}

/* ---- the format -------------------------------------------------------- */

static void text_close(reader *r)
{
    text *t = (text *)r;
    turner_destroy(t->turner);
    names_free(&t->names);
    rows_close(&t->rows);
    memory_free(t);
}

static roofs_status open_table(text *t, bytes *input, roofs_error *err)
{
    TRY(rows_open(&t->rows, input, err));
    t->rows.keep_missing = t->keep_missing;
    return t->by_row ? open_rows(t, err) : open_columns(t, err);
}

static roofs_status text_open(reader **out, bytes *input, const format_hints *hints,
                              roofs_error *err)
{
    text *t;
    *out = NULL;
    TRY(memory_get(&t, 1, sizeof *t, "a text file", err));
    t->base.input = input;
    t->base.dtype = ROOFS_F64;
    t->by_row = hints->orient == ORIENT_FEATURES;
    t->keep_missing = hints->keep_missing;
    t->turn_bytes = hints->turn_bytes;
    roofs_status status = open_table(t, input, err);
    if (status)
        text_close(&t->base);
    else
        *out = &t->base;
    return status;
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
        return take_rows(t, count, values, got, err);
    int64_t first = t->position;
    *got = pass_columns(t, count);
    return turner_read(t->turner, first, *got, dtype, values, err);
}

static roofs_status text_skip(reader *r, int64_t count, int64_t *got, roofs_error *err)
{
    text *t = (text *)r;
    if (t->by_row)
        return take_rows(t, count, NULL, got, err);
    *got = pass_columns(t, count);
    return ROOFS_OK;
}

static const char *text_feature_name(const reader *r, int64_t k)
{
    const text *t = (const text *)r;
    return names_get(&t->names, t->by_row ? k : t->position - t->last_count + k);
}

/* A file of unknown ending: text with a number in it, unless the names in its
 * header are longer than what can be seen. */
static int text_recognises(const unsigned char *start, int64_t length)
{
    if (!rows_are_text(start, length))
        return 0;
    for (int64_t i = 0; i < length; i++)
        if (start[i] >= '0' && start[i] <= '9')
            return 1;
    return length == 0 || length == BYTES_PEEK;
}

static const char *const endings[] = {".csv", ".tsv", ".txt", NULL};

extern const file_format format_text;
const file_format format_text = {
    .name = "text",
    .endings = endings,
    .turns = 1,
    .recognises = text_recognises,
    .open = text_open,
    .load = text_load,
    .read = text_read,
    .skip = text_skip,
    .feature_name = text_feature_name,
    .close = text_close,
};
