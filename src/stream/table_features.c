/* The features of a table that is loaded. */
#include "base/memory.h"
#include "stream/table.h"
#include "table/decide.h"

#include <math.h>
#include <string.h>

/* The used column with this feature: an index of `used`. */
static int64_t find_used(const table *t, int64_t feature)
{
    int64_t low = 0, high = t->used_count - 1;
    while (low < high) {
        const int64_t middle = low + (high - low + 1) / 2;
        if (t->cells[t->used[middle]].first_feature <= feature)
            low = middle;
        else
            high = middle - 1;
    }
    return low;
}

static int64_t rows_stored(const table *t)
{
    return transposer_rows(t->transposer);
}

/* ---- one column -------------------------------------------------------- */

/* The slot of a code of a category: that of rare words for unknown ones, if there is one. */
static double slot_of(const table *t, const table_column *c, double code)
{
    const recipe_column *r = &c->recipe;
    if (isnan(code) && r->has_missing)
        return (double)(r->levels.count + r->has_rare);
    if (isnan(code))
        return t->base->hints.missing == MISSING_DROP ? code : -1;
    if (code < 0)
        return r->has_rare ? (double)r->levels.count : -1;
    return c->slots[(int64_t)code];
}

static void decode(const table *t, const table_column *c, double *values, int64_t n)
{
    if (c->recipe.kind == COLUMN_CATEGORY)
        for (int64_t i = 0; i < n; i++)
            values[i] = slot_of(t, c, values[i]);
    else if (c->recipe.kind == COLUMN_BOOLEAN && c->slots)
        for (int64_t i = 0; i < n; i++)
            values[i] = isnan(values[i]) ? values[i] : c->slots[(int64_t)values[i]];
}

/* The rows of a joined table to the order of the samples; absent samples are missing. */
static void scatter(const table *t, const double *stored, double *samples)
{
    for (int64_t i = 0; i < t->base->n; i++)
        samples[i] = NAN;
    for (int64_t k = 0; k < rows_stored(t); k++)
        samples[t->places[k]] = stored[k];
}

/* What replaces missing values: the statistic of the fit. */
static roofs_status find_fill(const table *t, table_column *c, const double *values,
                              roofs_error *err)
{
    const missing_policy policy = t->base->hints.missing;
    const int is_fitted = t->options && t->options->fitted;
    if (is_fitted || c->recipe.kind == COLUMN_CATEGORY || !missing_is_replaced(policy))
        return ROOFS_OK;
    c->recipe.has_fill = 1;
    return missing_statistic(policy, values, reader_stored_samples(t->base), &c->recipe.fill, err);
}

/* Missing values that stay missing are replaced and counted by the source. */
static void count_missing(table *t, const table_column *c)
{
    const int64_t missing = c->missing + t->absent;
    const int is_replaced =
        c->recipe.kind == COLUMN_CATEGORY ? c->recipe.has_missing : c->recipe.has_fill;
    if (missing == 0 || !is_replaced)
        return;
    t->base->missing.values += missing;
    t->base->missing.features++;
}

static roofs_status load_column(table *t, int64_t column, roofs_error *err)
{
    const int64_t n = reader_stored_samples(t->base);
    table_column *c = &t->cells[column];
    if (t->column_at == column)
        return ROOFS_OK;
    t->column_at = -1;
    if (!t->column)
        TRY(memory_reserve(&t->column, n, sizeof *t->column, "a column", err));
    if (t->places && !t->scattered)
        TRY(memory_reserve(&t->scattered, rows_stored(t), sizeof *t->scattered, "a column", err));
    double *stored = t->places ? t->scattered : t->column;
    TRY(transposer_read(t->transposer, c->slot, 1, ROOFS_F64, stored, err));
    if (t->places)
        scatter(t, stored, t->column);
    decode(t, c, t->column, n);
    TRY(find_fill(t, c, t->column, err));
    count_missing(t, c);
    t->column_at = column;
    return ROOFS_OK;
}

static void write_feature(const table *t, const table_column *c, int64_t k, double *values)
{
    const int64_t n = reader_stored_samples(t->base);
    for (int64_t i = 0; i < n; i++)
        values[i] = recipe_value(&c->recipe, k, t->column[i]);
}

/* ---- several columns --------------------------------------------------- */

/* A column whose values are the feature. */
static int is_direct(const table *t, const table_column *c)
{
    const missing_policy policy = t->base->hints.missing;
    const int is_fitted = t->options && t->options->fitted;
    const int is_kept = is_fitted ? c->missing == 0 : !missing_is_replaced(policy);
    return is_kept && !t->places && c->recipe.kind == COLUMN_NUMBER && !c->recipe.has_absent;
}

/* How many columns from used[at] on are direct and neighbours, at most `most`. */
static int64_t direct_run(const table *t, int64_t at, int64_t most)
{
    int64_t run = 0;
    while (run < most && at + run < t->used_count && is_direct(t, &t->cells[t->used[at + run]]) &&
           t->cells[t->used[at + run]].slot == t->cells[t->used[at]].slot + run)
        run++;
    return run;
}

roofs_status table_read(table *t, int64_t count, double *values, int64_t *got, roofs_error *err)
{
    const int64_t n = reader_stored_samples(t->base);
    int64_t feature = t->base->position;
    *got = reader_advance(t->base, count);
    const int64_t end = feature + *got;
    while (feature < end) {
        const int64_t at = find_used(t, feature), run = direct_run(t, at, end - feature);
        table_column *c = &t->cells[t->used[at]];
        if (run > 0) {
            TRY(transposer_read(t->transposer, c->slot, run, ROOFS_F64, values, err));
            feature += run;
            values += run * n;
            continue;
        }
        TRY(load_column(t, t->used[at], err));
        const int64_t last = c->first_feature + recipe_features(&c->recipe);
        for (; feature < last && feature < end; feature++, values += n)
            write_feature(t, c, feature - c->first_feature, values);
    }
    return ROOFS_OK;
}
