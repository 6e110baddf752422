/* Another order of a stream is a rotation: the second part of the features, then the first. Within
 * each batch the features are permuted. Every format can be read this way in bounded memory: it is
 * opened twice, and skips the first part once. */
#include "cli/orders.h"

#include "base/block.h"
#include "base/memory.h"
#include "base/random.h"
#include "cli/interrupt.h"
#include "cli/print.h"
#include "cli/process_comm.h"
#include "cli/progress.h"
#include "cli/top.h"
#include "stream/sparse.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { PURPOSE = 78 }; /* of the random numbers */

/* The features that one order selects: places in the order of the files, ascending. */
typedef struct selection {
    int64_t *features;
    int64_t count;
} selection;

struct orders {
    orders_question q;
    selection *selected; /* of each order */
    int64_t done;        /* orders whose selection is known */
    double *low, *high;  /* of the fitted values of each sample, over the orders */
    double noise;        /* of the first fit: root mean square of the trusted residuals */

    /* a batch in another order */
    int64_t *places; /* place k of the batch gets feature places[k] of the block */
    void *values;
    double *level; /* of values of type 2BIT */
    int64_t level_capacity;
    int64_t value_bytes;
    const char **names;
    sparse entries;

    progress bar;
    int64_t features_read;
};

/* ---- orders ------------------------------------------------------------ */

static int64_t batch_of(const orders *o, int64_t left)
{
    return left < o->q.settings.batch ? left : o->q.settings.batch;
}

/* The features before this place come last in order k. */
static int64_t rotation_of(const orders *o, int64_t k)
{
    return (int64_t)((double)o->q.features * (double)k / (double)o->q.orders);
}

/* Fills o->places for the batch of `count` features that begins with feature `first`. */
static void permute_places(orders *o, int64_t k, int64_t first, int64_t count)
{
    const random_key key = {.seed = ((uint64_t)k << 44) + (uint64_t)first, .stream = PURPOSE};
    random_permutation(key, count, o->places);
}

/* The place in the files of the feature that arrives at `position` in order k. */
static int64_t original_place(orders *o, int64_t k, int64_t position)
{
    const int64_t rotation = k > 0 ? rotation_of(o, k) : 0, behind = o->q.features - rotation;
    if (k == 0)
        return position;
    const int64_t base = position < behind ? rotation : 0;
    const int64_t end = position < behind ? o->q.features : rotation;
    const int64_t offset = position < behind ? position : position - behind;
    const int64_t first = base + offset / o->q.settings.batch * o->q.settings.batch;
    permute_places(o, k, first, batch_of(o, end - first));
    return first + o->places[base + offset - first];
}

/* ---- a batch in another order ------------------------------------------ */

static roofs_status permute_sparse(orders *o, roofs_block *block, roofs_error *err)
{
    sparse_clear(&o->entries);
    o->entries.n = block->n;
    for (int64_t k = 0; k < block->count; k++) {
        const roofs_block one = block_feature(block, o->places[k]);
        TRY(sparse_append(&o->entries, &one, err));
    }
    sparse_view(&o->entries, 0, o->entries.count, block);
    return ROOFS_OK;
}

/* The values of a feature are in one piece: see source_next. */
static roofs_status permute_dense(orders *o, roofs_block *block, roofs_error *err)
{
    const int64_t each = dtype_bytes(block->dtype, block->n);
    const int64_t needed = memory_bytes(block->count, each);
    TRY(memory_grow(&o->level, &o->level_capacity, 4 * block->count, sizeof *o->level,
                    "a batch in another order", err));
    if (o->value_bytes < needed) {
        memory_free(o->values);
        o->value_bytes = 0;
        TRY(memory_reserve(&o->values, needed, 1, "a batch in another order", err));
        o->value_bytes = needed;
    }
    for (int64_t k = 0; k < block->count; k++) {
        const roofs_block one = block_feature(block, o->places[k]);
        memcpy((char *)o->values + k * each, one.values, (size_t)each);
        if (one.levels)
            memcpy(o->level + 4 * k, one.levels, 4 * sizeof *o->level);
    }
    block->values = o->values;
    block->levels = block->levels ? o->level : NULL;
    block->feature_stride = block->dtype == ROOFS_2BIT ? each : block->n;
    return ROOFS_OK;
}

static roofs_status permute_batch(orders *o, int64_t k, int64_t first, roofs_block *block,
                                  roofs_error *err)
{
    const char *const *names = block->names;
    permute_places(o, k, first, block->count);
    for (int64_t j = 0; names && j < block->count; j++)
        o->names[j] = names[o->places[j]];
    TRY((block_is_sparse(block) ? permute_sparse : permute_dense)(o, block, err));
    block->names = names ? o->names : NULL;
    return ROOFS_OK;
}

