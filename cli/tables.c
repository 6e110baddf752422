#include "cli/tables.h"

#include "base/memory.h"
#include "cli/print.h"
#include "cli/process_comm.h"
#include "table/names.h"
#include "table/stored.h"

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

static json_t *numbers_to_json(const double *numbers, int64_t count)
{
    json_t *list = json_array();
    for (int64_t k = 0; list && k < count; k++)
        json_array_append_new(list, json_real(numbers[k]));
    return list;
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
                             const levels *ids, const double *fills, json_t *genotypes,
                             roofs_error *err)
{
    roofs_result v;
    recipe all = {0};
    json_t *table = NULL;
    if (json_array_size(recipes) == 0 && !in->table.response && !in->table.id && !fills &&
        !genotypes)
        return ROOFS_OK;
    roofs_model_view(m, &v);
    roofs_status status = parse_list(recipes, &all, err);
    const stored_facts facts = {.response = in->table.response,
                                .id = genotypes ? "FID IID" : in->table.id,
                                .missing = (missing_policy)in->missing,
                                .thousands = in->table.thousands,
                                .decimal_comma = in->table.decimal_comma,
                                .ids = ids ? &ids->words : NULL};
    if (status == ROOFS_OK)
        status = stored_make(&facts, &all, &v, &table, err);
    if (status == ROOFS_OK && fills)
        json_object_set_new(table, "fills", numbers_to_json(fills, v.selected));
    if (status == ROOFS_OK && genotypes)
        json_object_set(table, "genotypes", genotypes);
    if (status == ROOFS_OK)
        status = store_table(m, table, err);
    json_decref(table);
    recipe_free(&all);
    return status;
}

/* ---- from a model ------------------------------------------------------ */

roofs_status tables_from_model(const roofs_model *m, recipe *r, roofs_error *err)
{
    roofs_result v;
    roofs_model_view(m, &v);
    return stored_read(roofs_model_table(m), &v, r, err);
}

json_t *tables_outliers(const roofs_model *m)
{
    roofs_result v;
    const char *text = roofs_model_table(m);
    json_t *table = text ? json_loads(text, 0, NULL) : NULL;
    json_t *list = json_incref(json_object_get(table, "outliers"));
    json_decref(table);
    roofs_model_view(m, &v);
    int is_valid = json_is_array(list) && (int64_t)json_array_size(list) == v.n - v.trusted;
    for (size_t k = 0; is_valid && k < json_array_size(list); k++)
        is_valid = json_is_string(json_array_get(list, k));
    if (!is_valid)
        json_decref(list);
    return is_valid ? list : NULL;
}
