/* LIBSVM (svmlight) text: one sample per line, "label index:value index:value ...",
 * indices ascending; values that are not listed are zero. "qid:7" and "# ..." are ignored. */
#include "base/memory.h"
#include "base/number.h"
#include "stream/format.h"
#include "stream/lines.h"
#include "stream/rows.h"
#include "stream/sparse_transpose.h"

#include <math.h>
#include <string.h>

typedef struct libsvm {
    reader base;
    lines lines;
    sparse_transposer *transposer;
    double *labels;
    int64_t label_capacity;
    int64_t smallest, largest; /* index in the file */
    int64_t offset;            /* index of the first feature, 0 or 1 */
} libsvm;

/* ---- one line ---------------------------------------------------------- */

static int libsvm_is_blank(char c)
{
    return c == ' ' || c == '\t' || c == '\r';
}

static const char *libsvm_skip_blanks(const char *at, const char *end)
{
    while (at < end && libsvm_is_blank(*at))
        at++;
    return at;
}

static const char *item_end(const char *at, const char *end)
{
    while (at < end && !libsvm_is_blank(*at))
        at++;
    return at;
}

static roofs_status libsvm_error(const libsvm *f, const char *at, const char *end, const char *what,
                                 roofs_error *err)
{
    const field item = {at, item_end(at, end), 0};
    return rows_field_error(&f->lines, at - f->lines.record + 1, item, what, err);
}

/* Reads the digits at `at`. NULL if there are none or too many. */
static const char *read_index(const char *at, const char *end, int64_t *index)
{
    const char *first = at;
    for (*index = 0; at < end && *at >= '0' && *at <= '9' && at - first < 10; at++)
        *index = *index * 10 + (*at - '0');
    return at > first && *index < INT32_MAX ? at : NULL;
}

static int is_query(const char *at, const char *end)
{
    return end - at > 4 && memcmp(at, "qid:", 4) == 0;
}

static roofs_status read_label(libsvm *f, const char **at, const char *end, roofs_error *err)
{
    double label;
    const char *stop = item_end(*at, end);
    if (number_read(*at, stop, &label) != NUMBER_FINE)
        return libsvm_error(f, *at, end, "is not a number; a line begins with the response", err);
    TRY(memory_grow(&f->labels, &f->label_capacity, f->base.n + 1, sizeof *f->labels,
                    "the response", err));
    f->labels[f->base.n] = label;
    *at = stop;
    return ROOFS_OK;
}

/* Reads "index:value"; *last is the index before it on this line. */
static roofs_status read_item(libsvm *f, const char **at, const char *end, int64_t *last,
                              roofs_error *err)
{
    int64_t index;
    double value;
    const char *colon = read_index(*at, end, &index);
    if (!colon || colon == end || *colon != ':')
        return libsvm_error(f, *at, end, "is not index:value, with an index up to 2147483646", err);
    if (index <= *last)
        return libsvm_error(f, *at, end, "is out of order: the index before it is not smaller",
                            err);
    const char *stop = number_scan(colon + 1, end, &value);
    if (!stop || (stop < end && !libsvm_is_blank(*stop)) || !isfinite(value)) {
        stop = item_end(colon, end);
        if (!f->base.hints.keep_missing || number_read(colon + 1, stop, &value) != NUMBER_MISSING)
            return libsvm_error(f, *at, end, "has no finite number after the colon", err);
        value = NAN;
    }
    *at = stop;
    *last = index;
    if (value == 0.0)
        return ROOFS_OK;
    return sparse_transposer_add(f->transposer,
                                 (sparse_entry){(int32_t)index, (int32_t)f->base.n, value}, err);
}

static roofs_status read_line(libsvm *f, const char *at, const char *end, roofs_error *err)
{
    int64_t last = -1;
    TRY(read_label(f, &at, end, err));
    for (at = libsvm_skip_blanks(at, end); at < end; at = libsvm_skip_blanks(at, end)) {
        if (is_query(at, end)) {
            at = item_end(at, end);
            continue;
        }
        int64_t before = last;
        TRY(read_item(f, &at, end, &last, err));
        if (before < 0 && last < f->smallest)
            f->smallest = last;
    }
    if (last > f->largest)
        f->largest = last;
    if (++f->base.n == INT32_MAX)
        return fail(err, ROOFS_BAD_DATA, "%s has too many lines", bytes_name(f->base.input));
    return ROOFS_OK;
}

/* ---- the whole file ---------------------------------------------------- */

static const char *before_comment(const char *at, const char *end)
{
    const char *comment = at < end ? memchr(at, '#', (size_t)(end - at)) : NULL;
    return comment ? comment : end;
}

