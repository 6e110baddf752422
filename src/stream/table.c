#include "stream/table.h"

#include "base/memory.h"
#include "stream/first_row.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

void table_close(table *t)
{
    for (int64_t k = 0; t->cells && k < t->rows->fields; k++) {
        table_column *c = &t->cells[k];
        levels_free(&c->words);
        recipe_column_free(&c->recipe);
        memory_free(c->first_missing);
        memory_free(c->slots);
    }
    memory_free(t->cells);
    memory_free(t->states);
    memory_free(t->labels);
    for (int k = 0; k < SPECIALS; k++)
        memory_free(t->numbers[k]);
    memory_free(t->places);
    memory_free(t->unquoted);
    memory_free(t->column);
    memory_free(t->scattered);
    memory_free(t->used);
    names_free(&t->column_names);
    names_free(&t->columns);
    names_free(&t->drop);
    names_free(&t->categories);
    names_free(&t->always);
    transposer_destroy(t->transposer);
}

/* ---- the columns ------------------------------------------------------- */

/* Columns without names are c1, c2, ... */
static roofs_status make_column_names(table *t, roofs_error *err)
{
    char name[32];
    for (int64_t k = 0; k < t->rows->fields; k++) {
        const int length = snprintf(name, sizeof name, "c%lld", (long long)k + 1);
        TRY(names_add(&t->column_names, name, length, err));
    }
    return ROOFS_OK;
}

static int lacks_names(const table *t)
{
    for (int64_t k = 0; k < t->column_names.count; k++)
        if (!*names_get(&t->column_names, k))
            return 1;
    return t->column_names.count == 0;
}

/* A header may lack some names, such as that of the row numbers: f0 for the first column, ... */
static roofs_status complete_names(table *t, roofs_error *err)
{
    names all = {0};
    char made[32];
    roofs_status status = ROOFS_OK;
    if (t->column_names.count == 0)
        return make_column_names(t, err);
    if (!lacks_names(t))
        return ROOFS_OK;
    for (int64_t k = 0; k < t->column_names.count && status == ROOFS_OK; k++) {
        const char *name = names_get(&t->column_names, k);
        snprintf(made, sizeof made, "f%lld", (long long)k);
        name = *name ? name : made;
        status = names_add(&all, name, (int64_t)strlen(name), err);
    }
    names_free(&t->column_names);
    t->column_names = all;
    return status;
}

/* Columns of words are found by name: two of one name would be mixed up. */
static roofs_status check_names_differ(const table *t, roofs_error *err)
{
    levels seen = {0};
    roofs_status status = ROOFS_OK;
    for (int64_t k = 0; k < t->rows->fields && status == ROOFS_OK; k++) {
        const char *name = table_column_name(t, k);
        const int64_t length = (int64_t)strlen(name);
        if (t->states[k] == SKIPPED)
            continue;
        if (levels_find(&seen, name, length) >= 0)
            status = fail(err, ROOFS_BAD_DATA,
                          "%s: two columns have the name \"%.80s\"; rename one, or leave both out "
                          "with --drop",
                          bytes_name(t->base->input), name);
        else
            status = levels_add(&seen, name, length, err);
    }
    levels_free(&seen);
    return status;
}

static int is_in(const names *list, const char *text, const char *name)
{
    return name_list_find(list, text, name) >= 0;
}

static column_state state_by_name(const table *t, const char *name)
{
    const table_options *o = t->options;
    const column_state special = special_state(o, name);
    if (special != SEEN_NOTHING)
        return special;
    if (o->only_response || (o->columns && !is_in(&t->columns, o->columns, name)) ||
        is_in(&t->drop, o->drop, name))
        return SKIPPED;
    return is_in(&t->categories, o->categories, name) ? READ_WORDS : SEEN_NOTHING;
}

