#include "stream/npy_dictionary.h"

#include <string.h>

/* ---- tokens ------------------------------------------------------------ */

/* The dictionary from the next character on. */
typedef struct dictionary {
    const char *at, *end;
    const char *name;
    int texts;
} dictionary;

typedef struct word {
    const char *at;
    int64_t length;
} word;

static roofs_status bad_header(const dictionary *d, const char *what, roofs_error *err)
{
    return fail(err, ROOFS_BAD_DATA, "%s: the .npy header is damaged (%s)", d->name, what);
}

static void skip_blanks(dictionary *d)
{
    while (d->at < d->end && *d->at && strchr(" \t\n\r\f", *d->at))
        d->at++;
}

static int next_is(dictionary *d, char c)
{
    skip_blanks(d);
    return d->at < d->end && *d->at == c;
}

static int take(dictionary *d, char c)
{
    const int is = next_is(d, c);
    d->at += is;
    return is;
}

/* Takes a text in quotes. Python's escapes are refused: NumPy writes none. */
static int take_text(dictionary *d, word *out)
{
    if (!next_is(d, '\'') && !next_is(d, '"'))
        return 0;
    const char quote = *d->at++;
    *out = (word){.at = d->at};
    while (d->at < d->end && *d->at != quote)
        if (*d->at == '\\' || *d->at == '\n' || *d->at == '\0')
            return 0;
        else
            d->at++;
    out->length = d->at - out->at;
    return take(d, quote);
}

static int word_is(word w, const char *text)
{
    return w.length == (int64_t)strlen(text) && memcmp(w.at, text, (size_t)w.length) == 0;
}

static int is_name_character(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}

static int take_name(dictionary *d, word *out)
{
    skip_blanks(d);
    *out = (word){.at = d->at};
    while (d->at < d->end && is_name_character(*d->at))
        d->at++;
    out->length = d->at - out->at;
    return out->length > 0;
}

/* ---- values ------------------------------------------------------------ */

static int type_is_read(const npy_type *type, int texts)
{
    int size = type->size;
    switch (type->kind) {
    case 'f':
        return size == 2 || size == 4 || size == 8;
    case 'i':
    case 'u':
        return size == 1 || size == 2 || size == 4 || size == 8;
    case 'b':
        return size == 1;
    case 'S':
    case 'U':
        return texts;
    default:
        return 0;
    }
}

static const char *type_family(char kind)
{
    switch (kind) {
    case 'f':
        return "floats of an unusual type";
    case 'O':
        return "Python objects";
    case 'c':
        return "complex numbers";
    case 'S':
    case 'U':
    case 'a':
        return "texts";
    case 'V':
        return "records";
    case 'M':
    case 'm':
        return "dates";
    default:
        return "values of an unknown type";
    }
}

static roofs_status refuse_type(const dictionary *d, const char *what, word given, roofs_error *err)
{
    return fail(err, ROOFS_BAD_DATA,
                "%s holds %s (%.*s); real numbers are needed (float16 to float64, integers, bool)",
                d->name, what, given.length < 20 ? (int)given.length : 20, given.at);
}

/* '<f8', '|b1', ...; lists of fields and '<i4,<f4' are structured types. */
static roofs_status parse_type(dictionary *d, npy_header *h, roofs_error *err)
{
    const char host_order = __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__ ? '<' : '>';
    word given;
    char order = 0;
    if (next_is(d, '[') || next_is(d, '('))
        return refuse_type(d, "records with several fields", (word){d->at, 1}, err);
    if (!take_text(d, &given) || given.length == 0)
        return bad_header(d, "no type", err);
    const char *at = given.at, *end = given.at + given.length;
    if (strchr("<>|=", *at))
        order = *at++;
    h->type = (npy_type){.kind = at < end ? *at++ : '?'};
    const char *digits = at;
    while (at < end && *at >= '0' && *at <= '9' && h->type.size < 100000)
        h->type.size = h->type.size * 10 + (*at++ - '0');
    if (at < end || at == digits || *digits == '0' || !type_is_read(&h->type, d->texts))
        return refuse_type(d, type_family(h->type.kind), given, err);
    h->type.swapped = h->type.size > 1 && (order == '<' || order == '>') && order != host_order;
    return ROOFS_OK;
}

