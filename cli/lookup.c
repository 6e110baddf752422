#include "cli/lookup.h"

#include "base/block.h"
#include "base/memory.h"
#include "cli/fills.h"
#include "cli/interrupt.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- life -------------------------------------------------------------- */

static int by_name(const void *left, const void *right)
{
    return strcmp(((const named_feature *)left)->name, ((const named_feature *)right)->name);
}

static void sort_names(lookup *l)
{
    l->named = 1;
    for (int64_t k = 0; k < l->model->selected; k++) {
        l->sorted[k] = (named_feature){l->model->features[k].name, k};
        l->named = l->named && l->sorted[k].name;
    }
    if (l->named)
        qsort(l->sorted, (size_t)l->model->selected, sizeof *l->sorted, by_name);
}

static void lookup_restart(lookup *l)
{
    for (int64_t i = 0; i < l->n && l->sum; i++)
        l->sum[i] = l->model->intercept;
    for (int64_t i = 0; l->variance && i < l->n; i++)
        l->variance[i] = l->interval->variance;
    for (int64_t i = 0; l->without && i < l->parts * l->n; i++)
        l->without[i] = l->model->intercept;
    l->next = 0;
}

/* Allocates the sums when the first feature has been read: before, n is a claim of the file. */
static roofs_status lookup_begin(lookup *l, roofs_error *err)
{
    if (l->sum)
        return ROOFS_OK;
    TRY(memory_reserve(&l->sum, l->n, sizeof *l->sum, "the predictions", err));
    if (l->interval)
        TRY(memory_reserve(&l->variance, l->n, sizeof *l->variance, "the intervals", err));
    if (l->part)
        TRY(memory_reserve(&l->without, memory_bytes(l->parts, l->n), sizeof *l->without,
                           "the predictions without a part of the features", err));
    lookup_restart(l);
    return ROOFS_OK;
}

roofs_status lookup_create(lookup *l, const roofs_result *model, const interval *v, int64_t n,
                           roofs_error *err)
{
    int64_t count = model->selected;
    *l = (lookup){.model = model, .interval = v, .n = n};
    TRY(memory_get(&l->held, count, sizeof *l->held, "the features", err));
    TRY(memory_get(&l->sorted, count, sizeof *l->sorted, "the features", err));
    TRY(memory_get(&l->found, count, 1, "the features", err));
    sort_names(l);
    return ROOFS_OK;
}

void lookup_destroy(lookup *l)
{
    for (int64_t k = 0; l->held && k < l->model->selected; k++)
        memory_free(l->held[k]);
    memory_free(l->held);
    memory_free(l->sum);
    memory_free(l->variance);
    memory_free(l->without);
    memory_free(l->sorted);
    memory_free(l->found);
    memory_free(l->filled);
}

/* ---- one feature ------------------------------------------------------- */

/* Adds what the next feature of the model contributes to the prediction of a sample. */
static void add_term(lookup *l, int64_t sample, double term)
{
    l->sum[sample] += term;
    for (int64_t c = 0; l->without && c < l->parts; c++)
        if (l->part[l->next] != c)
            l->without[c * l->n + sample] += term;
}

/* Feature `at` of the stream; `column` is a block with one feature. */
typedef struct arrival {
    const roofs_block *column;
    int64_t at;
} arrival;

/* The positions of the values in the block are first_place..end_place - 1. */
static int64_t first_place(const arrival *a)
{
    return a->column->starts ? block_start(a->column, 0) : 0;
}

static int64_t end_place(const arrival *a)
{
    return a->column->starts ? block_start(a->column, 1) : a->column->n;
}

static int64_t sample_at(const arrival *a, int64_t place)
{
    return a->column->starts ? block_sample(a->column, place) : place;
}

static roofs_status check_arrival(const arrival *a, roofs_error *err)
{
    for (int64_t k = first_place(a); k < end_place(a); k++)
        if (!isfinite(block_value(a->column, k))) {
            const char *name = a->column->names ? a->column->names[0] : "";
            fail(err, ROOFS_BAD_DATA,
                 "feature %" PRId64 "%s%s, sample %" PRId64
                 " (counted from 0): the value is not a finite number",
                 a->at, *name ? " " : "", name, sample_at(a, k));
            err->feature = a->at;
            return ROOFS_BAD_DATA;
        }
    return ROOFS_OK;
}