static roofs_status choose_states(table *t, roofs_error *err)
{
    const table_options *o = t->options;
    if (!o || t->column_names.count == 0)
        return ROOFS_OK;
    TRY(name_list_split(o->columns, &t->columns, err));
    TRY(name_list_split(o->drop, &t->drop, err));
    TRY(name_list_split(o->categories, &t->categories, err));
    TRY(name_list_split(o->always, &t->always, err));
    for (int64_t k = 0; k < t->rows->fields; k++) {
        const column_state state = state_by_name(t, table_column_name(t, k));
        t->states[k] = (unsigned char)state;
        if (state != SKIPPED && state_is_beside(state))
            TRY(special_record(t, k, err));
    }
    return o->fitted ? table_use_recipe(t, o->fitted, err) : ROOFS_OK;
}

/* ---- opening ----------------------------------------------------------- */

static int names_columns(const table_options *o)
{
    return o->response || o->special[SPECIAL_WEIGHTS] || o->special[SPECIAL_OFFSET] || o->id ||
           o->columns || o->drop || o->categories || o->always || o->fitted;
}

/* True if a row holds only numbers and missing values where it is read. */
static int row_is_plain(const table *t, const char *at, const char *end)
{
    for (int64_t k = 0; at && k < t->rows->fields; k++) {
        double value;
        const field f = fields_next(&at, end, t->rows->separator);
        const number_kind kind = field_number(f, &value);
        if (t->states[k] == READ_WORDS || (t->states[k] == SEEN_NOTHING && kind == NUMBER_TEXT))
            return 0;
    }
    return 1;
}

/* Looks at the first row of values. Without options every table is plain: words are refused. */
static roofs_status check_plain(table *t, roofs_error *err)
{
    const char *at = t->rows->lines.record, *end = t->rows->lines.record_end;
    t->is_plain = 1;
    if (!t->options)
        return ROOFS_OK;
    if (t->has_header)
        TRY(lines_peek(&t->rows->lines, &at, &end, err));
    t->is_plain = !at || row_is_plain(t, at, end);
    return ROOFS_OK;
}

static roofs_status assign_slots(table *t, roofs_error *err)
{
    TRY(memory_get(&t->used, t->rows->fields, sizeof *t->used, "a table", err));
    for (int64_t k = 0; k < t->rows->fields; k++)
        if (t->states[k] != SKIPPED && t->states[k] != READ_ID)
            t->cells[k].slot = t->width++;
    return ROOFS_OK;
}

/* Features that are certain before the rows are read; -1 = unknown. */
static int64_t features_at_open(table *t)
{
    int64_t features = 0;
    t->base->always = t->always.count > 0 ? -1 : 0;
    const int is_fitted = t->options && t->options->fitted;
    if (!is_fitted && (!t->is_plain || t->base->hints.missing == MISSING_INDICATOR))
        return -1;
    t->base->always = 0;
    for (int64_t k = 0; k < t->rows->fields; k++)
        if (!state_is_beside(t->states[k])) {
            features += is_fitted ? recipe_features(&t->cells[k].recipe) : 1;
            t->base->always += table_is_always(t, k);
        }
    return features;
}

roofs_status table_open(table *t, reader *r, rows *from, roofs_error *err)
{
    *t = (table){.base = r, .rows = from, .options = r->hints.table, .column_at = -1};
    t->response = t->id = t->special[SPECIAL_WEIGHTS] = t->special[SPECIAL_OFFSET] = -1;
    t->number = r->hints.joins ? ++*r->hints.joins : 1;
    rows_fix_width(from);
    TRY(memory_get(&t->cells, from->fields, sizeof *t->cells, "a table", err));
    TRY(memory_get(&t->states, from->fields, sizeof *t->states, "a table", err));
    TRY(first_row_is_header(from, r->hints.header, &t->has_header, err));
    if (t->has_header)
        TRY(rows_names(from, &t->column_names, err));
    if (t->options && t->options->fitted && !t->options->fitted->is_given && lacks_names(t))
        t->options = NULL; /* features are found by position */
    const int by_name = t->options && names_columns(t->options);
    if (by_name)
        TRY(complete_names(t, err));
    TRY(choose_states(t, err));
    TRY(check_plain(t, err));
    if (!t->has_header)
        lines_unread(&from->lines);
    if (!t->is_plain && !by_name)
        TRY(complete_names(t, err));
    if (!t->is_plain && !t->options->fitted)
        TRY(check_names_differ(t, err));
    r->named = t->column_names.count > 0;
    TRY(assign_slots(t, err));
    r->features = features_at_open(t);
    r->loads_early = t->response >= 0                        ? EARLY_RESPONSE
                     : r->features < 0 || special_is_read(t) ? EARLY_FEATURES
                                                             : EARLY_NOT;
    return ROOFS_OK;
}

