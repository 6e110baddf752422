/* Triplets "feature,sample,value", one per line, sorted by feature, as a database writes them
 * with ORDER BY feature. A feature is a name; samples are counted from 0 (--index-base 1: from
 * 1); values that are not listed are zero. If the number of samples is known, features are read
 * one by one; otherwise the whole file is read first. */
#include "base/memory.h"
#include "base/nameset.h"
#include "stream/format.h"
#include "stream/rows.h"
#include "stream/sparse_transpose.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

typedef struct triplets {
    reader base;
    rows rows;
    int64_t offset; /* the number of the first sample */
    nameset seen;
    char *current; /* the name of the feature being read */
    int64_t current_capacity;
    int64_t *listed; /* the samples of the feature being read, with zeros */
    int64_t listed_count, listed_capacity;
    int has_zero;                  /* one of them is zero */
    sparse_transposer *transposer; /* after `load`; NULL = features are read one by one */
} triplets;

/* ---- one row ----------------------------------------------------------- */

typedef struct triplet {
    field feature;
    int64_t sample;
    double value;
} triplet;

static roofs_status read_sample(const triplets *t, field f, int64_t *sample, roofs_error *err)
{
    double number;
    if (field_number(f, &number) != NUMBER_FINE || number != floor(number) || number < 0 ||
        number > INT32_MAX - 1)
        return rows_field_error(&t->rows.lines, 2, f,
                                "is not the number of a sample, up to 2147483646", err);
    *sample = (int64_t)number - t->offset;
    if (*sample < 0)
        return rows_field_error(&t->rows.lines, 2, f,
                                "is below 1, but with --index-base 1 samples begin at 1", err);
    if (t->base.n >= 0 && *sample >= t->base.n)
        return rows_field_error(
            &t->rows.lines, 2, f,
            t->offset == 0 && *sample == t->base.n
                ? "is the number of samples; are they counted from 1? (--index-base 1)"
                : "is beyond the number of samples",
            err);
    return ROOFS_OK;
}

static roofs_status triplets_read_row(const triplets *t, triplet *out, roofs_error *err)
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
        return rows_field_error(&t->rows.lines, 1, out->feature, "is not UTF-8", err);
    if (memchr(out->feature.begin, '\0', (size_t)(out->feature.end - out->feature.begin)))
        return rows_field_error(&t->rows.lines, 1, out->feature, "has a zero byte; remove it", err);
    TRY(read_sample(t, fields_next(&at, l->record_end, t->rows.separator), &out->sample, err));
    field value = fields_next(&at, l->record_end, t->rows.separator);
    number_kind kind = field_number(value, &out->value);
    if (kind == NUMBER_MISSING && t->base.hints.keep_missing)
        out->value = NAN;
    else if (kind == NUMBER_MISSING)
        return rows_field_error(&t->rows.lines, 3, value,
                                "is missing; fill missing values first, or see --missing", err);
    else if (kind != NUMBER_FINE)
        return rows_field_error(&t->rows.lines, 3, value, "is not a finite number", err);
    return ROOFS_OK;
}

/* ---- one feature ------------------------------------------------------- */

/* The target of the entries of a feature: a block, the transposer, or none. */
typedef struct triplets_target {
    sparse *block;
    sparse_transposer *transposer;
    int64_t place; /* of the feature, for the transposer */
} triplets_target;

static roofs_status begin_feature(triplets *t, field name, roofs_error *err)
{
    int fresh;
    TRY(field_add_name(name, &t->base.names, err));
    int64_t length = name.end - name.begin;
    TRY(memory_grow(&t->current, &t->current_capacity, length + 1, 1, "a feature name", err));
    if (length > 0)
        memcpy(t->current, name.begin, (size_t)length);
    t->current[length] = '\0';
    TRY(nameset_add(&t->seen, t->current, &fresh, err));
    if (!fresh)
        return rows_field_error(&t->rows.lines, 1, name,
                                "occurred before: sort the triplets by feature", err);
    return ROOFS_OK;
}

static int triplets_is_current(const triplets *t, field f)
{
    size_t length = (size_t)(f.end - f.begin);
    return t->current && strlen(t->current) == length && memcmp(t->current, f.begin, length) == 0;
}

static roofs_status triplets_put(triplets *t, triplets_target *to, const triplet *row,
                                 roofs_error *err)
{
    t->base.listed.values++;
    if (row->sample >= t->base.listed.samples)
        t->base.listed.samples = row->sample + 1;
    TRY(memory_grow(&t->listed, &t->listed_capacity, t->listed_count + 1, sizeof *t->listed,
                    "a feature", err));
    t->listed[t->listed_count++] = row->sample;
    t->has_zero |= row->value == 0.0;
    if (row->value == 0.0)
        return ROOFS_OK;
    if (to->block)
        TRY(sparse_add(to->block, row->sample, row->value, err));
    if (to->transposer)
        TRY(sparse_transposer_add(
            to->transposer, (sparse_entry){(int32_t)to->place, (int32_t)row->sample, row->value},
            err));
    return ROOFS_OK;
}

static int triplets_by_sample(const void *left, const void *right)
{
    const int64_t a = *(const int64_t *)left, b = *(const int64_t *)right;
    return (a > b) - (a < b);
}

