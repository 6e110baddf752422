#include "stream/variants.h"

#include "base/memory.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { KEY_MOST = 1100 };

void variant_list_free(variant_list *list)
{
    json_decref(list->root);
    memory_free(list->items);
    levels_free(&list->names);
    levels_free(&list->keys);
    memory_free(list->first);
    memory_free(list->next);
    *list = (variant_list){0};
}

/* ---- keys -------------------------------------------------------------- */

static void write_id_key(variant v, char out[KEY_MOST])
{
    snprintf(out, KEY_MOST, "i%.1000s", v.id);
}

static void write_place_key(variant v, char out[KEY_MOST])
{
    char chromosome[CHROMOSOME_MOST];
    chromosome_normal(v.chromosome, chromosome);
    snprintf(out, KEY_MOST, "p%s:%.20s", chromosome, v.position);
}

static roofs_status add_key(variant_list *list, const char *key, int64_t entry, roofs_error *err)
{
    const int64_t length = (int64_t)strlen(key);
    int64_t code = levels_find(&list->keys, key, length);
    if (code < 0) {
        code = list->keys.words.count;
        TRY(levels_add(&list->keys, key, length, err));
        TRY(memory_grow(&list->first, &list->first_capacity, code + 1, sizeof *list->first,
                        "variants", err));
        list->first[code] = -1;
    }
    list->next[entry] = list->first[code];
    list->first[code] = entry;
    return ROOFS_OK;
}

static roofs_status add_keys(variant_list *list, int64_t k, roofs_error *err)
{
    char key[KEY_MOST];
    const fitted_variant *item = &list->items[k];
    write_id_key(item->variant, key);
    TRY(add_key(list, key, 2 * k, err));
    write_place_key(item->variant, key);
    TRY(add_key(list, key, 2 * k + 1, err));
    return levels_add(&list->names, item->name, (int64_t)strlen(item->name), err);
}

/* ---- JSON -------------------------------------------------------------- */

json_t *variant_to_json(const char *name, variant v, double mean)
{
    json_t *out =
        json_pack("{s:s, s:s, s:I, s:s, s:s, s:f}", "name", name, "chr", v.chromosome, "pos",
                  (json_int_t)strtoll(v.position, NULL, 10), "a1", v.a1, "a2", v.a2, "mean", mean);
    if (out && strcmp(v.id, name) != 0)
        json_object_set_new(out, "id", json_string(v.id));
    return out;
}

static roofs_status bad_variants(roofs_error *err)
{
    return fail(err, ROOFS_BAD_DATA, "the model is damaged: its variants are not valid");
}

static const char *text_in(const json_t *object, const char *field)
{
    return json_string_value(json_object_get(object, field));
}

/* Positions are compared as text: the number is written anew. */
static roofs_status get_variant(variant_list *list, json_t *from, roofs_error *err)
{
    fitted_variant *item = &list->items[list->count];
    const json_t *position = json_object_get(from, "pos"), *mean = json_object_get(from, "mean");
    char digits[24];
    item->name = text_in(from, "name");
    item->variant = (variant){.chromosome = text_in(from, "chr"),
                              .id = text_in(from, "id"),
                              .a1 = text_in(from, "a1"),
                              .a2 = text_in(from, "a2")};
    if (!item->variant.id)
        item->variant.id = item->name;
    if (!item->name || !item->variant.chromosome || !item->variant.a1 || !item->variant.a2 ||
        !json_is_integer(position) || !json_is_number(mean) ||
        levels_find(&list->names, item->name, (int64_t)strlen(item->name)) >= 0)
        return bad_variants(err);
    item->mean = json_number_value(mean);
    snprintf(digits, sizeof digits, "%lld", (long long)json_integer_value(position));
    if (json_object_set_new(from, "digits", json_string(digits)) != 0)
        return fail(err, ROOFS_NO_MEMORY, "no memory for variants");
    item->variant.position = text_in(from, "digits");
    return add_keys(list, list->count++, err);
}

