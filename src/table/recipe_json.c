/* The JSON form of a recipe: the object "table" of a model file. */
#include "base/memory.h"
#include "table/recipe.h"

#include <math.h>
#include <string.h>

static const char *const kind_names[] = {"number",   "boolean", "category", "date",
                                         "left out", "id",      "response", NULL};
static const char *const policy_names[] = {"error", "drop-feature", "median",
                                           "mean",  "indicator",    NULL};
static const char *const order_names[] = {"", "dmy", "mdy", NULL};

const char *missing_policy_name(missing_policy policy)
{
    return policy_names[policy];
}

/* ---- writing ----------------------------------------------------------- */

static json_t *levels_to_json(const names *levels)
{
    json_t *list = json_array();
    for (int64_t k = 0; list && k < levels->count; k++)
        if (json_array_append_new(list, json_string(names_get(levels, k))) != 0) {
            json_decref(list);
            return NULL;
        }
    return list;
}

json_t *recipe_column_to_json(const recipe_column *c)
{
    json_t *out = json_pack("{s:s, s:s}", "name", c->name, "kind", kind_names[c->kind]);
    int complete = out != NULL;
    if (complete && c->kind == COLUMN_CATEGORY) {
        complete = json_object_set_new(out, "levels", levels_to_json(&c->levels)) == 0;
        if (complete && c->has_rare)
            complete = json_object_set_new(out, "rare", json_true()) == 0;
        if (complete && c->has_missing)
            complete = json_object_set_new(out, "missing", json_true()) == 0;
    }
    if (complete && c->has_fill)
        complete = json_object_set_new(out, "fill", json_real(c->fill)) == 0;
    if (complete && c->has_absent)
        complete = json_object_set_new(out, "indicator", json_true()) == 0;
    if (complete && c->has_parts)
        complete = json_object_set_new(out, "parts", json_true()) == 0;
    if (complete && c->has_hours)
        complete = json_object_set_new(out, "hours", json_true()) == 0;
    if (complete && c->order != DATE_ORDER_NONE)
        complete = json_object_set_new(out, "order", json_string(order_names[c->order])) == 0;
    if (complete && c->reason)
        complete = json_object_set_new(out, "reason", json_string(c->reason)) == 0;
    if (complete)
        return out;
    json_decref(out);
    return NULL;
}

/* ---- reading ----------------------------------------------------------- */

static roofs_status bad_table(const char *what, roofs_error *err)
{
    return fail(err, ROOFS_BAD_DATA, "the model is damaged: its table has no valid \"%s\"", what);
}

/* The index of the text of a field in a list; `standard` if there is no such field. */
static roofs_status get_word(const json_t *from, const char *field, const char *const *words,
                             int standard, int *out, roofs_error *err)
{
    const json_t *value = json_object_get(from, field);
    const char *text = json_string_value(value);
    *out = standard;
    if (!value && standard >= 0)
        return ROOFS_OK;
    for (int k = 0; text && words[k]; k++)
        if (strcmp(words[k], text) == 0) {
            *out = k;
            return ROOFS_OK;
        }
    return bad_table(field, err);
}

static int get_flag(const json_t *from, const char *field)
{
    return json_is_true(json_object_get(from, field));
}

static roofs_status get_levels(const json_t *from, recipe_column *c, roofs_error *err)
{
    const json_t *list = json_object_get(from, "levels");
    if (!json_is_array(list))
        return bad_table("levels", err);
    for (size_t k = 0; k < json_array_size(list); k++) {
        const char *word = json_string_value(json_array_get(list, k));
        if (!word)
            return bad_table("levels", err);
        TRY(names_add(&c->levels, word, (int64_t)strlen(word), err));
    }
    return ROOFS_OK;
}

static roofs_status get_column(const json_t *from, recipe *r, roofs_error *err)
{
    recipe_column *c;
    int kind, order;
    const char *name = json_string_value(json_object_get(from, "name"));
    const char *reason = json_string_value(json_object_get(from, "reason"));
    const json_t *fill = json_object_get(from, "fill");
    if (!name)
        return bad_table("name", err);
    TRY(get_word(from, "kind", kind_names, -1, &kind, err));
    TRY(get_word(from, "order", order_names, 0, &order, err));
    TRY(recipe_add(r, name, (column_kind)kind, &c, err));
    c->order = (date_order)order;
    c->has_rare = get_flag(from, "rare");
    c->has_missing = get_flag(from, "missing");
    c->has_absent = get_flag(from, "indicator");
    c->has_parts = get_flag(from, "parts");
    c->has_hours = get_flag(from, "hours");
    c->has_fill = json_is_number(fill);
    c->fill = json_number_value(fill);
    if (reason)
        TRY(memory_copy_text(&c->reason, reason, err));
    return c->kind == COLUMN_CATEGORY ? get_levels(from, c, err) : ROOFS_OK;
}

static roofs_status get_text(const json_t *from, const char *field, char **out, roofs_error *err)
{
    const char *text = json_string_value(json_object_get(from, field));
    return text ? memory_copy_text(out, text, err) : ROOFS_OK;
}

/* Models of files that are no tables have a number for each feature, and no columns. */
static roofs_status get_fills(const json_t *root, recipe *r, roofs_error *err)
{
    const json_t *list = json_object_get(root, "fills");
    if (!list)
        return ROOFS_OK;
    if (!json_is_array(list))
        return bad_table("fills", err);
    r->fill_count = (int64_t)json_array_size(list);
    TRY(memory_get(&r->fills, r->fill_count, sizeof *r->fills, "a model", err));
    for (int64_t k = 0; k < r->fill_count; k++) {
        const json_t *value = json_array_get(list, (size_t)k);
        if (!json_is_number(value))
            return bad_table("fills", err);
        r->fills[k] = json_number_value(value);
    }
    return ROOFS_OK;
}

static roofs_status get_recipe(const json_t *root, recipe *r, roofs_error *err)
{
    int policy;
    const json_t *columns = json_object_get(root, "columns");
    TRY(get_word(root, "missing", policy_names, 0, &policy, err));
    r->missing = (missing_policy)policy;
    r->is_given = 1;
    r->thousands = get_flag(root, "thousands");
    r->decimal_comma = get_flag(root, "decimal_comma");
    TRY(get_fills(root, r, err));
    TRY(get_text(root, "id", &r->id, err));
    TRY(get_text(root, "response", &r->response, err));
    if (!json_is_array(columns))
        return bad_table("columns", err);
    for (size_t k = 0; k < json_array_size(columns); k++)
        TRY(get_column(json_array_get(columns, k), r, err));
    return ROOFS_OK;
}

roofs_status recipe_parse(recipe *r, const char *text, roofs_error *err)
{
    json_t *root = json_loads(text, JSON_REJECT_DUPLICATES, NULL);
    *r = (recipe){0};
    if (!root)
        return bad_table("columns", err);
    roofs_status status = get_recipe(root, r, err);
    json_decref(root);
    if (status != ROOFS_OK)
        recipe_free(r);
    return status;
}
