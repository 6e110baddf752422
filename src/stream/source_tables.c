/* What a stream has of its tables: response, IDs, recipes. */
#include "base/memory.h"
#include "stream/name_list.h"
#include "stream/source_state.h"

#include <string.h>

void source_begin_tables(source *s)
{
    recipe *fitted = s->options.table ? s->options.table->fitted : NULL;
    s->ids = s->options.ids ? s->options.ids : &s->own_ids;
    for (int64_t k = 0; k < s->ids->words.count; k++)
        s->ids->counts[k] = 0; /* the number of the last table that has the ID */
    for (int64_t k = 0; fitted && k < fitted->count; k++)
        fitted->columns[k].found = 0;
}

void source_end_tables(source *s)
{
    levels_free(&s->own_ids);
    names_free(&s->notes);
    json_decref(s->recipes);
}

/* ---- samples ----------------------------------------------------------- */

/* True if the samples are those of a table that is still to be found. */
static int awaits_response(const source *s, const reader *r)
{
    const table_options *o = s->options.table;
    return o && o->response && !r->labels && r->n < 0;
}

roofs_status source_load_early(source *s, reader *r, roofs_error *err)
{
    if (r->loads_early == EARLY_RESPONSE)
        TRY(reader_load(r, err));
    if (s->n > 0 || awaits_response(s, r))
        return ROOFS_OK;
    if (r->n < 0)
        TRY(reader_load(r, err));
    s->n = r->n;
    return ROOFS_OK;
}

/* --names counts features, but the columns of a table are found by their own names. */
static roofs_status check_given(const source *s, const reader *r, roofs_error *err)
{
    if (!s->options.names_path || r->loads_early == EARLY_NOT || !r->format->column_name)
        return ROOFS_OK;
    return fail(err, ROOFS_BAD_DATA,
                "%s: --names does not apply to tables with words or a response: their columns have "
                "names",
                bytes_name(r->input));
}

roofs_status source_learn_last(source *s, roofs_error *err)
{
    for (int64_t k = 0; k < s->file_count; k++) {
        reader *r = s->files[k].reader;
        if (r)
            TRY(check_given(s, r, err));
        if (!r || r->loaded || (s->n > 0 && r->loads_early == EARLY_NOT))
            continue;
        TRY(reader_load(r, err));
        s->n = s->n > 0 ? s->n : r->n;
        s->files[k].features = r->features;
        TRY(source_check_samples(s, k, err));
    }
    return ROOFS_OK;
}

const double *source_response(const source *s)
{
    for (int64_t k = 0; k < s->file_count; k++) {
        const reader *r = s->files[k].reader;
        if (r && r->loaded && r->labels && r->format->column_name)
            return r->labels;
    }
    return NULL;
}

const double *source_special(const source *s, special_column which)
{
    for (int64_t k = 0; k < s->file_count; k++) {
        const reader *r = s->files[k].reader;
        if (r && r->loaded && r->special[which])
            return r->special[which];
    }
    return NULL;
}

roofs_status source_always(const source *s, int64_t *count, roofs_error *err)
{
    *count = 0;
    for (int64_t k = 0; k < s->file_count; k++) {
        const reader *r = s->files[k].reader;
        if (!r || r->always == 0)
            continue;
        if (k > 0)
            return fail(err, ROOFS_BAD_DATA,
                        "--always: %s has such columns, but is not the first file; give it first, "
                        "and all columns of --always in it",
                        s->files[k].path);
        *count = r->always;
    }
    return ROOFS_OK;
}

const levels *source_ids(const source *s)
{
    return s->ids;
}

const names *source_notes(const source *s)
{
    return &s->notes;
}

int64_t source_table_bytes(const source *s)
{
    const int64_t bytes_per_id = 80;
    int64_t total = s->ids->words.count * bytes_per_id + s->ids->words.used;
    for (int64_t k = 0; k < s->file_count; k++)
        total += s->files[k].reader ? s->files[k].reader->table_bytes : 0;
    return total;
}

/* ---- columns ----------------------------------------------------------- */

const char *source_column_name(const source *s, int64_t k)
{
    for (int64_t f = 0; f < s->file_count; f++) {
        const reader *r = s->files[f].reader;
        if (!r || !r->format->column_name)
            continue;
        int64_t count = 0;
        while (r->format->column_name(r, count)) {
            if (k == count)
                return r->format->column_name(r, count);
            count++;
        }
        k -= count;
    }
    return NULL;
}

