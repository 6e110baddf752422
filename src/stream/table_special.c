/* Columns of a table that are no features: response, ID, weights and offset; and the columns whose
 * features come first. */
#include "base/memory.h"
#include "stream/table.h"

#include <math.h>
#include <string.h>

static const char *const options[SPECIALS] = {"--weights", "--offset"};
static const column_state states[SPECIALS] = {READ_WEIGHTS, READ_OFFSET};

static int is_named(const char *option, const char *name)
{
    return option && strcmp(option, name) == 0;
}

column_state special_state(const table_options *o, const char *name)
{
    if (is_named(o->response, name))
        return READ_RESPONSE;
    for (int k = 0; k < SPECIALS; k++)
        if (is_named(o->special[k], name))
            return states[k];
    return is_named(o->id, name) ? READ_ID : SEEN_NOTHING;
}

static roofs_status record_once(const table *t, int64_t *place, int64_t column, const char *option,
                                roofs_error *err)
{
    if (*place >= 0)
        return fail(err, ROOFS_BAD_DATA, "%s has two columns \"%.80s\", which %s names; rename one",
                    bytes_name(t->base->input), table_column_name(t, column), option);
    *place = column;
    return ROOFS_OK;
}

roofs_status special_record(table *t, int64_t column, roofs_error *err)
{
    const int state = t->states[column];
    for (int k = 0; k < SPECIALS; k++)
        if (state == (int)states[k])
            return record_once(t, &t->special[k], column, options[k], err);
    return state == READ_ID ? record_once(t, &t->id, column, "--id", err)
                            : record_once(t, &t->response, column, "--y", err);
}

int special_is_read(const table *t)
{
    return t->special[SPECIAL_WEIGHTS] >= 0 || t->special[SPECIAL_OFFSET] >= 0;
}

int table_is_always(const table *t, int64_t column)
{
    const char *list = t->options ? t->options->always : NULL;
    return list && name_list_find(&t->always, list, table_column_name(t, column)) >= 0;
}

/* ---- values ------------------------------------------------------------ */

static roofs_status has_missing(const table *t, special_column which, roofs_error *err)
{
    const int64_t column = t->special[which];
    const table_note *first = t->cells[column].first_missing;
    const char *name = table_column_name(t, column);
    if (!first)
        return fail(err, ROOFS_BAD_DATA,
                    "%s has no row for some of the samples, but its column \"%.80s\" (%s) must "
                    "have a number for each",
                    bytes_name(t->base->input), name, options[which]);
    return fail(err, ROOFS_BAD_DATA,
                "%s, line %lld, column %lld (\"%.80s\"): \"%s\" is missing; %s needs a number for "
                "each sample%s",
                bytes_name(t->base->input), (long long)first->line, (long long)column + 1, name,
                first->text, options[which],
                which == SPECIAL_WEIGHTS ? "; 0 leaves a sample out" : "");
}

/* The numbers of a joined table in the order of the samples. */
static roofs_status in_order(const table *t, double *numbers, roofs_error *err)
{
    const int64_t stored = transposer_rows(t->transposer);
    double *copy = NULL;
    if (!t->places)
        return ROOFS_OK;
    TRY(memory_get(&copy, stored, sizeof *copy, "a column", err));
    memcpy(copy, numbers, (size_t)stored * sizeof *copy);
    for (int64_t i = 0; i < t->base->n; i++)
        numbers[i] = NAN;
    for (int64_t k = 0; k < stored; k++)
        numbers[t->places[k]] = copy[k];
    memory_free(copy);
    return ROOFS_OK;
}

static roofs_status read_column(table *t, special_column which, roofs_error *err)
{
    const int64_t n = t->base->n, column = t->special[which];
    double **numbers = &t->numbers[which];
    TRY(memory_reserve(numbers, n, sizeof **numbers, "a column", err));
    TRY(transposer_read(t->transposer, t->cells[column].slot, 1, ROOFS_F64, *numbers, err));
    TRY(in_order(t, *numbers, err));
    for (int64_t i = 0; i < n; i++)
        if (isnan((*numbers)[i]))
            return has_missing(t, which, err);
    t->base->special[which] = *numbers;
    return ROOFS_OK;
}

roofs_status special_read(table *t, roofs_error *err)
{
    for (int k = 0; k < SPECIALS; k++)
        if (t->special[k] >= 0)
            TRY(read_column(t, (special_column)k, err));
    return ROOFS_OK;
}