static roofs_status parse_order(dictionary *d, npy_header *h, roofs_error *err)
{
    word given;
    if (!take_name(d, &given) || !(word_is(given, "True") || word_is(given, "False")))
        return bad_header(d, "no order", err);
    h->fortran_order = word_is(given, "True");
    return ROOFS_OK;
}

/* Digits without a leading zero; Python 2 writes an L after them. */
static roofs_status parse_length(dictionary *d, int64_t *length, roofs_error *err)
{
    skip_blanks(d);
    const char *digits = d->at;
    for (*length = 0; d->at < d->end && *d->at >= '0' && *d->at <= '9'; d->at++)
        if (__builtin_mul_overflow(*length, 10, length) ||
            __builtin_add_overflow(*length, *d->at - '0', length))
            return fail(err, ROOFS_BAD_DATA, "%s: the shape of the array is too large", d->name);
    if (d->at == digits || (*digits == '0' && d->at - digits > 1))
        return bad_header(d, "the shape cannot be read", err);
    d->at += d->at < d->end && *d->at == 'L';
    return ROOFS_OK;
}

/* (), (3,), (3, 4), (3, 4, ) */
static roofs_status parse_shape(dictionary *d, npy_header *h, roofs_error *err)
{
    int comma = 1;
    if (!take(d, '('))
        return bad_header(d, "no shape", err);
    for (h->rank = 0; !take(d, ')'); h->rank++) {
        if (!comma || h->rank == NPY_MOST_AXES)
            return bad_header(d, "the shape cannot be read", err);
        TRY(parse_length(d, &h->shape[h->rank], err));
        comma = take(d, ',');
    }
    if (h->rank == 1 && !comma) /* (3) is a number, not a shape */
        return bad_header(d, "the shape cannot be read", err);
    return ROOFS_OK;
}

/* ---- the dictionary ---------------------------------------------------- */

typedef struct dictionary_entry {
    const char *key;
    roofs_status (*parse)(dictionary *d, npy_header *h, roofs_error *err);
} dictionary_entry;

static const dictionary_entry entries[] = {
    {"descr", parse_type}, {"fortran_order", parse_order}, {"shape", parse_shape}};
enum { ENTRIES = sizeof entries / sizeof *entries };

static roofs_status parse_entry(dictionary *d, unsigned *seen, npy_header *h, roofs_error *err)
{
    word key;
    int k = 0;
    if (!take_text(d, &key) || !take(d, ':'))
        return bad_header(d, "it is not a dictionary", err);
    while (k < ENTRIES && !word_is(key, entries[k].key))
        k++;
    if (k == ENTRIES)
        return bad_header(d, "it has a key that no array has", err);
    if (*seen & 1U << k)
        return bad_header(d, "a key occurs twice", err);
    *seen |= 1U << k;
    TRY(entries[k].parse(d, h, err));
    if (!take(d, ',') && !next_is(d, '}'))
        return bad_header(d, "it is not a dictionary", err);
    return ROOFS_OK;
}

roofs_status npy_parse_dictionary(const char *text, int64_t length, int texts, const char *name,
                                  npy_header *h, roofs_error *err)
{
    dictionary d = {.at = text, .end = text + length, .name = name, .texts = texts};
    unsigned seen = 0;
    if (!take(&d, '{'))
        return bad_header(&d, "it is not a dictionary", err);
    while (!take(&d, '}'))
        TRY(parse_entry(&d, &seen, h, err));
    while (d.at < d.end && (*d.at == ' ' || *d.at == '\t'))
        d.at++;
    d.at += d.at < d.end && *d.at == '\n';
    if (d.at < d.end)
        return bad_header(&d, "something follows the dictionary", err);
    for (int k = 0; k < ENTRIES; k++)
        if (!(seen & 1U << k))
            return fail(err, ROOFS_BAD_DATA, "%s: the .npy header is damaged (no %s)", name,
                        entries[k].key);
    return ROOFS_OK;
}