/* Adds what the next feature of the model contributes to the variances of samples first..end - 1,
 * where it has the same value. */
static void add_variance(lookup *l, int64_t first, int64_t end, double value)
{
    const double term = interval_term(l->interval, &l->model->spread[l->next], value);
    for (int64_t i = first; i < end; i++)
        l->variance[i] += term;
}

/* Samples that are not listed have the value 0. */
static void add_column_variance(lookup *l, const arrival *a)
{
    int64_t done = 0;
    for (int64_t k = first_place(a); k < end_place(a); k++) {
        const int64_t sample = sample_at(a, k);
        add_variance(l, done, sample, 0);
        add_variance(l, sample, sample + 1, block_value(a->column, k));
        done = sample + 1;
    }
    add_variance(l, done, l->n, 0);
}

static void add_column(lookup *l, const arrival *a)
{
    if (l->variance)
        add_column_variance(l, a);
    double coef = l->model->features[l->next].coef;
    for (int64_t k = first_place(a); k < end_place(a); k++)
        add_term(l, sample_at(a, k), coef * block_value(a->column, k));
    l->next++;
}

/* Adds the held features that are next. */
static void add_held(lookup *l)
{
    for (; l->next < l->model->selected && l->held[l->next]; l->next++) {
        double coef = l->model->features[l->next].coef, *values = l->held[l->next];
        for (int64_t i = 0; i < l->n; i++)
            add_term(l, i, coef * values[i]);
        for (int64_t i = 0; l->variance && i < l->n; i++)
            add_variance(l, i, i + 1, values[i]);
        memory_free(values);
        l->held[l->next] = NULL;
    }
}

/* Replaces the missing values of a feature; *dense is then the new column. */
static roofs_status fill_missing(lookup *l, int64_t k, arrival *a, roofs_block *dense,
                                 roofs_error *err)
{
    if (!l->fills)
        return ROOFS_OK;
    if (!l->filled)
        TRY(memory_reserve(&l->filled, l->n, sizeof *l->filled, "a feature", err));
    const int64_t missing = fills_copy(a->column, l->filled);
    if (missing == 0)
        return ROOFS_OK;
    for (int64_t i = 0; i < l->n; i++)
        if (isnan(l->filled[i]))
            l->filled[i] = l->fills[k];
    l->missing += missing;
    *dense = (roofs_block){.count = 1,
                           .n = l->n,
                           .dtype = ROOFS_F64,
                           .values = l->filled,
                           .feature_stride = l->n,
                           .sample_stride = 1,
                           .names = a->column->names};
    a->column = dense;
    return ROOFS_OK;
}

/* Adds feature k of the model, or holds it until it is next. */
static roofs_status add_feature(lookup *l, int64_t k, const arrival *given, roofs_error *err)
{
    roofs_block dense;
    arrival own = *given, *a = &own;
    TRY(fill_missing(l, k, a, &dense, err));
    TRY(check_arrival(a, err));
    TRY(lookup_begin(l, err));
    l->found[k] = 1;
    if (k == l->next) {
        add_column(l, a);
        add_held(l);
        return ROOFS_OK;
    }
    TRY(memory_get(&l->held[k], l->n, sizeof(double), "a feature that is not next", err));
    for (int64_t at = first_place(a); at < end_place(a); at++)
        l->held[k][sample_at(a, at)] = block_value(a->column, at);
    return ROOFS_OK;
}

/* ---- whole streams ----------------------------------------------------- */

roofs_status lookup_in_place(lookup *l, source *s, int *matches, roofs_error *err)
{
    int64_t at = 0;
    for (int64_t k = 0; k < l->model->selected; k++) {
        const roofs_feature *f = &l->model->features[k];
        roofs_block column = {0};
        TRY(source_skip(s, f->index - at, err));
        TRY(source_next(s, 1, &column, err));
        if (interrupt_signal())
            return ROOFS_CANCELLED;
        int other = column.count == 0 ||
                    (l->named && column.names && strcmp(f->name, column.names[0]) != 0);
        if (other) {
            lookup_restart(l);
            *matches = 0;
            return ROOFS_OK;
        }
        TRY(add_feature(l, k, &(arrival){&column, f->index}, err));
        at = f->index + 1;
    }
    if (l->model->selected == 0)
        TRY(source_next(s, 1, &(roofs_block){0}, err));
    *matches = 1;
    return lookup_begin(l, err);
}

