#include "stream/bim.h"

#include "base/memory.h"
#include "stream/word_reader.h"

#include <stdio.h>
#include <string.h>
#include <strings.h>
#define XXH_INLINE_ALL
#include <xxhash.h>

enum { FIELDS = 5 }; /* that are kept: chromosome, ID, position, A1, A2 */

void bim_free(bim *b)
{
    memory_free(b->text);
    memory_free(b->starts);
    memory_free(b->naming);
    *b = (bim){0};
}

variant bim_variant(const bim *b, int64_t k)
{
    const char *at[FIELDS];
    at[0] = b->text + b->starts[k];
    for (int f = 1; f < FIELDS; f++)
        at[f] = at[f - 1] + strlen(at[f - 1]) + 1;
    return (variant){at[0], at[1], at[2], at[3], at[4]};
}

/* ---- reading ----------------------------------------------------------- */

static int is_integer(field f)
{
    const char *at = f.begin + (word_length(f) > 1 && *f.begin == '-');
    for (; at < f.end; at++)
        if (*at < '0' || *at > '9')
            return 0;
    return word_length(f) < 20;
}

static roofs_status add_field(bim *b, field f, roofs_error *err)
{
    const int64_t length = word_length(f);
    TRY(memory_grow(&b->text, &b->capacity, b->used + length + 1, 1, "variants", err));
    memcpy(b->text + b->used, f.begin, (size_t)length);
    b->text[b->used + length] = '\0';
    b->used += length + 1;
    return ROOFS_OK;
}

static roofs_status add_variant(bim *b, const word_reader *w, roofs_error *err)
{
    enum { COLUMNS = 6 };
    static const int kept[FIELDS] = {0, 1, 3, 4, 5};
    if (w->count != COLUMNS)
        return fail(err, ROOFS_BAD_DATA,
                    "%s, line %lld: a line of a .bim file has six columns (chromosome, ID, "
                    "centimorgans, position, A1, A2), not %lld",
                    bytes_name(w->input), (long long)w->lines.number, (long long)w->count);
    if (!is_integer(w->words[3]))
        return word_reader_fail(w, "the position (column 4) is not a whole number", err);
    TRY(memory_grow(&b->starts, &b->start_capacity, b->count + 1, sizeof *b->starts, "variants",
                    err));
    b->starts[b->count] = b->used;
    for (int f = 0; f < FIELDS; f++)
        TRY(add_field(b, w->words[kept[f]], err));
    b->count++;
    return ROOFS_OK;
}

roofs_status bim_read(bim *b, const char *path, roofs_error *err)
{
    word_reader w;
    int more = 1;
    *b = (bim){0};
    TRY(word_reader_open(&w, path, err));
    roofs_status status = ROOFS_OK;
    while (status == ROOFS_OK && more) {
        status = word_reader_next(&w, &more, err);
        if (status == ROOFS_OK && more)
            status = add_variant(b, &w, err);
    }
    word_reader_close(&w);
    if (status != ROOFS_OK)
        bim_free(b);
    return status;
}

/* ---- names ------------------------------------------------------------- */

enum { BY_ID = 0, BY_PLACE, BY_LINE };
enum { NAME_MOST = 1000 };

static uint64_t digest_of_name(const char *name)
{
    const uint64_t digest = XXH3_64bits(name, strlen(name)) & ~(uint64_t)1;
    return digest ? digest : 2;
}

void variant_ids_free(variant_ids *v)
{
    memory_free(v->table);
    *v = (variant_ids){0};
}

static uint64_t *find_slot(const variant_ids *v, uint64_t digest)
{
    int64_t at = (int64_t)(digest >> 1 & (uint64_t)(v->size - 1));
    while (v->table[at] && (v->table[at] | 1) != (digest | 1))
        at = (at + 1) & (v->size - 1);
    return &v->table[at];
}

static roofs_status reserve_ids(variant_ids *v, int64_t more, roofs_error *err)
{
    variant_ids wider = {.size = v->size > 0 ? v->size : 64, .count = v->count, .files = v->files};
    while (wider.size < 2 * (v->count + more))
        wider.size *= 2;
    if (wider.size == v->size)
        return ROOFS_OK;
    TRY(memory_get(&wider.table, wider.size, sizeof *wider.table, "the IDs of variants", err));
    for (int64_t k = 0; k < v->size; k++)
        if (v->table[k])
            *find_slot(&wider, v->table[k]) = v->table[k];
    memory_free(v->table);
    *v = wider;
    return ROOFS_OK;
}