static roofs_status libsvm_read_lines(libsvm *f, roofs_error *err)
{
    for (;;) {
        TRY(lines_next(&f->lines, err));
        if (!f->lines.record)
            return ROOFS_OK;
        const char *end = before_comment(f->lines.record, f->lines.record_end);
        const char *at = libsvm_skip_blanks(f->lines.record, end);
        if (at < end)
            TRY(read_line(f, at, end, err));
    }
}

static roofs_status count_features(libsvm *f, roofs_error *err)
{
    f->offset =
        f->base.hints.base == INDEX_AUTO ? f->smallest > 0 : f->base.hints.base == INDEX_FROM_1;
    if (f->offset > f->smallest)
        return fail(err, ROOFS_BAD_DATA,
                    "%s has an index 0, but with --index-base 1 indices begin at 1",
                    bytes_name(f->base.input));
    f->base.base = f->offset ? INDEX_FROM_1 : INDEX_FROM_0;
    f->base.features = f->largest + 1 - f->offset;
    if (f->base.features < 0)
        f->base.features = 0;
    if (f->base.hints.alone && f->base.hints.features > f->base.features)
        f->base.features = f->base.hints.features; /* the last ones are zero everywhere */
    return ROOFS_OK;
}

static roofs_status libsvm_load(reader *r, roofs_error *err)
{
    libsvm *f = (libsvm *)r;
    TRY(sparse_transposer_create(&f->transposer, f->base.hints.transpose_bytes, err));
    r->n = 0;
    TRY(libsvm_read_lines(f, err));
    lines_close(&f->lines);
    if (r->n == 0)
        return fail(err, ROOFS_BAD_DATA, "%s holds no samples", bytes_name(r->input));
    r->labels = f->labels;
    TRY(sparse_transposer_finish(f->transposer, err));
    return count_features(f, err);
}

/* ---- the format -------------------------------------------------------- */

static void libsvm_close(reader *r)
{
    libsvm *f = (libsvm *)r;
    sparse_transposer_destroy(f->transposer);
    lines_close(&f->lines);
    memory_free(f->labels);
}

static roofs_status libsvm_open(reader *r, roofs_error *err)
{
    libsvm *f = (libsvm *)r;
    f->smallest = INT32_MAX;
    f->largest = -1;
    TRY(lines_open(&f->lines, r->input, err));
    f->lines.plain = 1;
    return ROOFS_OK;
}

static roofs_status libsvm_read(reader *r, int64_t count, sparse *out, int64_t *got,
                                roofs_error *err)
{
    libsvm *f = (libsvm *)r;
    int64_t first = r->position + f->offset;
    *got = reader_advance(r, count);
    return sparse_transposer_read(f->transposer, first, *got, out, err);
}

/* ---- recognising ------------------------------------------------------- */

static int is_item(const char *at, const char *end)
{
    int64_t index;
    double value;
    const char *colon = read_index(at, end, &index);
    if (is_query(at, end))
        return 1;
    return colon && colon < end && *colon == ':' && number_scan(colon + 1, end, &value) == end;
}

/* A label, then one or more items; the last one may be cut off. */
static int is_line(const char *at, const char *end, int whole)
{
    double label;
    const char *stop = item_end(at, end);
    int items = 0;
    if (number_read(at, stop, &label) != NUMBER_FINE)
        return 0;
    for (at = libsvm_skip_blanks(stop, end); at < end; at = libsvm_skip_blanks(stop, end)) {
        stop = item_end(at, end);
        if (!is_item(at, stop))
            return stop == end && !whole && items > 0;
        items++;
    }
    return items > 0;
}

/* Decides by the first line that is not a comment. */
static int libsvm_recognises(const unsigned char *start, int64_t length)
{
    const char *at = (const char *)start, *end = at + length;
    while (at < end) {
        const char *newline = memchr(at, '\n', (size_t)(end - at));
        const char *stop = newline ? newline : end;
        const char *first = libsvm_skip_blanks(at, stop), *last = before_comment(first, stop);
        if (first < last)
            return is_line(first, last, newline || last < stop);
        at = stop + 1;
    }
    return 0;
}

extern const file_format format_libsvm;
const file_format format_libsvm = {
    .name = "libsvm",
    .endings = {".svm", ".libsvm", ".svmlight", ".feat"},
    .size = sizeof(libsvm),
    .labelled = 1,
    .recognises = libsvm_recognises,
    .open = libsvm_open,
    .load = libsvm_load,
    .read_sparse = libsvm_read,
    .close = libsvm_close,
};
