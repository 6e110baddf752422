#include "table/frame.h"

#include "base/memory.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

void frame_free(frame *f)
{
    for (int64_t k = 0; f->columns && k < f->count; k++) {
        frame_column *c = &f->columns[k];
        recipe_column_free(&c->recipe);
        levels_free(&c->words);
        memory_free(c->slots);
        memory_free(c->meaning);
        memory_free(c->counts);
    }
    memory_free(f->columns);
    memory_free(f->places);
    names_free(&f->feature_names);
    names_free(&f->notes);
    *f = (frame){0};
}

/* ---- columns ----------------------------------------------------------- */

static int has_words(const frame_column *c)
{
    return c->given.kind == ROOFS_COLUMN_WORDS || c->given.kind == ROOFS_COLUMN_CATEGORY;
}

static roofs_status check_column(const roofs_column *c, int64_t k, roofs_error *err)
{
    const int is_text = c->kind == ROOFS_COLUMN_WORDS || c->kind == ROOFS_COLUMN_CATEGORY;
    if (!c->name)
        return fail(err, ROOFS_BAD_CALL, "column %lld has no name", (long long)k);
    if (c->kind < ROOFS_COLUMN_NUMBERS || c->kind > ROOFS_COLUMN_CATEGORY)
        return fail(err, ROOFS_BAD_CALL, "column \"%.80s\": %lld is not a kind of columns", c->name,
                    (long long)c->kind);
    if (is_text ? !c->codes || c->word_count < 0 || (c->word_count > 0 && !c->words) : !c->values)
        return fail(err, ROOFS_BAD_CALL, "column \"%.80s\" has no %s", c->name,
                    is_text ? "words and codes" : "values");
    return ROOFS_OK;
}

static void note_gap(frame_column *c, int64_t sample)
{
    c->first_gap = c->missing++ == 0 ? sample : c->first_gap;
}

static roofs_status count_words(frame_column *c, int64_t n, roofs_error *err)
{
    TRY(memory_get(&c->counts, c->given.word_count, sizeof *c->counts, "a column", err));
    TRY(memory_get(&c->meaning, c->given.word_count, sizeof *c->meaning, "a column", err));
    for (int64_t i = 0; i < n; i++) {
        const int64_t word = c->given.codes[i];
        if (word < -1 || word >= c->given.word_count)
            return fail(err, ROOFS_BAD_CALL,
                        "column \"%.80s\", sample %lld (counted from 0): there is no word %lld",
                        c->given.name, (long long)i, (long long)word);
        if (word < 0)
            note_gap(c, i);
        else
            c->counts[word]++;
    }
    return ROOFS_OK;
}

static roofs_status check_values(frame_column *c, int64_t n, roofs_error *err)
{
    for (int64_t i = 0; i < n; i++) {
        const double value = c->given.values[i];
        if (isnan(value))
            note_gap(c, i);
        else if (isinf(value))
            return fail(err, ROOFS_BAD_DATA,
                        "column \"%.80s\", sample %lld (counted from 0): the value is infinite",
                        c->given.name, (long long)i);
    }
    return ROOFS_OK;
}

static roofs_status take_column(const frame *f, const roofs_column *given, frame_column *c,
                                roofs_error *err)
{
    c->given = *given;
    TRY(memory_copy_text(&c->recipe.name, given->name, err));
    return has_words(c) ? count_words(c, f->n, err) : check_values(c, f->n, err);
}

roofs_status frame_fill(frame *f, const roofs_column *columns, int64_t count, roofs_error *err)
{
    levels seen = {0};
    roofs_status status = memory_get(&f->columns, count, sizeof *f->columns, "a table", err);
    for (int64_t k = 0; k < count && status == ROOFS_OK; k++) {
        status = check_column(&columns[k], k, err);
        if (status != ROOFS_OK)
            break;
        const int64_t length = (int64_t)strlen(columns[k].name);
        f->count = k + 1;
        if (levels_find(&seen, columns[k].name, length) >= 0)
            status = fail(err, ROOFS_BAD_DATA, "two columns have the name \"%.80s\"; rename one",
                          columns[k].name);
        if (status == ROOFS_OK)
            status = levels_add(&seen, columns[k].name, length, err);
        if (status == ROOFS_OK)
            status = take_column(f, &columns[k], &f->columns[k], err);
    }
    levels_free(&seen);
    return status;
}

/* ---- values ------------------------------------------------------------ */

/* The value of a sample for recipe_value. */
static double value_of(const frame_column *c, int64_t i, missing_policy policy)
{
    const recipe_column *r = &c->recipe;
    double value;
    if (has_words(c))
        value = c->given.codes[i] < 0 ? NAN : c->meaning[c->given.codes[i]];
    else
        value = c->given.values[i];
    if (!isnan(value) || r->kind != COLUMN_CATEGORY)
        return value;
    if (r->has_missing)
        return (double)(r->levels.count + r->has_rare);
    return policy == MISSING_DROP ? NAN : -1;
}