/* The index of the feature in the model; -1 if it is not selected. */
static int64_t find_in_model(const lookup *l, const arrival *a)
{
    const roofs_result *m = l->model;
    int named = l->named && a->column->names;
    int64_t low = 0, high = m->selected;
    while (low < high) {
        int64_t middle = low + (high - low) / 2;
        int64_t k = named ? l->sorted[middle].place : middle;
        const roofs_feature *f = &m->features[k];
        int order =
            named ? strcmp(a->column->names[0], f->name) : (a->at > f->index) - (a->at < f->index);
        if (order == 0)
            return k;
        if (order < 0)
            high = middle;
        else
            low = middle + 1;
    }
    return -1;
}

static roofs_status fail_missing(const lookup *l, int64_t seen, roofs_error *err)
{
    enum { NAMED = 10 };
    char list[700] = "";
    int64_t missing = 0;
    for (int64_t k = 0; k < l->model->selected; k++) {
        const roofs_feature *f = &l->model->features[k];
        if (l->found[k] || missing++ >= NAMED)
            continue;
        size_t used = strlen(list);
        if (f->name)
            snprintf(list + used, sizeof list - used, "%s%.60s", used ? ", " : "", f->name);
        else
            snprintf(list + used, sizeof list - used, "%s%" PRId64, used ? ", " : "", f->index);
    }
    return fail(err, ROOFS_BAD_DATA,
                "%" PRId64 " of the %" PRId64 " features of the model %s not among the %" PRId64
                " features of the files: %s%s",
                missing, l->model->selected, missing == 1 ? "is" : "are", seen, list,
                missing > NAMED ? ", ..." : "");
}

/* True if a value stands for an absent feature. */
static int may_be_absent(const lookup *l, int64_t k)
{
    return l->absent_is_zero || (l->absent_value && !isnan(l->absent_value[k]));
}

/* Adds a feature that has the same value for every sample. */
static void add_constant(lookup *l, double value)
{
    const double term = l->model->features[l->next].coef * value;
    if (l->variance)
        add_variance(l, 0, l->n, value);
    for (int64_t i = 0; i < l->n && value != 0; i++)
        add_term(l, i, term);
    l->next++;
}

/* Completes the sum where features are absent and have a value all the same. Returns 0 if one has
 * none, or if no feature was found, because then the names are probably wrong. */
static int add_absent(lookup *l)
{
    int64_t found = 0;
    for (int64_t k = 0; k < l->model->selected; k++) {
        found += l->found[k];
        if (!l->found[k] && !may_be_absent(l, k))
            return 0;
    }
    if (found == 0)
        return 0;
    l->absent = l->model->selected - found;
    while (l->next < l->model->selected)
        if (l->held[l->next])
            add_held(l);
        else
            add_constant(l, l->absent_is_zero ? 0 : l->absent_value[l->next]);
    return 1;
}

roofs_status lookup_scan(lookup *l, source *s, roofs_error *err)
{
    enum { TOGETHER = 16 };
    int64_t at = 0;
    lookup_restart(l);
    memset(l->found, 0, (size_t)l->model->selected);
    for (;;) {
        roofs_block block = {0};
        TRY(source_next(s, TOGETHER, &block, err));
        if (interrupt_signal())
            return ROOFS_CANCELLED;
        for (int64_t k = 0; k < block.count; k++, at++) {
            roofs_block column = block_feature(&block, k);
            arrival a = {&column, at};
            int64_t which = find_in_model(l, &a);
            if (which >= 0 && !l->found[which])
                TRY(add_feature(l, which, &a, err));
        }
        if (block.count == 0 || l->next == l->model->selected)
            break;
    }
    if (l->next == l->model->selected || add_absent(l))
        return lookup_begin(l, err);
    return fail_missing(l, at, err);
}
