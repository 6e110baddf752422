#include "table/stored.h"

#include "base/memory.h"

#include <stdlib.h>
#include <string.h>

static roofs_status no_memory(roofs_error *err)
{
    return fail(err, ROOFS_NO_MEMORY, "no memory for the columns of a table");
}

/* ---- writing ----------------------------------------------------------- */

static int by_name(const void *left, const void *right)
{
    return strcmp(*(const char *const *)left, *(const char *const *)right);
}

/* The names of the features of a model, in order; *count is 0 if some have none. */
static roofs_status sort_names(const roofs_result *v, const char ***out, int64_t *count,
                               roofs_error *err)
{
    TRY(memory_get(out, v->selected, sizeof **out, "the names of features", err));
    for (*count = 0; *count < v->selected && v->features[*count].name; ++*count)
        (*out)[*count] = v->features[*count].name;
    if (*count > 0)
        qsort((void *)*out, (size_t)*count, sizeof **out, by_name);
    return ROOFS_OK;
}

/* True if the model has a feature of the column. */
static roofs_status is_used(const recipe_column *c, const char **sorted, int64_t count, int *used,
                            roofs_error *err)
{
    const int64_t features = recipe_features(c);
    *used = 0;
    for (int64_t k = 0; k < features && !*used; k++) {
        names name = {0};
        roofs_status status = recipe_feature_name(c, k, &name, err);
        const char *key = status == ROOFS_OK ? names_get(&name, 0) : "";
        *used =
            bsearch((void *)&key, (void *)sorted, (size_t)count, sizeof *sorted, by_name) != NULL;
        names_free(&name);
        TRY(status);
    }
    return ROOFS_OK;
}

/* The columns that the model uses, and those that were left out with a reason. */
static roofs_status choose_columns(const recipe *all, const roofs_result *v, json_t *list,
                                   roofs_error *err)
{
    const char **sorted = NULL;
    int64_t count;
    roofs_status status = sort_names(v, &sorted, &count, err);
    for (int64_t k = 0; k < all->count && status == ROOFS_OK; k++) {
        int used = 0;
        status = is_used(&all->columns[k], sorted, count, &used, err);
        if (status == ROOFS_OK && (used || all->columns[k].kind == COLUMN_LEFT_OUT) &&
            json_array_append_new(list, recipe_column_to_json(&all->columns[k])) != 0)
            status = no_memory(err);
    }
    memory_free((void *)sorted);
    return status;
}

static void set_text(json_t *object, const char *field, const char *text)
{
    if (text)
        json_object_set_new(object, field, json_string(text));
}

/* The IDs of the samples that are not trusted. */
static json_t *outlier_ids(const roofs_result *v, const names *ids)
{
    json_t *list = json_array();
    for (int64_t i = 0; list && i < v->n; i++)
        if (!v->trust[i])
            json_array_append_new(list, json_string(names_get(ids, i)));
    return list;
}

static json_t *begin(const stored_facts *f, const roofs_result *v)
{
    json_t *table = json_object();
    set_text(table, "response", f->response);
    set_text(table, "id", f->id);
    if (f->missing != MISSING_ERROR)
        set_text(table, "missing", missing_policy_name(f->missing));
    if (f->thousands)
        json_object_set_new(table, "thousands", json_true());
    if (f->decimal_comma)
        json_object_set_new(table, "decimal_comma", json_true());
    if (f->id && f->ids && f->ids->count == v->n)
        json_object_set_new(table, "outliers", outlier_ids(v, f->ids));
    return table;
}

roofs_status stored_make(const stored_facts *f, const recipe *all, const roofs_result *v,
                         json_t **out, roofs_error *err)
{
    json_t *list = json_array();
    *out = NULL;
    roofs_status status = choose_columns(all, v, list, err);
    if (status == ROOFS_OK) {
        *out = begin(f, v);
        if (json_object_set(*out, "columns", list) != 0)
            status = no_memory(err);
    }
    json_decref(list);
    return status;
}

/* ---- reading ----------------------------------------------------------- */

/* Adds numbers for the features that no column of the recipe gives. */
static roofs_status add_numbers(const roofs_result *v, recipe *r, roofs_error *err)
{
    const char **sorted = NULL;
    int64_t count, made = 0;
    names given = {0};
    roofs_status status = ROOFS_OK;
    for (int64_t k = 0; k < r->count && status == ROOFS_OK; k++)
        for (int64_t j = 0; j < recipe_features(&r->columns[k]) && status == ROOFS_OK; j++)
            status = recipe_feature_name(&r->columns[k], j, &given, err);
    if (status == ROOFS_OK)
        status = memory_get(&sorted, given.count, sizeof *sorted, "the names of features", err);
    for (; status == ROOFS_OK && made < given.count; made++)
        sorted[made] = names_get(&given, made);
    count = made;
    if (count > 0)
        qsort((void *)sorted, (size_t)count, sizeof *sorted, by_name);
    for (int64_t k = 0; k < v->selected && status == ROOFS_OK; k++) {
        recipe_column *c;
        const char *name = v->features[k].name;
        if (!name || (count > 0 && bsearch((void *)&name, (void *)sorted, (size_t)count,
                                           sizeof *sorted, by_name)))
            continue;
        status = recipe_add(r, name, COLUMN_NUMBER, &c, err);
        if (status == ROOFS_OK)
            c->is_optional = 1;
    }
    memory_free((void *)sorted);
    names_free(&given);
    return status;
}

roofs_status stored_read(const char *text, const roofs_result *v, recipe *r, roofs_error *err)
{
    *r = (recipe){0};
    if (text)
        TRY(recipe_parse(r, text, err));
    roofs_status status = ROOFS_OK;
    if (r->fills && r->fill_count != v->selected)
        status = fail(err, ROOFS_BAD_DATA, "the model is damaged: its table has %lld fills",
                      (long long)r->fill_count);
    if (status == ROOFS_OK)
        status = add_numbers(v, r, err);
    if (status != ROOFS_OK)
        recipe_free(r);
    return status;
}