void frame_read(const frame *f, int64_t k, double *values)
{
    const frame_column *c = &f->columns[f->places[k].column];
    int64_t missing = 0;
    for (int64_t i = 0; i < f->n; i++) {
        values[i] =
            recipe_value(&c->recipe, f->places[k].feature, value_of(c, i, f->choices.missing));
        missing += isnan(values[i]);
    }
    if (missing > 0) /* with MISSING_DROP only */
        memset(values, 0, (size_t)f->n * sizeof *values);
}

/* The statistic of the fit that replaces missing values. */
static roofs_status find_fill(const frame *f, frame_column *c, double *scratch, roofs_error *err)
{
    for (int64_t i = 0; i < f->n; i++)
        scratch[i] = value_of(c, i, f->choices.missing);
    c->recipe.has_fill = 1;
    return missing_statistic(f->choices.missing, scratch, f->n, &c->recipe.fill, err);
}

/* ---- a fit ------------------------------------------------------------- */

static roofs_status add_note(frame *f, const char *text, roofs_error *err)
{
    return names_add(&f->notes, text, (int64_t)strlen(text), err);
}

static roofs_status check_missing(const frame *f, const frame_column *c, roofs_error *err)
{
    if (c->missing == 0 || f->choices.missing != MISSING_ERROR || c->recipe.has_fill ||
        c->recipe.has_missing)
        return ROOFS_OK;
    return fail(err, ROOFS_BAD_DATA,
                "column \"%.80s\" has %lld missing values; fill missing values first, or see the "
                "option missing",
                c->given.name, (long long)c->missing);
}

static int has_time_of_day(const frame *f, const frame_column *c)
{
    for (int64_t i = 0; i < f->n; i++)
        if (c->given.values[i] > floor(c->given.values[i]))
            return 1;
    return 0;
}

/* Codes of levels become slots of a category, or 0 and 1. */
static void replace_codes(frame_column *c)
{
    for (int64_t k = 0; c->slots && k < c->given.word_count; k++)
        if (c->counts[k] > 0 && !isnan(c->meaning[k]))
            c->meaning[k] = c->slots[(int64_t)c->meaning[k]];
}

static roofs_status decide_column(frame *f, int64_t column, roofs_error *err)
{
    frame_column *c = &f->columns[column];
    column_facts facts = {.words = &c->words};
    char text[400];
    if (has_words(c))
        TRY(frame_classify(f, column, &facts.content, &facts.has_time, err));
    else if (c->given.kind == ROOFS_COLUMN_DATES)
        facts.has_time = has_time_of_day(f, c);
    if (c->given.kind == ROOFS_COLUMN_DATES)
        facts.content = HOLDS_DATES;
    if (c->given.kind == ROOFS_COLUMN_BOOLEANS)
        facts.content = HOLDS_BOOLEANS;
    facts.missing = c->missing;
    TRY(recipe_decide(&c->recipe, &facts, &f->choices, &c->slots, err));
    replace_codes(c);
    if (c->recipe.kind != COLUMN_LEFT_OUT)
        return check_missing(f, c, err);
    snprintf(text, sizeof text, "column \"%.80s\" is left out: %s", c->given.name,
             c->recipe.reason);
    return add_note(f, text, err);
}

static roofs_status list_features(frame *f, roofs_error *err)
{
    int64_t capacity = 0;
    f->features = 0;
    for (int64_t k = 0; k < f->count; k++) {
        frame_column *c = &f->columns[k];
        c->first_feature = f->features;
        const int64_t count = recipe_features(&c->recipe);
        TRY(memory_grow(&f->places, &capacity, f->features + count, sizeof *f->places, "a table",
                        err));
        for (int64_t j = 0; j < count; j++) {
            f->places[f->features++] = (frame_place){k, j};
            TRY(recipe_feature_name(&c->recipe, j, &f->feature_names, err));
        }
    }
    return ROOFS_OK;
}

static roofs_status find_fills(frame *f, roofs_error *err)
{
    double *scratch;
    if (!missing_is_replaced(f->choices.missing))
        return ROOFS_OK;
    TRY(memory_get(&scratch, f->n, sizeof *scratch, "a column", err));
    roofs_status status = ROOFS_OK;
    for (int64_t k = 0; k < f->count && status == ROOFS_OK; k++) {
        const column_kind kind = f->columns[k].recipe.kind;
        if (kind != COLUMN_CATEGORY && kind != COLUMN_LEFT_OUT)
            status = find_fill(f, &f->columns[k], scratch, err);
    }
    memory_free(scratch);
    return status;
}

roofs_status frame_decide(frame *f, roofs_error *err)
{
    for (int64_t k = 0; k < f->count; k++)
        TRY(decide_column(f, k, err));
    TRY(find_fills(f, err));
    return list_features(f, err);
}

/* ---- a fitted recipe --------------------------------------------------- */

static roofs_status copy_recipe(const recipe_column *from, recipe_column *to, roofs_error *err)
{
    char *name = to->name;
    *to = *from;
    to->name = name;
    to->reason = NULL;
    to->levels = (names){0};
    for (int64_t k = 0; k < from->levels.count; k++) {
        const char *level = names_get(&from->levels, k);
        TRY(names_add(&to->levels, level, (int64_t)strlen(level), err));
    }
    return ROOFS_OK;
}

