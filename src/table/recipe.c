#include "table/recipe.h"

#include "base/memory.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

void recipe_column_free(recipe_column *c)
{
    memory_free(c->name);
    memory_free(c->reason);
    names_free(&c->levels);
    *c = (recipe_column){0};
}

void recipe_free(recipe *r)
{
    for (int64_t k = 0; k < r->count; k++)
        recipe_column_free(&r->columns[k]);
    memory_free(r->columns);
    memory_free(r->id);
    memory_free(r->fills);
    memory_free(r->response);
    *r = (recipe){0};
}

roofs_status recipe_add(recipe *r, const char *name, column_kind kind, recipe_column **out,
                        roofs_error *err)
{
    TRY(memory_grow(&r->columns, &r->capacity, r->count + 1, sizeof *r->columns, "a table", err));
    *out = &r->columns[r->count];
    TRY(memory_copy_text(&(*out)->name, name, err));
    (*out)->kind = kind;
    r->count++;
    return ROOFS_OK;
}

int64_t recipe_find(const recipe *r, const char *name)
{
    for (int64_t k = 0; k < r->count; k++)
        if (strcmp(r->columns[k].name, name) == 0)
            return k;
    return -1;
}

int recipe_is_needed(const recipe_column *c)
{
    return c->name && (c->kind != COLUMN_NUMBER || c->has_fill || c->has_absent);
}

/* ---- features ---------------------------------------------------------- */

int64_t recipe_slots(const recipe_column *c)
{
    return c->levels.count + c->has_rare + c->has_missing;
}

/* Two levels say the same: a feature for one of them is enough. */
static int is_binary(const recipe_column *c)
{
    return recipe_slots(c) == 2;
}

int64_t recipe_features(const recipe_column *c)
{
    const int64_t slots = recipe_slots(c);
    if (c->kind == COLUMN_CATEGORY)
        return slots == 2 ? 1 : slots;
    if (c->kind == COLUMN_NUMBER || c->kind == COLUMN_BOOLEAN)
        return 1 + c->has_absent;
    if (c->kind == COLUMN_DATE)
        return 1 + c->has_absent + (c->has_parts ? WEEKDAYS + MONTHS : 0) +
               (c->has_hours ? HOURS : 0);
    return 0;
}

static const char *slot_name(const recipe_column *c, int64_t slot)
{
    if (slot < c->levels.count)
        return names_get(&c->levels, slot);
    return c->has_rare && slot == c->levels.count ? "(rare)" : "(missing)";
}

static const char *part_name(int64_t part, char *text, size_t size)
{
    static const char *const weekdays[] = {"Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun"};
    if (part < WEEKDAYS)
        snprintf(text, size, " weekday=%s", weekdays[part]);
    else if (part < WEEKDAYS + MONTHS)
        snprintf(text, size, " month=%02d", (int)(part - WEEKDAYS) + 1);
    else
        snprintf(text, size, " hour=%02d", (int)(part - WEEKDAYS - MONTHS));
    return text;
}

/* Adds `first`, `middle` and `last` as one name. */
static roofs_status add_joined(const char *first, const char *middle, const char *last, names *list,
                               roofs_error *err)
{
    char *text;
    const size_t size = strlen(first) + strlen(middle) + strlen(last) + 1;
    TRY(memory_reserve(&text, (int64_t)size, 1, "a name", err));
    snprintf(text, size, "%s%s%s", first, middle, last);
    roofs_status status = names_add(list, text, (int64_t)size - 1, err);
    memory_free(text);
    return status;
}

roofs_status recipe_feature_name(const recipe_column *c, int64_t k, names *list, roofs_error *err)
{
    char part[32];
    if (c->kind == COLUMN_CATEGORY)
        return add_joined(c->name, "=", slot_name(c, is_binary(c) ? 1 : k), list, err);
    if (k == 0)
        return names_add(list, c->name, (int64_t)strlen(c->name), err);
    if (c->has_absent && k == 1)
        return add_joined(c->name, " is missing", "", list, err);
    return add_joined(c->name, part_name(k - 1 - c->has_absent, part, sizeof part), "", list, err);
}

static double part_value(int64_t part, double days)
{
    if (isnan(days))
        return 0;
    if (part < WEEKDAYS)
        return part == date_weekday(days);
    if (part < WEEKDAYS + MONTHS)
        return part - WEEKDAYS == date_month(days);
    return part - WEEKDAYS - MONTHS == date_hour(days);
}

double recipe_value(const recipe_column *c, int64_t k, double value)
{
    if (c->kind == COLUMN_CATEGORY)
        return isnan(value) ? value : value == (double)(is_binary(c) ? 1 : k);
    if (c->has_absent && k == 1)
        return isnan(value);
    if (k > 0)
        return part_value(k - 1 - c->has_absent, value);
    return isnan(value) && c->has_fill ? c->fill : value;
}

int boolean_read(const char *text, const char *end)
{
    static const char *const words[][2] = {
        {"false", "true"}, {"no", "yes"}, {"f", "t"}, {"n", "y"}};
    for (size_t k = 0; k < sizeof words / sizeof *words; k++)
        for (int value = 0; value < 2; value++)
            if ((size_t)(end - text) == strlen(words[k][value]) &&
                strncasecmp(text, words[k][value], (size_t)(end - text)) == 0)
                return value;
    return -1;
}