/* ---- loading ----------------------------------------------------------- */

/* The sample of the current row: -1 if no other file has its ID. The first table that is loaded
 * gives the IDs and the order of the samples. */
static roofs_status find_sample(table *t, int is_first, int64_t *sample, roofs_error *err)
{
    levels *ids = t->base->hints.ids;
    char text[FIELD_QUOTED];
    TRY(table_unquote(t, &t->id_field, err));
    const field f = t->id_field;
    const int64_t known = levels_find(ids, f.begin, f.end - f.begin);
    field_quote(f, text);
    *sample = known;
    if (f.begin == f.end)
        return fail(err, ROOFS_BAD_DATA, "%s, line %lld: the ID is empty; give every sample one",
                    bytes_name(t->base->input), (long long)t->rows->lines.number);
    if (known >= 0 && (is_first || ids->counts[known] == t->number))
        return fail(err, ROOFS_BAD_DATA, "%s, line %lld: the ID \"%s\" occurs twice",
                    bytes_name(t->base->input), (long long)t->rows->lines.number, text);
    if (is_first) {
        if (!names_are_utf8(f.begin, f.end) || memchr(f.begin, 0, (size_t)(f.end - f.begin)))
            return fail(err, ROOFS_BAD_DATA,
                        "%s, line %lld: the ID \"%s\" is not UTF-8, or has a zero byte",
                        bytes_name(t->base->input), (long long)t->rows->lines.number, text);
        TRY(levels_add(ids, f.begin, f.end - f.begin, err));
        *sample = ids->words.count - 1;
    }
    if (*sample >= 0)
        ids->counts[*sample] = t->number;
    return ROOFS_OK;
}

static roofs_status place_row(table *t, int is_first, int *is_used, roofs_error *err)
{
    int64_t sample;
    TRY(find_sample(t, is_first, &sample, err));
    *is_used = sample >= 0;
    if (is_first || sample < 0)
        return ROOFS_OK;
    const int64_t row = transposer_rows(t->transposer);
    TRY(memory_grow_raw(&t->places, &t->place_capacity, row + 1, sizeof *t->places, "a join", err));
    t->places[row] = sample;
    return ROOFS_OK;
}

/* Special columns are read of all samples. */
static int reads_shard(const table *t)
{
    return t->is_plain && t->base->shard_count > 0 && t->id < 0 && !special_is_read(t);
}

static int is_other_shard(const table *t, int64_t row)
{
    const reader *r = t->base;
    return reads_shard(t) && (row < r->shard_first || row >= r->shard_first + r->shard_count);
}

static int lacks_response(const table *t, const double *values)
{
    return t->response >= 0 && t->options->drop_missing_response &&
           isnan(values[t->cells[t->response].slot]);
}

/* Reads the current row, and stores it unless it has no sample. */
static roofs_status load_row(table *t, int is_first, roofs_error *err)
{
    void *values;
    int is_used = 1;
    TRY(transposer_row(t->transposer, &values, err));
    TRY(table_parse_row(t, values, err));
    if (lacks_response(t, values)) {
        t->rows_dropped++;
        return ROOFS_OK;
    }
    if (t->id >= 0)
        TRY(place_row(t, is_first, &is_used, err));
    if (is_used)
        return transposer_push(t->transposer, err);
    t->surplus++;
    return ROOFS_OK;
}

