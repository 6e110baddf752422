/* From what a column of a table holds to its recipe. */
#include "base/memory.h"
#include "stream/table.h"
#include "table/decide.h"

#include <stdlib.h>
#include <string.h>

static column_content content_of(column_state state)
{
    switch (state) {
    case SEEN_DATES:
        return HOLDS_DATES;
    case SEEN_WORDS:
        return HOLDS_WORDS;
    case READ_WORDS:
        return HOLDS_CATEGORY;
    case SEEN_MANY:
        return HOLDS_MANY;
    case SEEN_UNCLEAR:
        return HOLDS_UNCLEAR;
    default:
        return HOLDS_NUMBERS;
    }
}

/* Without options every value is a number. */
static roofs_status make_kind(const table *t, int64_t column, roofs_error *err)
{
    table_column *c = &t->cells[column];
    const column_facts facts = {.content = content_of((column_state)t->states[column]),
                                .words = &c->words,
                                .missing = c->missing,
                                .has_time = c->has_time};
    recipe_choices choices = {.missing = t->base->hints.missing};
    if (t->options) {
        choices.max_levels = t->options->max_levels;
        choices.date_parts = t->options->date_parts;
        choices.order = (date_order)t->options->order;
    }
    return recipe_decide(&c->recipe, &facts, &choices, &c->slots, err);
}

static roofs_status make_recipe(table *t, int64_t column, roofs_error *err)
{
    table_column *c = &t->cells[column];
    if (t->column_names.count > 0 && !c->recipe.name)
        TRY(memory_copy_text(&c->recipe.name, table_column_name(t, column), err));
    TRY(make_kind(t, column, err));
    if (c->recipe.kind == COLUMN_LEFT_OUT)
        return ROOFS_OK;
    return table_check_missing(t, column, err);
}

/* True if the name of a column might be one of its values. */
static int fits_column(const table *t, int64_t column, int *is_word)
{
    const table_column *c = &t->cells[column];
    const char *name = table_column_name(t, column), *end = name + strlen(name);
    double value;
    switch ((column_state)t->states[column]) {
    case SEEN_NUMBERS:
    case READ_RESPONSE:
    case READ_WEIGHTS:
    case READ_OFFSET:
        return number_read(name, end, &value) != NUMBER_TEXT;
    case SEEN_DATES:
        return date_read(name, end, DATE_ORDER_DMY, &value) != DATE_NOT;
    case SEEN_WORDS:
    case READ_WORDS:
        *is_word = 1;
        return levels_find(&c->words, name, end - name) >= 0;
    default:
        return 1;
    }
}

/* A first row that would fit as a row of values, words included, may be one. */
static roofs_status check_header(const table *t, roofs_error *err)
{
    int fits = t->has_header && t->base->hints.header == HEADER_AUTO, is_word = 0;
    for (int64_t k = 0; k < t->rows->fields && fits; k++)
        fits = fits_column(t, k, &is_word);
    if (!fits || !is_word)
        return ROOFS_OK;
    return fail(err, ROOFS_BAD_DATA,
                "%s, line 1: the row is taken for names, but all of them are also values of their "
                "columns; if the row holds values, give --header no, otherwise --header yes",
                bytes_name(t->base->input));
}

roofs_status table_make_recipes(table *t, roofs_error *err)
{
    if (t->options && !t->options->fitted)
        TRY(check_header(t, err));
    for (int64_t k = 0; k < t->rows->fields; k++) {
        const column_state state = (column_state)t->states[k];
        if (state_is_beside(state))
            continue;
        if (!t->options || !t->options->fitted) {
            TRY(make_recipe(t, k, err));
        } else if (t->cells[k].missing > 0 && !t->cells[k].recipe.has_fill &&
                   !t->cells[k].recipe.has_missing) {
            TRY(table_check_missing(t, k, err));
        }
    }
    return ROOFS_OK;
}

/* ---- a fitted recipe --------------------------------------------------- */

static column_state state_of_kind(column_kind kind)
{
    switch (kind) {
    case COLUMN_NUMBER:
        return READ_NUMBER;
    case COLUMN_BOOLEAN:
        return READ_BOOLEAN;
    case COLUMN_CATEGORY:
        return READ_LEVELS;
    case COLUMN_DATE:
        return READ_DATE;
    default:
        return SKIPPED;
    }
}

static roofs_status copy_levels(const recipe_column *from, table_column *c, roofs_error *err)
{
    TRY(memory_get(&c->slots, from->levels.count, sizeof *c->slots, "a category", err));
    for (int64_t k = 0; k < from->levels.count; k++) {
        const char *word = names_get(&from->levels, k);
        TRY(levels_add(&c->words, word, (int64_t)strlen(word), err));
        TRY(names_add(&c->recipe.levels, word, (int64_t)strlen(word), err));
        c->slots[k] = (int32_t)k;
    }
    return ROOFS_OK;
}

static roofs_status copy_column(const recipe_column *from, table_column *c, roofs_error *err)
{
    char *name = NULL;
    TRY(memory_copy_text(&name, from->name, err));
    c->recipe = *from;
    c->recipe.name = name;
    c->recipe.reason = NULL;
    c->recipe.levels = (names){0};
    return from->kind == COLUMN_CATEGORY ? copy_levels(from, c, err) : ROOFS_OK;
}

/* All columns of the recipe in the order of their names, to find those of the table. */
static int by_name(const void *left, const void *right)
{
    const recipe_column *const *a = left, *const *b = right;
    return strcmp((*a)->name, (*b)->name);
}

static recipe_column *find_column(recipe_column **sorted, int64_t count, const char *name)
{
    const recipe_column wanted = {.name = (char *)name}, *key = &wanted;
    recipe_column **found = bsearch(&key, sorted, (size_t)count, sizeof *sorted, by_name);
    return found ? *found : NULL;
}

static roofs_status use_column(table *t, int64_t column, recipe_column *from, roofs_error *err)
{
    const column_state state = from ? state_of_kind(from->kind) : SKIPPED;
    if (t->states[column] != SKIPPED && state_is_beside(t->states[column]))
        return ROOFS_OK;
    t->states[column] = (unsigned char)state;
    if (state == SKIPPED)
        return ROOFS_OK;
    if (from->found == t->number)
        return fail(err, ROOFS_BAD_DATA,
                    "%s: the model uses the column \"%.80s\", which the file has twice; rename "
                    "one of them",
                    bytes_name(t->base->input), from->name);
    from->found = t->number;
    return copy_column(from, &t->cells[column], err);
}

roofs_status table_use_recipe(table *t, recipe *fitted, roofs_error *err)
{
    recipe_column **sorted;
    TRY(memory_get(&sorted, fitted->count, sizeof *sorted, "a table", err));
    for (int64_t k = 0; k < fitted->count; k++)
        sorted[k] = &fitted->columns[k];
    if (fitted->count > 0)
        qsort(sorted, (size_t)fitted->count, sizeof *sorted, by_name);
    roofs_status status = ROOFS_OK;
    for (int64_t k = 0; k < t->rows->fields && status == ROOFS_OK; k++)
        status = use_column(t, k, find_column(sorted, fitted->count, table_column_name(t, k)), err);
    memory_free(sorted);
    return status;
}