static roofs_status get_list(variant_list *list, roofs_error *err)
{
    const json_t *genotypes = json_object_get(list->root, "genotypes");
    const json_t *variants = json_object_get(genotypes, "variants");
    if (!genotypes)
        return ROOFS_OK;
    if (!json_is_array(variants))
        return bad_variants(err);
    const int64_t count = (int64_t)json_array_size(variants);
    list->response = text_in(genotypes, "response");
    TRY(memory_get(&list->items, count, sizeof *list->items, "variants", err));
    TRY(memory_get(&list->next, 2 * count, sizeof *list->next, "variants", err));
    for (int64_t k = 0; k < count; k++)
        TRY(get_variant(list, json_array_get(variants, (size_t)k), err));
    return ROOFS_OK;
}

roofs_status variant_list_parse(variant_list *list, const char *text, roofs_error *err)
{
    *list = (variant_list){0};
    if (!text)
        return ROOFS_OK;
    list->root = json_loads(text, JSON_REJECT_DUPLICATES, NULL);
    roofs_status status = list->root ? get_list(list, err) : bad_variants(err);
    if (status != ROOFS_OK)
        variant_list_free(list);
    return status;
}

const fitted_variant *variant_list_find(const variant_list *list, const char *name)
{
    const int64_t k = levels_find(&list->names, name, (int64_t)strlen(name));
    return k < 0 ? NULL : &list->items[k];
}

/* ---- matching ---------------------------------------------------------- */

/* Files write 0 or . for an allele that no person has. */
static int allele_is_unknown(const char *allele)
{
    return strcmp(allele, "0") == 0 || strcmp(allele, ".") == 0;
}

static int same_allele(const char *fitted, const char *found)
{
    return strcmp(fitted, found) == 0;
}

static int pair_matches(const char *fitted_1, const char *fitted_2, const char *a1, const char *a2)
{
    const int one = same_allele(fitted_1, a1), two = same_allele(fitted_2, a2);
    return (one && two) || (one && allele_is_unknown(a2)) || (two && allele_is_unknown(a1));
}

/* Tries the items of a key. */
static fitted_variant *match_key(const variant_list *list, const char *key, variant v, int64_t file,
                                 int64_t line)
{
    const int64_t code = levels_find(&list->keys, key, (int64_t)strlen(key));
    for (int64_t entry = code < 0 ? -1 : list->first[code]; entry >= 0; entry = list->next[entry]) {
        fitted_variant *item = &list->items[entry / 2];
        const variant f = item->variant;
        if (item->state == VARIANT_FOUND && (item->file != file || item->line != line))
            continue;
        const int straight = pair_matches(f.a1, f.a2, v.a1, v.a2);
        if (!straight && !pair_matches(f.a1, f.a2, v.a2, v.a1)) {
            item->state = VARIANT_OTHER;
            continue;
        }
        item->state = VARIANT_FOUND;
        item->is_swapped = !straight;
        item->file = file;
        item->line = line;
        return item;
    }
    return NULL;
}

fitted_variant *variant_list_match(const variant_list *list, variant v, int64_t file, int64_t line)
{
    char key[KEY_MOST];
    fitted_variant *found = NULL;
    if (strcmp(v.id, ".") != 0) {
        write_id_key(v, key);
        found = match_key(list, key, v, file, line);
    }
    if (found)
        return found;
    write_place_key(v, key);
    return match_key(list, key, v, file, line);
}

int64_t variant_list_count(const variant_list *list, variant_state state)
{
    int64_t count = 0;
    for (int64_t k = 0; k < list->count; k++)
        count += list->items[k].state == state;
    return count;
}

int64_t variant_list_swapped(const variant_list *list)
{
    int64_t count = 0;
    for (int64_t k = 0; k < list->count; k++)
        count += list->items[k].state == VARIANT_FOUND && list->items[k].is_swapped;
    return count;
}