/* ---- a fit ------------------------------------------------------------- */

static int monitor_order(void *user, const roofs_progress *now)
{
    orders *o = user;
    char detail[200];
    snprintf(detail, sizeof detail, "order %s of %s  selected %s", text_of_count(o->done + 1).text,
             text_of_count(o->q.orders).text, text_of_count(now->selected).text);
    progress_show(&o->bar, o->features_read, detail);
    return interrupt_signal() ? ROOFS_MONITOR_STOP : ROOFS_MONITOR_CONTINUE;
}

static roofs_status changed_files(const orders *o, int64_t found, roofs_error *err)
{
    return fail(err, ROOFS_BAD_DATA,
                "--orders: the files have ended after %lld features, but had %lld before; did the "
                "data change?",
                (long long)found, (long long)o->q.features);
}

static roofs_status read_batch(orders *o, source *s, int64_t k, int64_t left, roofs_block *block,
                               roofs_error *err)
{
    const double start = seconds_now();
    const int64_t first = source_position(s);
    roofs_status status = source_next(s, batch_of(o, left), block, err);
    if (status == ROOFS_OK && block->count < batch_of(o, left))
        status = changed_files(o, first + block->count, err);
    if (status == ROOFS_OK)
        status = permute_batch(o, k, first, block, err);
    if (status == ROOFS_OK && interrupt_signal())
        status = fail(err, ROOFS_CANCELLED, "interrupted");
    o->q.times->reading += seconds_now() - start;
    return comm_agree(o->q.comm, status, err);
}

/* Gives the features from `first` to before `end` to the fit. */
static roofs_status read_between(orders *o, roofs_estimator *e, int64_t k, int64_t first,
                                 int64_t end, roofs_error *err)
{
    source *s = NULL;
    roofs_block block = {0};
    if (first == end)
        return ROOFS_OK;
    roofs_status status = o->q.open(o->q.user, &s, err);
    if (status == ROOFS_OK)
        status = source_skip(s, first, err);
    status = comm_agree(o->q.comm, status, err);
    for (int64_t at = first; status == ROOFS_OK && at < end; at += block.count) {
        status = read_batch(o, s, k, end - at, &block, err);
        if (status == ROOFS_OK)
            status = roofs_consume(e, &block, err);
        o->features_read += block.count;
    }
    source_close(s);
    return status;
}

static roofs_status read_order(orders *o, roofs_estimator *e, int64_t k, roofs_error *err)
{
    const int64_t rotation = rotation_of(o, k);
    TRY(read_between(o, e, k, rotation, o->q.features, err));
    return read_between(o, e, k, 0, rotation, err);
}

static roofs_status fit_passes_of(orders *o, roofs_estimator *e, int64_t k, roofs_error *err)
{
    roofs_set_monitor(e, monitor_order, o);
    TRY(read_order(o, e, k, err));
    while (roofs_wants_pass(e)) {
        TRY(roofs_next_pass(e, err));
        if (o->q.settings.passes == 0)
            o->bar.total += o->q.features; /* the number of passes was not known */
        TRY(read_order(o, e, k, err));
    }
    return roofs_finish(e, err);
}

/* ---- results ----------------------------------------------------------- */

static int by_place(const void *left, const void *right)
{
    const int64_t a = *(const int64_t *)left, b = *(const int64_t *)right;
    return (a > b) - (a < b);
}

/* Records the selection and the fitted values of order o->done. */
static roofs_status record_order(orders *o, const roofs_result *r, roofs_error *err)
{
    selection *s = &o->selected[o->done];
    TRY(memory_get(&s->features, r->selected, sizeof *s->features, "the orders", err));
    for (int64_t k = 0; k < r->selected; k++)
        if (feature_is_selected(r, k))
            s->features[s->count++] = original_place(o, o->done, r->features[k].index);
    if (s->count > 0)
        qsort(s->features, (size_t)s->count, sizeof *s->features, by_place);
    for (int64_t i = 0; i < o->q.n; i++) {
        const double fitted = o->q.y[i] - r->residual[i];
        o->low[i] = o->done == 0 ? fitted : fmin(o->low[i], fitted);
        o->high[i] = o->done == 0 ? fitted : fmax(o->high[i], fitted);
    }
    o->done++;
    return ROOFS_OK;
}

/* The root mean square of the trusted residuals; where it is zero, the rounding of the responses.
 */
static double noise_of(const orders *o, const roofs_result *r)
{
    double squares = 0, largest = 0;
    for (int64_t i = 0; i < o->q.n; i++) {
        squares += r->trust[i] ? r->residual[i] * r->residual[i] : 0;
        largest = fmax(largest, fabs(o->q.y[i]));
    }
    squares = comm_sum_of(o->q.comm, squares);
    largest = comm_largest_of(o->q.comm, largest);
    const double noise = r->trusted > 0 ? sqrt(squares / (double)r->trusted) : 0;
    return fmax(fmax(noise, DBL_EPSILON * largest), DBL_MIN);
}

