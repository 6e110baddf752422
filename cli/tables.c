#include "cli/tables.h"

#include "base/memory.h"
#include "cli/print.h"
#include "cli/process_comm.h"
#include "stream/names.h"

#include <stdlib.h>
#include <string.h>

const option_row table_rows[] = {
    {TEXT(table_options, id, "id", "COLUMN"),
     .help = "column that identifies the samples: it is no feature, and several tables are joined "
             "on it"},
    {TEXT(table_options, columns, "columns", "NAMES"),
     .help = "read only these columns of tables: names and globs, separated by commas"},
    {TEXT(table_options, drop, "drop", "NAMES"),
     .help = "leave these columns of tables out: names and globs, separated by commas"},
    {TEXT(table_options, categories, "categories", "NAMES"),
     .help = "read these columns as categories, whatever they hold; rare levels become one"},
    {COUNT(table_options, max_levels, "max-levels", 2, 1e6), .standard = "30",
     .help = "levels of a category; columns with more words are left out, unless --categories "
             "names them"},
    {WORDS(table_options, date_parts, "dates", "WORD", "days", "parts"), .standard = "days",
     .help = "dates as days since 1970-01-01; parts: also weekdays, months and hours"},
    {WORDS(table_options, order, "date-order", "WORD", "none", "dmy", "mdy"), .standard = "none",
     .help = "what 3/4/2020 means; none: such columns are left out"},
    {FLAG(table_options, thousands, "thousands"), .help = "read 1,234.5 and 1'234 as numbers"},
    {FLAG(table_options, decimal_comma, "decimal-comma"), .help = "read 1,5 as one and a half"},
    {WORDS(table_options, drop_missing_response, "missing-y", "WORD", "error", "drop"),
     .standard = "error",
     .help = "what to do with samples whose response is missing in a table; drop: leave them out"},
    {0},
};

int64_t tables_print_notes(const char *who, const source *s, int64_t first)
{
    const names *notes = source_notes(s);
    for (int64_t k = first; k < notes->count && process_comm()->rank == 0; k++)
        complain(who, "%s", names_get(notes, k));
    return notes->count;
}

/* ---- to a model -------------------------------------------------------- */

static const char *name_of(const json_t *column)
{
    return json_string_value(json_object_get(column, "name"));
}

/* The columns of `stored` that `fresh` does not have, then those of `fresh`: the order in which a
 * fit without interruption finds them. NULL: no memory. */
static json_t *merge(const json_t *stored, const json_t *fresh)
{
    json_t *all = json_array(), *replaced = json_object();
    int complete = all && replaced;
    for (size_t k = 0; complete && k < json_array_size(fresh); k++)
        complete =
            json_object_set_new(replaced, name_of(json_array_get(fresh, k)), json_true()) == 0;
    for (size_t k = 0; complete && k < json_array_size(stored); k++) {
        json_t *column = json_array_get(stored, k);
        if (!json_object_get(replaced, name_of(column)))
            complete = json_array_append(all, column) == 0;
    }
    complete = complete && json_array_extend(all, (json_t *)fresh) == 0;
    json_decref(replaced);
    if (!complete)
        json_decref(all);
    return complete ? all : NULL;
}

static roofs_status no_memory(roofs_error *err)
{
    return fail(err, ROOFS_NO_MEMORY, "no memory for the columns of a table");
}

roofs_status tables_collect(const char *stored, const source *s, json_t **out, roofs_error *err)
{
    json_t *before = stored ? json_loads(stored, 0, NULL) : json_array(), *fresh = NULL;
    roofs_status status = ROOFS_OK;
    *out = NULL;
    if (!json_is_array(before))
        status = fail(err, ROOFS_BAD_DATA, "the checkpoint is damaged: its tables are not valid");
    else if (s)
        status = source_recipes(s, &fresh, err);
    else
        fresh = json_array();
    if (status == ROOFS_OK) {
        *out = merge(before, fresh);
        status = *out ? ROOFS_OK : no_memory(err);
    }
    json_decref(before);
    json_decref(fresh);
    return status;
}