static roofs_status load_rows(table *t, int64_t *count, int is_first, roofs_error *err)
{
    for (*count = 0;; ++*count) {
        TRY(lines_next(&t->rows->lines, err));
        if (!t->rows->lines.record)
            return ROOFS_OK;
        if (is_other_shard(t, *count))
            continue;
        TRY(load_row(t, is_first, err));
    }
}

static roofs_status add_note(const table *t, const char *text, roofs_error *err)
{
    return t->base->hints.notes ? names_add(t->base->hints.notes, text, (int64_t)strlen(text), err)
                                : ROOFS_OK;
}

/* Samples that this table does not have, and rows that are no sample. */
static roofs_status check_join(table *t, roofs_error *err)
{
    char text[400];
    const levels *ids = t->base->hints.ids;
    const int64_t n = ids->words.count;
    int64_t first = 0;
    t->absent = n - transposer_rows(t->transposer);
    while (t->absent > 0 && ids->counts[first] == t->number)
        first++;
    if (t->absent > 0 && !t->base->hints.keep_missing)
        return fail(err, ROOFS_BAD_DATA,
                    "%s has no row for %lld of the %lld samples, such as %s \"%.60s\"; add them, "
                    "or see --missing",
                    bytes_name(t->base->input), (long long)t->absent, (long long)n, t->options->id,
                    names_get(&ids->words, first));
    if (t->absent > 0) {
        snprintf(text, sizeof text,
                 "%.100s has no row for %lld of the %lld samples; their values count as missing",
                 bytes_name(t->base->input), (long long)t->absent, (long long)n);
        TRY(add_note(t, text, err));
    }
    if (t->surplus == 0)
        return ROOFS_OK;
    snprintf(text, sizeof text,
             "%.100s: %lld rows are left out, because the response has no such %s",
             bytes_name(t->base->input), (long long)t->surplus, t->options->id);
    return add_note(t, text, err);
}

/* ---- after the last row ------------------------------------------------ */

static roofs_status note_column(const table *t, int64_t column, roofs_error *err)
{
    char text[400];
    const table_column *c = &t->cells[column];
    const char *name = table_column_name(t, column);
    if (c->recipe.kind == COLUMN_LEFT_OUT && c->recipe.reason)
        snprintf(text, sizeof text, "column \"%.80s\" is left out: %s", name, c->recipe.reason);
    else if (c->unknown > 0)
        snprintf(text, sizeof text,
                 "column \"%.80s\": %lld values are words that the fit did not have; they %s", name,
                 (long long)c->unknown,
                 c->recipe.has_rare ? "count as rare" : "match none of its levels");
    else
        return ROOFS_OK;
    return add_note(t, text, err);
}

static roofs_status list_column(table *t, int64_t column, roofs_error *err)
{
    reader *r = t->base;
    table_column *c = &t->cells[column];
    const int64_t count = recipe_features(&c->recipe);
    TRY(note_column(t, column, err));
    if (count == 0)
        return ROOFS_OK;
    c->first_feature = r->features;
    t->used[t->used_count++] = column;
    r->features += count;
    for (int64_t j = 0; r->named && j < count; j++)
        TRY(recipe_feature_name(&c->recipe, j, &r->names, err));
    return ROOFS_OK;
}

/* Lists the columns that give features, and names these: those of `always` come first. */
static roofs_status list_features(table *t, roofs_error *err)
{
    reader *r = t->base;
    names_clear(&r->names);
    t->used_count = r->features = 0;
    for (int later = t->always.count == 0; later < 2; later++) {
        for (int64_t k = 0; k < t->rows->fields; k++)
            if (!state_is_beside(t->states[k]) && table_is_always(t, k) == !later)
                TRY(list_column(t, k, err));
        r->always = later ? r->always : r->features;
    }
    return ROOFS_OK;
}

