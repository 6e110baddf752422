/* Tables in memory: the public calls. */
#include "base/memory.h"
#include "base/sized.h"
#include "table/frame.h"
#include "table/stored.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

struct roofs_table {
    frame frame;
    char *response, *id; /* names of columns, or NULL */
    names ids;
};

static roofs_status import_options(const roofs_table_options *given, roofs_table_options *own,
                                   roofs_error *err)
{
    static const sized_type type = {"roofs_table_options", sizeof *own, sizeof *own};
    *own = (roofs_table_options){0};
    if (given)
        TRY(sized_import(&type, own, given, given->struct_size ? given->struct_size : type.first,
                         err));
    if (own->max_levels < 0 || own->max_levels > 1000000 || own->max_levels == 1)
        return fail(err, ROOFS_BAD_SETTING, "max_levels must be from 2 to 1000000, or 0 for %d",
                    MAX_LEVELS);
    if (own->missing < ROOFS_MISSING_ERROR || own->missing > ROOFS_MISSING_INDICATOR)
        return fail(err, ROOFS_BAD_SETTING, "missing: %lld is not a ROOFS_MISSING_ choice",
                    (long long)own->missing);
    if (own->date_order < ROOFS_DATE_NONE || own->date_order > ROOFS_DATE_MDY)
        return fail(err, ROOFS_BAD_SETTING, "date_order: %lld is not a ROOFS_DATE_ choice",
                    (long long)own->date_order);
    return ROOFS_OK;
}

static roofs_status copy_name(char **to, const char *name, roofs_error *err)
{
    return name ? memory_copy_text(to, name, err) : ROOFS_OK;
}

static void begin_frame(frame *f, const roofs_table_options *o, int64_t n)
{
    f->n = n;
    f->thousands = o->thousands != 0;
    f->decimal_comma = o->decimal_comma != 0;
    f->choices = (recipe_choices){.max_levels = o->max_levels,
                                  .date_parts = o->date_parts,
                                  .order = (date_order)o->date_order,
                                  .missing = (missing_policy)o->missing};
}

static roofs_status fill_table(roofs_table *t, const roofs_column *columns, int64_t count,
                               int64_t n, const roofs_table_options *o, roofs_error *err)
{
    begin_frame(&t->frame, o, n);
    TRY(copy_name(&t->response, o->response, err));
    TRY(copy_name(&t->id, o->id, err));
    for (int64_t i = 0; o->ids && i < n; i++) {
        if (!o->ids[i])
            return fail(err, ROOFS_BAD_CALL, "the ID of sample %lld is NULL", (long long)i);
        TRY(names_add(&t->ids, o->ids[i], (int64_t)strlen(o->ids[i]), err));
    }
    TRY(frame_fill(&t->frame, columns, count, err));
    return frame_decide(&t->frame, err);
}

static roofs_status check_sizes(int64_t count, int64_t n, roofs_error *err)
{
    if (count >= 0 && n >= 1)
        return ROOFS_OK;
    return fail(err, ROOFS_BAD_CALL, "a table of %lld columns and %lld samples", (long long)count,
                (long long)n);
}

static roofs_status finish_table(roofs_table *t, roofs_status status, roofs_table **out)
{
    *out = t;
    if (status != ROOFS_OK) {
        roofs_table_destroy(t);
        *out = NULL;
    }
    return status;
}

roofs_status roofs_table_create(roofs_table **out, const roofs_column *columns, int64_t count,
                                int64_t n, const roofs_table_options *options, roofs_error *err)
{
    roofs_table_options o;
    roofs_table *t;
    REQUIRE(out);
    *out = NULL;
    REQUIRE(columns);
    TRY(check_sizes(count, n, err));
    TRY(import_options(options, &o, err));
    TRY(memory_get(&t, 1, sizeof *t, "a table", err));
    return finish_table(t, fill_table(t, columns, count, n, &o, err), out);
}

/* ---- a model ----------------------------------------------------------- */

static roofs_status apply_table(roofs_table *t, const roofs_model *m, const roofs_column *columns,
                                int64_t count, int64_t n, roofs_error *err)
{
    roofs_result v;
    recipe fitted;
    roofs_model_view(m, &v);
    for (int64_t k = 0; k < v.selected; k++)
        if (!v.features[k].name)
            return fail(err, ROOFS_BAD_CALL,
                        "the features of the model have no names, so columns cannot be found");
    TRY(stored_read(roofs_model_table(m), &v, &fitted, err));
    const roofs_table_options o = {
        .missing = missing_is_replaced(fitted.missing) ? (int64_t)fitted.missing : MISSING_ERROR,
        .thousands = fitted.thousands,
        .decimal_comma = fitted.decimal_comma};
    begin_frame(&t->frame, &o, n);
    roofs_status status = frame_fill(&t->frame, columns, count, err);
    if (status == ROOFS_OK)
        status = frame_apply(&t->frame, &fitted, &v, err);
    recipe_free(&fitted);
    return status;
}