static int has_feature(const selection *s, int64_t place)
{
    return s->count > 0 &&
           bsearch(&place, s->features, (size_t)s->count, sizeof place, by_place) != NULL;
}

static double jaccard_of(const selection *a, const selection *b)
{
    int64_t both = 0;
    for (int64_t k = 0; k < a->count; k++)
        both += has_feature(b, a->features[k]);
    const int64_t either = a->count + b->count - both;
    return either > 0 ? (double)both / (double)either : 1;
}

static double mean_jaccard(const orders *o)
{
    double sum = 0;
    for (int64_t a = 0; a < o->done; a++)
        for (int64_t b = 0; b < a; b++)
            sum += jaccard_of(&o->selected[a], &o->selected[b]);
    return sum / ((double)o->done * (double)(o->done - 1) / 2);
}

static double largest_change(const orders *o)
{
    double change = 0;
    for (int64_t i = 0; i < o->q.n; i++)
        change = fmax(change, o->high[i] - o->low[i]);
    return fmin(comm_largest_of(o->q.comm, change) / o->noise, DBL_MAX);
}

roofs_status orders_store(const orders *o, roofs_model *model, roofs_error *err)
{
    roofs_result view;
    double *frequency = NULL;
    roofs_model_view(model, &view);
    TRY(memory_get(&frequency, view.selected, sizeof *frequency, "the orders", err));
    for (int64_t k = 0; k < view.selected; k++) {
        int64_t count = 0;
        for (int64_t each = 0; each < o->done; each++)
            count += has_feature(&o->selected[each], view.features[k].index);
        frequency[k] = (double)count / (double)o->done;
    }
    const double change = largest_change(o);
    roofs_status status = comm_status(o->q.comm, err);
    if (status == ROOFS_OK)
        status = roofs_model_set_orders(model, o->done, frequency, mean_jaccard(o), change, err);
    memory_free(frequency);
    return status;
}

/* ---- all orders -------------------------------------------------------- */

static roofs_status fit_order(orders *o, int64_t k, roofs_error *err)
{
    roofs_estimator *e = NULL;
    roofs_result view;
    const double start = seconds_now(), reading = o->q.times->reading;
    TRY(roofs_create_weighted(&e, &o->q.settings, o->q.y, o->q.weight, o->q.n, process_comm(),
                              err));
    roofs_status status = fit_passes_of(o, e, k, err);
    if (status == ROOFS_OK)
        status = roofs_view(e, &view, err);
    if (status == ROOFS_OK)
        status = comm_agree(o->q.comm, record_order(o, &view, err), err);
    o->q.times->fitting += seconds_now() - start - (o->q.times->reading - reading);
    roofs_destroy(e);
    return status;
}

roofs_status orders_fit(orders *o, roofs_error *err)
{
    const int64_t passes = o->q.settings.passes > 0 ? o->q.settings.passes : 1;
    roofs_status status = ROOFS_OK;
    progress_begin(&o->bar, "other orders", o->q.features * (o->q.orders - 1) * passes, o->q.quiet);
    for (int64_t k = 1; status == ROOFS_OK && k < o->q.orders; k++)
        status = fit_order(o, k, err);
    progress_end(&o->bar);
    return status;
}

static roofs_status orders_allocate(orders *o, roofs_error *err)
{
    const int64_t n = o->q.n, batch = batch_of(o, o->q.features);
    TRY(memory_get(&o->selected, o->q.orders, sizeof *o->selected, "the orders", err));
    TRY(memory_get(&o->low, 2 * n, sizeof *o->low, "the orders", err));
    TRY(memory_get(&o->places, batch, sizeof *o->places, "the orders", err));
    TRY(memory_get(&o->names, batch, sizeof *o->names, "the orders", err));
    o->high = o->low + n;
    return ROOFS_OK;
}

roofs_status orders_begin(orders **out, const orders_question *q, const roofs_result *result,
                          roofs_error *err)
{
    TRY(memory_get(out, 1, sizeof **out, "the orders", err));
    orders *o = *out;
    o->q = *q;
    TRY(orders_allocate(o, err));
    o->noise = noise_of(o, result);
    return record_order(o, result, err);
}

void orders_end(orders *o)
{
    if (!o)
        return;
    for (int64_t k = 0; o->selected && k < o->q.orders; k++)
        memory_free(o->selected[k].features);
    memory_free(o->selected);
    memory_free(o->low);
    memory_free(o->places);
    memory_free(o->names);
    memory_free(o->values);
    memory_free(o->level);
    sparse_free(&o->entries);
    memory_free(o);
}