/* Numbers are allowed for booleans, if they are 0 and 1. */
static roofs_status check_kind(const frame *f, const frame_column *c, roofs_error *err)
{
    static const char *const held[] = {"numbers", "yes and no", "words", "dates"};
    const column_kind kind = c->recipe.kind;
    int is_fine = kind == COLUMN_NUMBER || kind == COLUMN_BOOLEAN;
    if (c->given.kind == ROOFS_COLUMN_DATES)
        is_fine = kind == COLUMN_DATE;
    for (int64_t i = 0; i < f->n && is_fine && kind == COLUMN_BOOLEAN; i++) {
        const double value = c->given.values[i];
        is_fine = isnan(value) || value == 0 || value == 1;
    }
    if (is_fine)
        return ROOFS_OK;
    return fail(err, ROOFS_BAD_DATA,
                "column \"%.80s\" held %s in the fit, but it holds %s here; convert it",
                c->given.name, held[kind],
                c->given.kind == ROOFS_COLUMN_DATES ? "dates" : "numbers");
}

static roofs_status apply_column(frame *f, int64_t column, const recipe_column *from,
                                 roofs_error *err)
{
    char text[400];
    frame_column *c = &f->columns[column];
    TRY(copy_recipe(from, &c->recipe, err));
    TRY(has_words(c) ? frame_read_words(f, column, err) : check_kind(f, c, err));
    TRY(check_missing(f, c, err));
    if (c->unknown == 0)
        return ROOFS_OK;
    snprintf(text, sizeof text,
             "column \"%.80s\": %lld values are words that the fit did not have; they %s",
             c->given.name, (long long)c->unknown,
             c->recipe.has_rare ? "count as rare" : "match none of its levels");
    return add_note(f, text, err);
}

/* Columns that the recipe does not list give no features. */
static roofs_status apply_columns(frame *f, const recipe *fitted, roofs_error *err)
{
    levels known = {0};
    roofs_status status = ROOFS_OK;
    for (int64_t k = 0; k < fitted->count && status == ROOFS_OK; k++)
        status = levels_add(&known, fitted->columns[k].name,
                            (int64_t)strlen(fitted->columns[k].name), err);
    for (int64_t k = 0; k < f->count && status == ROOFS_OK; k++) {
        const char *name = f->columns[k].given.name;
        const int64_t at = levels_find(&known, name, (int64_t)strlen(name));
        f->columns[k].recipe.kind = COLUMN_LEFT_OUT;
        if (at >= 0 && recipe_features(&fitted->columns[at]) > 0)
            status = apply_column(f, k, &fitted->columns[at], err);
    }
    levels_free(&known);
    return status;
}

static roofs_status no_feature(const recipe *fitted, const char *feature, roofs_error *err)
{
    const char *column = feature;
    for (int64_t k = 0; k < fitted->count; k++) {
        const recipe_column *c = &fitted->columns[k];
        const size_t length = strlen(c->name);
        if (recipe_features(c) > 0 && strncmp(c->name, feature, length) == 0 &&
            (feature[length] == '=' || feature[length] == ' '))
            column = c->name;
    }
    return fail(err, ROOFS_BAD_DATA, "the table has no column \"%.80s\", which the model uses",
                column);
}

/* Keeps the features of the model, in its order. */
static roofs_status choose_features(frame *f, const recipe *fitted, const roofs_result *v,
                                    roofs_error *err)
{
    levels known = {0};
    frame_place *places = NULL;
    roofs_status status = memory_get(&places, v->selected, sizeof *places, "a table", err);
    for (int64_t k = 0; k < f->features && status == ROOFS_OK; k++) {
        const char *name = names_get(&f->feature_names, k);
        status = levels_add(&known, name, (int64_t)strlen(name), err);
    }
    names_clear(&f->feature_names);
    for (int64_t k = 0; k < v->selected && status == ROOFS_OK; k++) {
        const char *name = v->features[k].name;
        const int64_t length = (int64_t)strlen(name), at = levels_find(&known, name, length);
        if (at < 0) {
            status = no_feature(fitted, name, err);
            break;
        }
        places[k] = f->places[at];
        status = names_add(&f->feature_names, name, length, err);
    }
    levels_free(&known);
    memory_free(f->places);
    f->places = places;
    f->features = v->selected;
    return status;
}

roofs_status frame_apply(frame *f, recipe *fitted, const roofs_result *v, roofs_error *err)
{
    f->is_fitted = 1;
    for (int64_t k = 0; fitted->fills && k < fitted->count; k++)
        for (int64_t j = 0; j < v->selected; j++)
            if (strcmp(fitted->columns[k].name, v->features[j].name) == 0) {
                fitted->columns[k].has_fill = 1;
                fitted->columns[k].fill = fitted->fills[j];
            }
    TRY(apply_columns(f, fitted, err));
    TRY(list_features(f, err));
    return choose_features(f, fitted, v, err);
}
