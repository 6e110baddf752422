/* Triplets "feature,sample,value", one per line, those of a feature together: what a
 * database gives with ORDER BY feature. A feature is a name; samples are counted from 0
 * (or 1, where told); what is not listed is zero. Where the number of samples is known
 * features are given out as they come, else the whole file is read first. */
#include "base/memory.h"
#include "base/nameset.h"
#include "stream/format.h"
#include "stream/rows.h"
#include "stream/sparse_turn.h"

#include <math.h>
#include <string.h>
#include <strings.h>

typedef struct triplets {
    reader base;
    rows rows;
    int keep_missing;
    int64_t offset; /* the number of the first sample */
    nameset seen;
    names names;   /* of the last read; after `load`: all */
    char *current; /* the name of the feature being read */
    int64_t current_capacity;
    /* after `load` */
    sparse_turner *turner;
    int64_t turn_bytes, last_count;
} triplets;

/* ---- one row ----------------------------------------------------------- */

typedef struct triplet {
    field feature;
    int64_t sample;
    double value;
} triplet;

static roofs_status complain(const triplets *t, int64_t column, field f, const char *what,
                             roofs_error *err)
{
    char text[FIELD_QUOTED];
    field_quote(f, text);
    return fail(err, ROOFS_BAD_DATA, "%s, line %lld, column %lld: \"%s\" %s",
                bytes_name(t->base.input), (long long)t->rows.lines.number, (long long)column, text,
                what);
}

static roofs_status read_sample(const triplets *t, field f, int64_t *sample, roofs_error *err)
{
    double number;
    if (field_number(f, &number) != NUMBER_FINE || number != floor(number) || number < 0 ||
        number > INT32_MAX - 1)
        return complain(t, 2, f, "is not the number of a sample, up to 2147483646", err);
    *sample = (int64_t)number - t->offset;
    if (*sample < 0)
        return complain(t, 2, f, "is below 1, but samples are said to be counted from 1", err);
    if (t->base.n >= 0 && *sample >= t->base.n)
        return complain(t, 2, f,
                        t->offset == 0 && *sample == t->base.n
                            ? "is the number of samples; are they counted from 1? (--index-base 1)"
                            : "is beyond the number of samples",
                        err);
    return ROOFS_OK;
}

static roofs_status read_row(const triplets *t, triplet *out, roofs_error *err)
{
    const lines *l = &t->rows.lines;
    const char *at = l->record;
    int64_t count = fields_count(l->record, l->record_end, t->rows.separator);
    if (count != 3)
        return fail(err, ROOFS_BAD_DATA,
                    "%s, line %lld: expected feature, sample and value, found %lld fields",
                    bytes_name(l->input), (long long)l->number, (long long)count);
    out->feature = fields_next(&at, l->record_end, t->rows.separator);
    if (!names_are_utf8(out->feature.begin, out->feature.end))
        return complain(t, 1, out->feature, "is not UTF-8", err);
    TRY(read_sample(t, fields_next(&at, l->record_end, t->rows.separator), &out->sample, err));
    field value = fields_next(&at, l->record_end, t->rows.separator);
    number_kind kind = field_number(value, &out->value);
    if (kind == NUMBER_MISSING && t->keep_missing)
        out->value = NAN;
    else if (kind == NUMBER_MISSING)
        return complain(t, 3, value, "is missing; it must be filled first, or see --missing", err);
    else if (kind != NUMBER_FINE)
        return complain(t, 3, value, "is not a finite number", err);
    return ROOFS_OK;
}

/* ---- one feature ------------------------------------------------------- */

/* Where the entries of a feature go: to a block, to the turner, or nowhere. */
typedef struct target {
    sparse *block;
    sparse_turner *turner;
    int64_t place; /* of the feature, for the turner */
    int64_t largest_sample;
} target;

static roofs_status begin_feature(triplets *t, field name, roofs_error *err)
{
    int fresh;
    TRY(field_add_name(name, &t->names, err));
    int64_t length = name.end - name.begin;
    TRY(memory_grow(&t->current, &t->current_capacity, length + 1, 1, "a feature name", err));
    if (length > 0)
        memcpy(t->current, name.begin, (size_t)length);
    t->current[length] = '\0';
    TRY(nameset_add(&t->seen, t->current, &fresh, err));
    if (!fresh)
        return complain(t, 1, name, "came before: the triplets must be sorted by feature", err);
    return ROOFS_OK;
}

static int is_current(const triplets *t, field f)
{
    size_t length = (size_t)(f.end - f.begin);
    return t->current && strlen(t->current) == length && memcmp(t->current, f.begin, length) == 0;
}

static roofs_status put(target *to, const triplet *row, roofs_error *err)
{
    if (row->sample > to->largest_sample)
        to->largest_sample = row->sample;
    if (row->value == 0.0)
        return ROOFS_OK;
    if (to->block)
        TRY(sparse_add(to->block, row->sample, row->value, err));
    if (to->turner)
        TRY(sparse_turner_add(
            to->turner, (sparse_entry){(int32_t)to->place, (int32_t)row->sample, row->value}, err));
    return ROOFS_OK;
}

static roofs_status end_feature(const triplets *t, sparse *block, roofs_error *err)
{
    roofs_status status = sparse_end_feature(block, err);
    if (status != ROOFS_BAD_DATA)
        return status;
    roofs_error reason = err ? *err : (roofs_error){0};
    return fail(err, status, "%s, before line %lld, feature \"%.60s\": %s",
                bytes_name(t->base.input), (long long)t->rows.lines.number, t->current,
                reason.text);
}

