#include "table/decide.h"

#include "base/memory.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- categories -------------------------------------------------------- */

typedef struct counted_word {
    const char *text;
    int64_t code, count;
} counted_word;

static int by_count(const void *left, const void *right)
{
    const counted_word *a = left, *b = right;
    if (a->count != b->count)
        return a->count > b->count ? -1 : 1;
    return strcmp(a->text, b->text);
}

static int by_text(const void *left, const void *right)
{
    return strcmp(((const counted_word *)left)->text, ((const counted_word *)right)->text);
}

/* The words in the order of the levels; those that are not frequent enough are not among them. */
static roofs_status order_words(const levels *words, int64_t kept, counted_word **out,
                                roofs_error *err)
{
    const int64_t count = words->words.count;
    TRY(memory_get(out, count, sizeof **out, "a category", err));
    for (int64_t k = 0; k < count; k++)
        (*out)[k] = (counted_word){names_get(&words->words, k), k, words->counts[k]};
    qsort(*out, (size_t)count, sizeof **out, by_count);
    qsort(*out, (size_t)kept, sizeof **out, by_text);
    return ROOFS_OK;
}

static roofs_status make_levels(recipe_column *r, const levels *from, int64_t most, int32_t **slots,
                                roofs_error *err)
{
    const int64_t count = from->words.count, kept = count > most ? most : count;
    counted_word *words;
    TRY(memory_get(slots, count, sizeof **slots, "a category", err));
    TRY(order_words(from, kept, &words, err));
    roofs_status status = ROOFS_OK;
    for (int64_t k = 0; k < count && status == ROOFS_OK; k++) {
        (*slots)[words[k].code] = (int32_t)(k < kept ? k : kept);
        if (k < kept)
            status = names_add(&r->levels, words[k].text, (int64_t)strlen(words[k].text), err);
    }
    r->has_rare = kept < count;
    memory_free(words);
    return status;
}

/* ---- booleans ---------------------------------------------------------- */

static int words_are_boolean(const names *words)
{
    for (int64_t k = 0; k < words->count; k++) {
        const char *text = names_get(words, k);
        if (boolean_read(text, text + strlen(text)) < 0)
            return 0;
    }
    return words->count > 0;
}

static roofs_status make_boolean(recipe_column *r, const names *words, int32_t **slots,
                                 roofs_error *err)
{
    TRY(memory_get(slots, words->count, sizeof **slots, "a column", err));
    for (int64_t k = 0; k < words->count; k++) {
        const char *text = names_get(words, k);
        (*slots)[k] = boolean_read(text, text + strlen(text));
    }
    r->kind = COLUMN_BOOLEAN;
    return ROOFS_OK;
}

/* ---- kinds ------------------------------------------------------------- */

static roofs_status leave_out(recipe_column *r, const char *reason, roofs_error *err)
{
    r->kind = COLUMN_LEFT_OUT;
    return memory_copy_text(&r->reason, reason, err);
}

static roofs_status leave_many_out(recipe_column *r, int64_t most, roofs_error *err)
{
    char reason[200];
    snprintf(reason, sizeof reason,
             "it has more than %lld different words; see the options id, categories and max-levels",
             (long long)most);
    return leave_out(r, reason, err);
}

int missing_is_replaced(missing_policy policy)
{
    return policy == MISSING_MEDIAN || policy == MISSING_MEAN || policy == MISSING_INDICATOR;
}

static int64_t count_values(const levels *words)
{
    int64_t values = 0;
    for (int64_t k = 0; k < words->words.count; k++)
        values += words->counts[k];
    return values;
}

static roofs_status make_words(recipe_column *r, const column_facts *f, const recipe_choices *c,
                               int64_t most, int32_t **slots, roofs_error *err)
{
    const int is_requested = f->content == HOLDS_CATEGORY;
    const int has_missing = f->missing > 0 && missing_is_replaced(c->missing);
    const int64_t words = f->words->words.count;
    if (!is_requested && words_are_boolean(&f->words->words))
        return make_boolean(r, &f->words->words, slots, err);
    if (!is_requested && words > 2 && 2 * words > count_values(f->words))
        return leave_out(
            r, "nearly every sample has another word; see the options id and categories", err);
    if (words < 2 && !has_missing)
        return leave_out(r, words == 0 ? "it has no values" : "all its values are the same", err);
    r->kind = COLUMN_CATEGORY;
    r->has_missing = has_missing;
    return make_levels(r, f->words, most, slots, err);
}

static void make_date(recipe_column *r, const column_facts *f, const recipe_choices *c)
{
    r->kind = COLUMN_DATE;
    r->order = c->order;
    r->has_parts = c->date_parts != 0;
    r->has_hours = r->has_parts && f->has_time;
}

static roofs_status make_kind(recipe_column *r, const column_facts *f, const recipe_choices *c,
                              int32_t **slots, roofs_error *err)
{
    const int64_t most = c->max_levels > 0 ? c->max_levels : MAX_LEVELS;
    switch (f->content) {
    case HOLDS_BOOLEANS:
        r->kind = COLUMN_BOOLEAN;
        return ROOFS_OK;
    case HOLDS_DATES:
        make_date(r, f, c);
        return ROOFS_OK;
    case HOLDS_WORDS:
    case HOLDS_CATEGORY:
        return make_words(r, f, c, most, slots, err);
    case HOLDS_MANY:
        return leave_many_out(r, most, err);
    case HOLDS_UNCLEAR:
        return leave_out(
            r, "its dates are not clear: day or month first? see the option date-order", err);
    default:
        r->kind = COLUMN_NUMBER;
        return ROOFS_OK;
    }
}

roofs_status recipe_decide(recipe_column *r, const column_facts *facts, const recipe_choices *c,
                           int32_t **slots, roofs_error *err)
{
    TRY(make_kind(r, facts, c, slots, err));
    if (r->kind != COLUMN_CATEGORY && r->kind != COLUMN_LEFT_OUT)
        r->has_absent = facts->missing > 0 && c->missing == MISSING_INDICATOR;
    return ROOFS_OK;
}