/* Zeros are not stored, so a second value beside a zero is looked for here. */
static roofs_status check_zeros(triplets *t, roofs_error *err)
{
    if (!t->has_zero)
        return ROOFS_OK;
    qsort(t->listed, (size_t)t->listed_count, sizeof *t->listed, triplets_by_sample);
    for (int64_t k = 1; k < t->listed_count; k++)
        if (t->listed[k] == t->listed[k - 1])
            return fail(err, ROOFS_BAD_DATA,
                        "sample %lld (counted from 0) has two values for one feature",
                        (long long)t->listed[k]);
    return ROOFS_OK;
}

static roofs_status end_feature(triplets *t, sparse *block, roofs_error *err)
{
    roofs_status status = check_zeros(t, err);
    if (status == ROOFS_OK && block)
        status = sparse_end_feature(block, err);
    if (status != ROOFS_BAD_DATA)
        return status;
    roofs_error reason = err ? *err : (roofs_error){0};
    return fail(err, status, "%s, before line %lld, feature \"%.60s\": %s",
                bytes_name(t->base.input), (long long)t->rows.lines.number, t->current,
                reason.text);
}

/* Reads one feature; *found = 0 at the end of the file. */
static roofs_status triplets_read_feature(triplets *t, triplets_target *to, int *found,
                                          roofs_error *err)
{
    triplet row = {0};
    *found = 0;
    t->listed_count = t->has_zero = 0;
    for (;;) {
        TRY(lines_next(&t->rows.lines, err));
        if (!t->rows.lines.record)
            break;
        TRY(triplets_read_row(t, &row, err));
        if (*found && !triplets_is_current(t, row.feature)) {
            lines_unread(&t->rows.lines);
            break;
        }
        if (!*found)
            TRY(begin_feature(t, row.feature, err));
        *found = 1;
        TRY(triplets_put(t, to, &row, err));
    }
    return *found ? end_feature(t, to->block, err) : ROOFS_OK;
}

/* ---- the format -------------------------------------------------------- */

static void triplets_close(reader *r)
{
    triplets *t = (triplets *)r;
    rows_close(&t->rows);
    nameset_clear(&t->seen);
    memory_free(t->current);
    memory_free(t->listed);
    sparse_transposer_destroy(t->transposer);
}

/* A header is a first row whose sample and value are both words. */
static int triplets_has_header(const rows *r)
{
    int64_t words = 0;
    const char *at = r->lines.record;
    fields_next(&at, r->lines.record_end, r->separator);
    while (at) {
        double value;
        const field f = fields_next(&at, r->lines.record_end, r->separator);
        words += field_number(f, &value) == NUMBER_TEXT && field_resembles_number(f) == FIELD_WORD;
    }
    return words >= 2;
}

static roofs_status triplets_open(reader *r, roofs_error *err)
{
    triplets *t = (triplets *)r;
    r->n = r->hints.n > 0 ? r->hints.n : -1;
    r->named = 1;
    t->offset = r->hints.base == INDEX_FROM_1;
    TRY(rows_open(&t->rows, r->input, err));
    const header_choice choice = r->hints.header;
    if (choice == HEADER_NO || (choice == HEADER_AUTO && !triplets_has_header(&t->rows)))
        lines_unread(&t->rows.lines);
    return ROOFS_OK;
}

static roofs_status triplets_load(reader *r, roofs_error *err)
{
    triplets *t = (triplets *)r;
    int found = 1;
    if (r->n >= 0)
        return ROOFS_OK;
    TRY(sparse_transposer_create(&t->transposer, r->hints.transpose_bytes, err));
    triplets_target to = {.transposer = t->transposer};
    while (found) {
        TRY(triplets_read_feature(t, &to, &found, err));
        to.place += found;
        if (to.place == INT32_MAX)
            return fail(err, ROOFS_BAD_DATA, "%s has too many features", bytes_name(r->input));
    }
    r->n = r->listed.samples;
    r->features = to.place;
    if (r->n == 0)
        return fail(err, ROOFS_BAD_DATA, "%s holds no triplets", bytes_name(r->input));
    return sparse_transposer_finish(t->transposer, err);
}

/* With `out` NULL the features are skipped. */
static roofs_status stream_features(triplets *t, int64_t count, sparse *out, int64_t *got,
                                    roofs_error *err)
{
    triplets_target to = {.block = out};
    int found = 1;
    names_clear(&t->base.names);
    for (*got = 0; *got < count && found; *got += found)
        TRY(triplets_read_feature(t, &to, &found, err));
    return ROOFS_OK;
}

static roofs_status triplets_read(reader *r, int64_t count, sparse *out, int64_t *got,
                                  roofs_error *err)
{
    triplets *t = (triplets *)r;
    if (!t->transposer)
        return stream_features(t, count, out, got, err);
    int64_t first = t->base.position;
    *got = reader_advance(r, count);
    return reader_blame(r, sparse_transposer_read(t->transposer, first, *got, out, err), err);
}

static roofs_status triplets_skip(reader *r, int64_t count, int64_t *got, roofs_error *err)
{
    triplets *t = (triplets *)r;
    TRY(reader_load(r, err));
    if (!t->transposer)
        return stream_features(t, count, NULL, got, err);
    *got = reader_advance(r, count);
    return ROOFS_OK;
}

/* Decides by the header, with any separator. */
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

extern const file_format format_triplets;
const file_format format_triplets = {
    .name = "triplets",
    .endings = {".triplets"},
    .size = sizeof(triplets),
    .by_name = 1,
    .recognises = triplets_recognises,
    .open = triplets_open,
    .load = triplets_load,
    .read_sparse = triplets_read,
    .skip = triplets_skip,
    .close = triplets_close,
};