/* *found = 0 at the end of the file. */
static roofs_status take_feature(triplets *t, target *to, int *found, roofs_error *err)
{
    triplet row = {0};
    *found = 0;
    for (;;) {
        TRY(lines_next(&t->rows.lines, err));
        if (!t->rows.lines.record)
            break;
        TRY(read_row(t, &row, err));
        if (*found && !is_current(t, row.feature)) {
            lines_give_back(&t->rows.lines);
            break;
        }
        if (!*found)
            TRY(begin_feature(t, row.feature, err));
        *found = 1;
        TRY(put(to, &row, err));
    }
    return *found && to->block ? end_feature(t, to->block, err) : ROOFS_OK;
}

/* ---- the format -------------------------------------------------------- */

static void triplets_close(reader *r)
{
    triplets *t = (triplets *)r;
    rows_close(&t->rows);
    nameset_clear(&t->seen);
    names_free(&t->names);
    memory_free(t->current);
    sparse_turner_destroy(t->turner);
    memory_free(t);
}

/* A first row whose sample and value are words is a header. */
static roofs_status open_table(triplets *t, bytes *input, roofs_error *err)
{
    TRY(rows_open(&t->rows, input, err));
    row_census census = rows_census(&t->rows, 1);
    if (census.texts < 2)
        lines_give_back(&t->rows.lines);
    return ROOFS_OK;
}

static roofs_status triplets_open(reader **out, bytes *input, const format_hints *hints,
                                  roofs_error *err)
{
    triplets *t;
    *out = NULL;
    TRY(memory_get(&t, 1, sizeof *t, "a file of triplets", err));
    t->base.input = input;
    t->base.dtype = ROOFS_F64;
    t->base.features = -1;
    t->base.n = hints->n > 0 ? hints->n : -1;
    t->base.named = 1;
    t->offset = hints->base == INDEX_FROM_1;
    t->keep_missing = hints->keep_missing;
    t->turn_bytes = hints->turn_bytes;
    roofs_status status = open_table(t, input, err);
    if (status)
        triplets_close(&t->base);
    else
        *out = &t->base;
    return status;
}

static roofs_status triplets_load(reader *r, roofs_error *err)
{
    triplets *t = (triplets *)r;
    int found = 1;
    if (r->n >= 0)
        return ROOFS_OK;
    TRY(sparse_turner_create(&t->turner, t->turn_bytes, err));
    target to = {.turner = t->turner, .largest_sample = -1};
    while (found) {
        TRY(take_feature(t, &to, &found, err));
        to.place += found;
        if (to.place == INT32_MAX)
            return fail(err, ROOFS_BAD_DATA, "%s has too many features", bytes_name(r->input));
    }
    r->n = to.largest_sample + 1;
    r->features = to.place;
    if (r->n == 0)
        return fail(err, ROOFS_BAD_DATA, "%s holds no triplets", bytes_name(r->input));
    return sparse_turner_finish(t->turner, err);
}

/* With `out` NULL the features are passed over. */
static roofs_status stream_features(triplets *t, int64_t count, sparse *out, int64_t *got,
                                    roofs_error *err)
{
    target to = {.block = out};
    int found = 1;
    names_clear(&t->names);
    for (*got = 0; *got < count && found; *got += found)
        TRY(take_feature(t, &to, &found, err));
    return ROOFS_OK;
}

static roofs_status triplets_read(reader *r, int64_t count, sparse *out, int64_t *got,
                                  roofs_error *err)
{
    triplets *t = (triplets *)r;
    if (!t->turner)
        return stream_features(t, count, out, got, err);
    int64_t first = t->base.position;
    *got = t->last_count = reader_pass(r, count);
    return reader_blame(r, sparse_turner_read(t->turner, first, *got, out, err), err);
}

static roofs_status triplets_skip(reader *r, int64_t count, int64_t *got, roofs_error *err)
{
    triplets *t = (triplets *)r;
    TRY(reader_load(r, err));
    if (!t->turner)
        return stream_features(t, count, NULL, got, err);
    *got = t->last_count = reader_pass(r, count);
    return ROOFS_OK;
}

static const char *triplets_feature_name(const reader *r, int64_t k)
{
    const triplets *t = (const triplets *)r;
    return names_get(&t->names, t->turner ? t->base.position - t->last_count + k : k);
}

/* By the header, whatever the separator. */
static int triplets_recognises(const unsigned char *start, int64_t length)
{
    static const char *const headers[] = {"feature,sample,value", "feature\tsample\tvalue",
                                          "feature;sample;value"};
    const int64_t width = 20;
    if (length <= width || !strchr("\r\n", start[width]))
        return 0;
    for (size_t k = 0; k < sizeof headers / sizeof *headers; k++)
        if (strncasecmp((const char *)start, headers[k], (size_t)width) == 0)
            return 1;
    return 0;
}

static const char *const endings[] = {".triplets", NULL};

extern const file_format format_triplets;
const file_format format_triplets = {
    .name = "triplets",
    .endings = endings,
    .by_name = 1,
    .recognises = triplets_recognises,
    .open = triplets_open,
    .load = triplets_load,
    .read_sparse = triplets_read,
    .skip = triplets_skip,
    .feature_name = triplets_feature_name,
    .close = triplets_close,
};