static void add_id(variant_ids *v, const char *id)
{
    const uint64_t digest = digest_of_name(id);
    uint64_t *slot = find_slot(v, digest);
    v->count += !*slot;
    *slot = *slot ? *slot | 1 : digest;
}

roofs_status variant_ids_add(variant_ids *v, int64_t file, const bim *b, roofs_error *err)
{
    if (file < v->files)
        return ROOFS_OK;
    TRY(reserve_ids(v, b->count, err));
    for (int64_t k = 0; k < b->count; k++)
        add_id(v, bim_variant(b, k).id);
    v->files = file + 1;
    return ROOFS_OK;
}

/* 0 = not there, 1 = once, 2 = several times */
static int times_of(const variant_ids *v, const char *name)
{
    const uint64_t found = v->size > 0 ? *find_slot(v, digest_of_name(name)) : 0;
    return !found ? 0 : found & 1 ? 2 : 1;
}

static void write_place(variant v, char out[NAME_MOST])
{
    snprintf(out, NAME_MOST, "%.100s:%.20s:%.400s:%.400s", v.chromosome, v.position, v.a1, v.a2);
}

static roofs_status find_names(bim *b, const variant_ids *v, variant_ids *places, roofs_error *err)
{
    char place[NAME_MOST];
    for (int64_t k = 0; k < b->count; k++) {
        const variant x = bim_variant(b, k);
        const int is_id = strcmp(x.id, ".") != 0 && times_of(v, x.id) < 2;
        b->naming[k] = is_id ? BY_ID : BY_PLACE;
        b->renamed += !is_id;
    }
    TRY(reserve_ids(places, b->renamed, err));
    for (int64_t k = 0; k < b->count; k++)
        if (b->naming[k] == BY_PLACE) {
            write_place(bim_variant(b, k), place);
            add_id(places, place);
        }
    for (int64_t k = 0; k < b->count; k++)
        if (b->naming[k] == BY_PLACE) {
            write_place(bim_variant(b, k), place);
            if (times_of(places, place) > 1 || times_of(v, place) > 0)
                b->naming[k] = BY_LINE;
        }
    return ROOFS_OK;
}

roofs_status bim_name_variants(bim *b, const variant_ids *v, roofs_error *err)
{
    variant_ids places = {0};
    if (b->naming)
        return ROOFS_OK;
    TRY(memory_get(&b->naming, b->count, 1, "variants", err));
    roofs_status status = find_names(b, v, &places, err);
    variant_ids_free(&places);
    return status;
}

roofs_status bim_add_name(const bim *b, int64_t k, names *list, roofs_error *err)
{
    char place[NAME_MOST + 24];
    const variant v = bim_variant(b, k);
    if (!b->naming || b->naming[k] == BY_ID)
        return names_add(list, v.id, (int64_t)strlen(v.id), err);
    write_place(v, place);
    if (b->naming[k] == BY_LINE)
        snprintf(place + strlen(place), 24, "#%lld", (long long)k + 1);
    return names_add(list, place, (int64_t)strlen(place), err);
}

/* ---- chromosomes ------------------------------------------------------- */

void chromosome_normal(const char *text, char out[CHROMOSOME_MOST])
{
    static const struct {
        const char *name, *number;
    } others[] = {{"X", "23"},    {"Y", "24"},  {"XY", "25"}, {"PAR1", "25"},
                  {"PAR2", "25"}, {"MT", "26"}, {"M", "26"}};
    if (strncasecmp(text, "chr", 3) == 0 && text[3])
        text += 3;
    while (text[0] == '0' && text[1])
        text++;
    snprintf(out, CHROMOSOME_MOST, "%.*s", CHROMOSOME_MOST - 1, text);
    for (size_t k = 0; k < sizeof others / sizeof *others; k++)
        if (strcasecmp(text, others[k].name) == 0)
            snprintf(out, CHROMOSOME_MOST, "%s", others[k].number);
}
