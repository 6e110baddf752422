/* From what a column of a table holds to its recipe. */
#include "base/memory.h"
#include "stream/table.h"

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
static roofs_status order_words(const table_column *c, int64_t kept, counted_word **out,
                                roofs_error *err)
{
    const int64_t count = c->words.words.count;
    TRY(memory_get(out, count, sizeof **out, "a category", err));
    for (int64_t k = 0; k < count; k++)
        (*out)[k] = (counted_word){names_get(&c->words.words, k), k, c->words.counts[k]};
    qsort(*out, (size_t)count, sizeof **out, by_count);
    qsort(*out, (size_t)kept, sizeof **out, by_text);
    return ROOFS_OK;
}

static roofs_status make_levels(table_column *c, int64_t most, roofs_error *err)
{
    const int64_t count = c->words.words.count, kept = count > most ? most : count;
    counted_word *words;
    TRY(memory_get(&c->slots, count, sizeof *c->slots, "a category", err));
    TRY(order_words(c, kept, &words, err));
    roofs_status status = ROOFS_OK;
    for (int64_t k = 0; k < count && status == ROOFS_OK; k++) {
        c->slots[words[k].code] = (int32_t)(k < kept ? k : kept);
        if (k < kept)
            status =
                names_add(&c->recipe.levels, words[k].text, (int64_t)strlen(words[k].text), err);
    }
    c->recipe.has_rare = kept < count;
    memory_free(words);
    return status;
}

/* ---- booleans ---------------------------------------------------------- */

static int words_are_boolean(const table_column *c)
{
    const names *words = &c->words.words;
    for (int64_t k = 0; k < words->count; k++) {
        const char *text = names_get(words, k);
        if (boolean_read(text, text + strlen(text)) < 0)
            return 0;
    }
    return words->count > 0;
}

static roofs_status make_boolean(table_column *c, roofs_error *err)
{
    const names *words = &c->words.words;
    TRY(memory_get(&c->slots, words->count, sizeof *c->slots, "a column", err));
    for (int64_t k = 0; k < words->count; k++) {
        const char *text = names_get(words, k);
        c->slots[k] = boolean_read(text, text + strlen(text));
    }
    c->recipe.kind = COLUMN_BOOLEAN;
    return ROOFS_OK;
}

/* ---- kinds ------------------------------------------------------------- */

static roofs_status leave_out(table_column *c, const char *reason, roofs_error *err)
{
    c->recipe.kind = COLUMN_LEFT_OUT;
    return memory_copy_text(&c->recipe.reason, reason, err);
}

static roofs_status leave_many_out(const table *t, table_column *c, int64_t most, roofs_error *err)
{
    char reason[200];
    (void)t;
    snprintf(reason, sizeof reason,
             "it has more than %lld different words; see --id, --categories and --max-levels",
             (long long)most);
    return leave_out(c, reason, err);
}

static int replaces_missing(const table *t)
{
    const missing_policy policy = t->base->hints.missing;
    return policy == MISSING_MEDIAN || policy == MISSING_MEAN || policy == MISSING_INDICATOR;
}

static int64_t count_values(const table_column *c)
{
    int64_t values = 0;
    for (int64_t k = 0; k < c->words.words.count; k++)
        values += c->words.counts[k];
    return values;
}

static roofs_status make_words(table *t, int64_t column, int64_t most, roofs_error *err)
{
    table_column *c = &t->cells[column];
    const int is_requested = t->states[column] == READ_WORDS;
    const int64_t words = c->words.words.count;
    if (!is_requested && words_are_boolean(c))
        return make_boolean(c, err);
    if (!is_requested && words > 2 && 2 * words > count_values(c))
        return leave_out(c, "nearly every sample has another word; see --id and --categories", err);
    if (words < 2 && !(c->missing > 0 && replaces_missing(t)))
        return leave_out(c, words == 0 ? "it has no values" : "all its values are the same", err);
    c->recipe.kind = COLUMN_CATEGORY;
    c->recipe.has_missing = c->missing > 0 && replaces_missing(t);
    return make_levels(c, most, err);
}

static roofs_status make_date(const table *t, table_column *c)
{
    c->recipe.kind = COLUMN_DATE;
    if (!t->options) /* then every value is a number */
        return ROOFS_OK;
    c->recipe.order = (date_order)t->options->order;
    c->recipe.has_parts = t->options->date_parts != 0;
    c->recipe.has_hours = c->recipe.has_parts && c->has_time;
    return ROOFS_OK;
}

static roofs_status make_kind(table *t, int64_t column, roofs_error *err)
{
    table_column *c = &t->cells[column];
    const int64_t given = t->options ? t->options->max_levels : 0;
    const int64_t most = given > 0 ? given : MAX_LEVELS;
    switch ((column_state)t->states[column]) {
    case SEEN_DATES:
        return make_date(t, c);
    case SEEN_WORDS:
    case READ_WORDS:
        return make_words(t, column, most, err);
    case SEEN_MANY:
        return leave_many_out(t, c, most, err);
    case SEEN_UNCLEAR:
        return leave_out(c,
                         "its dates are not clear: day or month first? give --date-order dmy "
                         "or mdy",
                         err);
    default:
        c->recipe.kind = COLUMN_NUMBER;
        return ROOFS_OK;
    }
}

static roofs_status make_recipe(table *t, int64_t column, roofs_error *err)
{
    table_column *c = &t->cells[column];
    if (t->column_names.count > 0 && !c->recipe.name)
        TRY(memory_copy_text(&c->recipe.name, table_column_name(t, column), err));
    TRY(make_kind(t, column, err));
    if (c->recipe.kind == COLUMN_LEFT_OUT)
        return ROOFS_OK;
    if (c->recipe.kind != COLUMN_CATEGORY)
        c->recipe.has_absent = c->missing > 0 && t->base->hints.missing == MISSING_INDICATOR;
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
        if (state == SKIPPED || state == READ_ID || state == READ_RESPONSE)
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
    if (t->states[column] == READ_ID)
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