int source_has_column(const source *s, const char *name)
{
    const char *column;
    for (int64_t f = 0; f < s->file_count; f++) {
        const reader *r = s->files[f].reader;
        for (int64_t k = 0; r && r->format->column_name; k++) {
            column = r->format->column_name(r, k);
            if (!column)
                break;
            if (!name || strcmp(column, name) == 0)
                return 1;
        }
    }
    return 0;
}

/* Marks the items of a list that match a column. */
static void mark_items(const source *s, const char *text, const names *items, unsigned char *found)
{
    const names one = {0};
    for (int64_t f = 0; f < s->file_count; f++) {
        const reader *r = s->files[f].reader;
        const char *column;
        for (int64_t k = 0;
             r && r->format->column_name && (column = r->format->column_name(r, k)) != NULL; k++) {
            const int is_whole = name_list_find(&one, text, column) >= 0;
            for (int64_t j = 0; j < items->count; j++)
                found[j] |= is_whole || name_list_matches(names_get(items, j), column);
        }
    }
}

static const char *column_or_none(const source *s, int64_t k)
{
    const char *name = source_column_name(s, k);
    return name ? name : "";
}

static roofs_status check_list(const source *s, const char *option, const char *text,
                               roofs_error *err)
{
    names items = {0};
    unsigned char *found = NULL;
    if (!text)
        return ROOFS_OK;
    roofs_status status = name_list_split(text, &items, err);
    if (status == ROOFS_OK)
        status = memory_get(&found, items.count, 1, "a list of columns", err);
    if (status == ROOFS_OK)
        mark_items(s, text, &items, found);
    for (int64_t k = 0; k < items.count && status == ROOFS_OK; k++)
        if (!found[k])
            status = fail(err, ROOFS_BAD_DATA,
                          "%s: no table has a column \"%.80s\"; the first columns are \"%.40s\" "
                          "and \"%.40s\"",
                          option, names_get(&items, k), column_or_none(s, 0), column_or_none(s, 1));
    memory_free(found);
    names_free(&items);
    return status;
}

roofs_status source_check_columns(const source *s, roofs_error *err)
{
    const table_options *o = s->options.table;
    if (!o)
        return ROOFS_OK;
    TRY(check_list(s, "--columns", o->columns, err));
    TRY(check_list(s, "--drop", o->drop, err));
    TRY(check_list(s, "--categories", o->categories, err));
    return check_list(s, "--always", o->always, err);
}

roofs_status source_check_fitted(const source *s, roofs_error *err)
{
    const recipe *fitted = s->options.table ? s->options.table->fitted : NULL;
    if (!fitted || !source_has_column(s, NULL))
        return ROOFS_OK;
    for (int64_t k = 0; k < s->file_count; k++)
        if (s->files[k].reader && !s->files[k].reader->named)
            return fail(err, ROOFS_BAD_DATA,
                        "%s has no names, but the model uses columns of tables, which are found by "
                        "name; give it names",
                        s->files[k].path);
    for (int64_t k = 0; k < fitted->count; k++) {
        const recipe_column *c = &fitted->columns[k];
        if (c->found || c->is_optional || recipe_features(c) == 0)
            continue;
        return fail(err, ROOFS_BAD_DATA, "%s has no column \"%.80s\", which the model uses",
                    s->file_count == 1 ? s->files[0].path : "none of the files", c->name);
    }
    return ROOFS_OK;
}

/* ---- recipes ----------------------------------------------------------- */

static roofs_status append_recipe(void *list, const recipe_column *column, roofs_error *err)
{
    if (json_array_append_new(list, recipe_column_to_json(column)) == 0)
        return ROOFS_OK;
    return fail(err, ROOFS_NO_MEMORY, "no memory for the columns of a table");
}

roofs_status source_keep_recipes(source *s, const reader *r, roofs_error *err)
{
    if (!r->format->visit_recipes || !r->loaded)
        return ROOFS_OK;
    if (!s->recipes)
        s->recipes = json_array();
    return reader_visit_recipes(r, append_recipe, s->recipes, err);
}

roofs_status source_recipes(const source *s, json_t **out, roofs_error *err)
{
    *out = s->recipes ? json_copy(s->recipes) : json_array();
    roofs_status status = *out ? ROOFS_OK : fail(err, ROOFS_NO_MEMORY, "no memory for a table");
    for (int64_t k = s->current; k < s->file_count && status == ROOFS_OK; k++)
        if (s->files[k].reader)
            status = reader_visit_recipes(s->files[k].reader, append_recipe, *out, err);
    if (status != ROOFS_OK) {
        json_decref(*out);
        *out = NULL;
    }
    return status;
}