roofs_status tables_collect_text(const char *stored, const source *s, char **out, roofs_error *err)
{
    json_t *list;
    *out = NULL;
    TRY(tables_collect(stored, s, &list, err));
    roofs_status status = ROOFS_OK;
    if (json_array_size(list) > 0) {
        char *text = json_dumps(list, JSON_COMPACT | JSON_REAL_PRECISION(17));
        status = text ? memory_copy_text(out, text, err) : no_memory(err);
        free(text);
    }
    json_decref(list);
    return status;
}

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
static json_t *outlier_ids(const roofs_result *v, const levels *ids)
{
    json_t *list = json_array();
    for (int64_t i = 0; list && i < v->n && i < ids->words.count; i++)
        if (!v->trust[i])
            json_array_append_new(list, json_string(names_get(&ids->words, i)));
    return list;
}

static json_t *numbers_to_json(const double *numbers, int64_t count)
{
    json_t *list = json_array();
    for (int64_t k = 0; list && k < count; k++)
        json_array_append_new(list, json_real(numbers[k]));
    return list;
}

static json_t *begin_table(const input_args *in, const roofs_result *v, const levels *ids)
{
    json_t *table = json_object();
    set_text(table, "response", in->table.response);
    set_text(table, "id", in->table.id);
    if (in->missing != MISSING_ERROR)
        set_text(table, "missing", missing_policy_name((missing_policy)in->missing));
    if (in->table.thousands)
        json_object_set_new(table, "thousands", json_true());
    if (in->table.decimal_comma)
        json_object_set_new(table, "decimal_comma", json_true());
    if (in->table.id && ids && ids->words.count == v->n)
        json_object_set_new(table, "outliers", outlier_ids(v, ids));
    return table;
}

static roofs_status store_table(roofs_model *m, json_t *table, roofs_error *err)
{
    char *text = json_dumps(table, JSON_COMPACT | JSON_REAL_PRECISION(17));
    if (!text)
        return no_memory(err);
    roofs_status status = roofs_model_set_table(m, text, err);
    free(text);
    return status;
}

static roofs_status parse_list(const json_t *recipes, recipe *out, roofs_error *err)
{
    json_t *object = json_pack("{s:O}", "columns", recipes);
    char *text = object ? json_dumps(object, JSON_COMPACT | JSON_REAL_PRECISION(17)) : NULL;
    json_decref(object);
    if (!text)
        return no_memory(err);
    roofs_status status = recipe_parse(out, text, err);
    free(text);
    return status;
}

roofs_status tables_to_model(roofs_model *m, const input_args *in, const json_t *recipes,
                             const levels *ids, const double *fills, roofs_error *err)
{
    roofs_result v;
    recipe all = {0};
    json_t *list = json_array();
    if (json_array_size(recipes) == 0 && !in->table.response && !in->table.id && !fills) {
        json_decref(list);
        return ROOFS_OK;
    }
    roofs_model_view(m, &v);
    roofs_status status = parse_list(recipes, &all, err);
    if (status == ROOFS_OK)
        status = choose_columns(&all, &v, list, err);
    if (status == ROOFS_OK) {
        json_t *table = begin_table(in, &v, ids);
        json_object_set(table, "columns", list);
        if (fills)
            json_object_set_new(table, "fills", numbers_to_json(fills, v.selected));
        status = store_table(m, table, err);
        json_decref(table);
    }
    json_decref(list);
    recipe_free(&all);
    return status;
}

/* ---- from a model ------------------------------------------------------ */

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

roofs_status tables_from_model(const roofs_model *m, recipe *r, roofs_error *err)
{
    roofs_result v;
    const char *text = roofs_model_table(m);
    *r = (recipe){0};
    roofs_model_view(m, &v);
    if (text)
        TRY(recipe_parse(r, text, err));
    roofs_status status = ROOFS_OK;
    if (r->fills && r->fill_count != v.selected)
        status = fail(err, ROOFS_BAD_DATA, "the model is damaged: its table has %lld fills",
                      (long long)r->fill_count);
    if (status == ROOFS_OK)
        status = add_numbers(&v, r, err);
    if (status != ROOFS_OK)
        recipe_free(r);
    return status;
}