static roofs_status check_response(const table *t, roofs_error *err)
{
    const table_column *c = &t->cells[t->response];
    if (c->missing == 0 || t->options->drop_missing_response)
        return ROOFS_OK;
    return fail(err, ROOFS_BAD_DATA,
                "%s, line %lld, column %lld: the response \"%.80s\" is missing in %lld of the "
                "samples; leave these out with --missing-y drop, or remove the lines",
                bytes_name(t->base->input), (long long)c->first_missing->line,
                (long long)t->response + 1, table_column_name(t, t->response),
                (long long)c->missing);
}

static roofs_status read_labels(table *t, roofs_error *err)
{
    char text[200];
    if (t->response < 0)
        return ROOFS_OK;
    TRY(check_response(t, err));
    TRY(memory_reserve(&t->labels, t->base->n, sizeof *t->labels, "the response", err));
    TRY(transposer_read(t->transposer, t->cells[t->response].slot, 1, ROOFS_F64, t->labels, err));
    t->base->labels = t->labels;
    if (t->rows_dropped == 0)
        return ROOFS_OK;
    snprintf(text, sizeof text, "%lld samples without a response are left out",
             (long long)t->rows_dropped);
    return add_note(t, text, err);
}

/* The first table with IDs gives those of all. */
static int gives_ids(const table *t)
{
    return t->id >= 0 && t->base->hints.ids->words.count == 0;
}

static roofs_status check_id(const table *t, roofs_error *err)
{
    if (!t->options || !t->options->id || t->id >= 0 ||
        (t->options->fitted && t->base->hints.alone)) /* only outputs lack the IDs */
        return ROOFS_OK;
    return fail(err, ROOFS_BAD_DATA, "%s has no column \"%.80s\", which --id names",
                bytes_name(t->base->input), t->options->id);
}

/* Tables that are loaded together share the memory. */
static int64_t transpose_budget(const reader *r)
{
    const int64_t all = (int64_t)256 << 20, least = (int64_t)1 << 20;
    if (r->loads_early == EARLY_NOT || r->hints.files < 2 || r->hints.transpose_bytes > 0)
        return r->hints.transpose_bytes;
    return all / r->hints.files > least ? all / r->hints.files : least;
}

/* Two columns, the response, the places of a join, and the states of the columns. */
static int64_t bytes_beside(const table *t)
{
    const int64_t vectors = 1 + (t->response >= 0) + (t->special[SPECIAL_WEIGHTS] >= 0) +
                            (t->special[SPECIAL_OFFSET] >= 0) + 2 * (t->places != NULL);
    return vectors * t->base->n * (int64_t)sizeof(double) +
           t->rows->fields * (int64_t)sizeof *t->cells;
}

roofs_status table_load(table *t, roofs_error *err)
{
    reader *r = t->base;
    int64_t count;
    const int is_first = gives_ids(t);
    TRY(check_id(t, err));
    TRY(transposer_create(&t->transposer, t->width > 0 ? t->width : 1, ROOFS_F64,
                          transpose_budget(r), err));
    TRY(load_rows(t, &count, is_first, err));
    TRY(transposer_finish(t->transposer, err));
    if (count == 0)
        return fail(err, ROOFS_BAD_DATA, "%s has a header but no data", bytes_name(r->input));
    r->reads_shard = reads_shard(t);
    r->n = r->reads_shard ? count : transposer_rows(t->transposer);
    if (t->id >= 0 && !is_first) {
        TRY(check_join(t, err));
        r->n = r->hints.ids->words.count;
    }
    if (r->n == 0)
        return fail(err, ROOFS_BAD_DATA, "%s has no sample with a response", bytes_name(r->input));
    TRY(table_make_recipes(t, err));
    TRY(list_features(t, err));
    r->table_bytes = transposer_peak(t->transposer) + bytes_beside(t);
    TRY(read_labels(t, err));
    return special_read(t, err);
}