roofs_status roofs_table_apply(roofs_table **out, const roofs_model *m, const roofs_column *columns,
                               int64_t count, int64_t n, roofs_error *err)
{
    roofs_table *t;
    REQUIRE(out);
    *out = NULL;
    REQUIRE(m);
    REQUIRE(columns);
    TRY(check_sizes(count, n, err));
    TRY(memory_get(&t, 1, sizeof *t, "a table", err));
    return finish_table(t, apply_table(t, m, columns, count, n, err), out);
}

/* Moves the recipes of the columns into a list that shares their memory. */
static roofs_status list_recipes(const frame *f, recipe *all, roofs_error *err)
{
    TRY(memory_get(&all->columns, f->count, sizeof *all->columns, "a table", err));
    for (int64_t k = 0; k < f->count; k++)
        if (recipe_is_needed(&f->columns[k].recipe))
            all->columns[all->count++] = f->columns[k].recipe;
    return ROOFS_OK;
}

static roofs_status store_object(roofs_model *m, const json_t *object, roofs_error *err)
{
    char *text = NULL;
    const size_t flags = JSON_COMPACT | JSON_REAL_PRECISION(17);
    const size_t size = json_dumpb(object, NULL, 0, flags);
    TRY(memory_get(&text, (int64_t)size + 1, 1, "the model", err));
    json_dumpb(object, text, size, flags);
    roofs_status status = roofs_model_set_table(m, text, err);
    memory_free(text);
    return status;
}

roofs_status roofs_table_store(const roofs_table *t, roofs_model *m, roofs_error *err)
{
    roofs_result v;
    recipe all = {0};
    json_t *object = NULL;
    REQUIRE(t);
    REQUIRE(m);
    if (t->frame.is_fitted)
        return fail(err, ROOFS_BAD_CALL, "roofs_table_store: the table is of roofs_table_apply");
    roofs_model_view(m, &v);
    const stored_facts facts = {.response = t->response,
                                .id = t->id,
                                .missing = t->frame.choices.missing,
                                .thousands = t->frame.thousands,
                                .decimal_comma = t->frame.decimal_comma,
                                .ids = &t->ids};
    TRY(list_recipes(&t->frame, &all, err));
    roofs_status status = all.count > 0 || t->response || t->id
                              ? stored_make(&facts, &all, &v, &object, err)
                              : ROOFS_OK;
    if (status == ROOFS_OK && object)
        status = store_object(m, object, err);
    json_decref(object);
    memory_free(all.columns);
    return status;
}

/* ---- queries ----------------------------------------------------------- */

int64_t roofs_table_features(const roofs_table *t)
{
    return t ? t->frame.features : 0;
}

const char *roofs_table_feature_name(const roofs_table *t, int64_t k)
{
    return t && k >= 0 && k < t->frame.features ? names_get(&t->frame.feature_names, k) : NULL;
}

const char *roofs_table_note(const roofs_table *t, int64_t k)
{
    return t && k >= 0 && k < t->frame.notes.count ? names_get(&t->frame.notes, k) : NULL;
}

roofs_status roofs_table_read(const roofs_table *t, int64_t first, int64_t count, double *values,
                              roofs_error *err)
{
    REQUIRE(t);
    REQUIRE(values);
    if (first < 0 || count < 0 || count > t->frame.features - first)
        return fail(err, ROOFS_BAD_CALL,
                    "roofs_table_read: features %lld to %lld of a table that has %lld",
                    (long long)first, (long long)(first + count - 1), (long long)t->frame.features);
    for (int64_t k = 0; k < count; k++)
        frame_read(&t->frame, first + k, values + k * t->frame.n);
    return ROOFS_OK;
}

void roofs_table_destroy(roofs_table *t)
{
    if (!t)
        return;
    frame_free(&t->frame);
    memory_free(t->response);
    memory_free(t->id);
    names_free(&t->ids);
    memory_free(t);
}

roofs_status roofs_column_numbers(const roofs_column *column, int64_t n,
                                  const roofs_table_options *options, double *values,
                                  roofs_error *err)
{
    roofs_table_options o;
    frame f = {0};
    REQUIRE(column);
    REQUIRE(values);
    TRY(check_sizes(1, n, err));
    TRY(import_options(options, &o, err));
    begin_frame(&f, &o, n);
    roofs_status status = frame_fill(&f, column, 1, err);
    if (status == ROOFS_OK && column->codes)
        status = frame_read_numbers(&f, 0, err);
    for (int64_t i = 0; i < n && status == ROOFS_OK; i++)
        if (!column->codes)
            values[i] = column->values[i];
        else
            values[i] = column->codes[i] < 0 ? NAN : f.columns[0].meaning[column->codes[i]];
    frame_free(&f);
    return status;
}
