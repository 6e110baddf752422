#include "linalg/columns.h"

#include "base/block.h"
#include "base/memory.h"
#include "linalg/columns_split.h"
#include "linalg/vector.h"

#include <limits.h>
#include <math.h>
#include <string.h>

/* Sums of products of values within these bounds can neither overflow nor underflow. Columns with
 * other values are stored times a power of two, which is exact. */
static const double VALUE_HIGH = 0x1p300, VALUE_LOW = 0x1p-300;

roofs_status columns_create(columns *c, const device_ops *ops, const device_shape *shape,
                            roofs_error *err)
{
    *c = (columns){.ops = ops,
                   .n = shape->n,
                   .dtype = shape->dtype,
                   .keeps_packed = shape->keeps_packed && ops->packs};
    TRY(memory_reserve(&c->facts, shape->batch, sizeof *c->facts, "a batch", err));
    TRY(memory_reserve(&c->known, shape->batch, sizeof *c->known, "a batch", err));
    return ops->create(&c->dev, shape, err);
}

void columns_reset(columns *c)
{
    for (int64_t j = 0; j < c->count; j++)
        memory_free(c->items[j].name);
    c->count = 0;
}

void columns_destroy(columns *c)
{
    columns_reset(c);
    if (c->ops)
        c->ops->destroy(c->dev);
    memory_free(c->items);
    memory_free(c->places);
    memory_free(c->leaving);
    memory_free(c->leaving_coef);
    memory_free(c->leaving_variance);
    memory_free(c->free_slots);
    memory_free(c->facts);
    memory_free(c->known);
    memory_free(c->samples);
    memory_free(c->gathered);
    *c = (columns){0};
}

int64_t columns_list_bytes(const device_shape *shape)
{
    const int64_t each =
        sizeof(column) + 2 * sizeof(device_column) + 2 * sizeof(double) + sizeof(int64_t);
    int64_t lists = memory_bytes(shape->slots + shape->batch, 2 * each);
    int64_t batch = memory_bytes(shape->batch, sizeof(device_facts) + 1);
    return memory_sum(lists, batch);
}

roofs_status columns_reserve(columns *c, int64_t more, roofs_error *err)
{
    const char *what = "the list of features";
    int64_t need = c->count + more, *capacity = c->capacity;
    TRY(memory_grow(&c->items, &capacity[0], need, sizeof *c->items, what, err));
    TRY(memory_grow(&c->places, &capacity[1], need, sizeof *c->places, what, err));
    TRY(memory_grow(&c->leaving, &capacity[2], need, sizeof *c->leaving, what, err));
    TRY(memory_grow(&c->leaving_coef, &capacity[3], need, sizeof *c->leaving_coef, what, err));
    TRY(memory_grow(&c->leaving_variance, &capacity[5], need, sizeof *c->leaving_variance, what,
                    err));
    return memory_grow(&c->free_slots, &capacity[4], need, sizeof *c->free_slots, what, err);
}

static roofs_status not_finite(const columns *c, const roofs_block *block, int64_t k, int64_t first,
                               int64_t sample, roofs_error *err)
{
    const int on_device = c->ops->holds && c->ops->holds(block->values);
    const char *why =
        on_device
            ? "not a finite number in the storage type; fill or leave out missing values, or set "
              "storage to f64"
        : isfinite(block_at(block, k, sample))
            ? "too large for 32-bit storage; set storage to f64"
            : "not a finite number; fill or leave out missing values first";
    fail(err, ROOFS_BAD_DATA, "feature %s: the value of sample %lld (counted from 0) is %s",
         block_label(block, k, first).text, (long long)(comm_first(c->comm) + sample), why);
    return blame(err, first + k, ROOFS_BAD_DATA);
}

static int is_scaled(const ingest_options *options)
{
    return options->standardize || options->unit_scale;
}

static roofs_status survey_batch(columns *c, const ingest_options *options, roofs_error *err)
{
    int needs_weight = is_scaled(options) || options->refuse_constant || options->flatness;
    survey_options how = {.weight = needs_weight ? options->weight : NULL,
                          .weight_on_device = options->weight_on_device,
                          .total = needs_weight ? vector_sum(options->weight, c->n) : 0,
                          .centred = options->standardize,
                          .flatness = options->flatness};
    c->ops->survey(c->dev, &how, c->facts);
    return c->ops->deferred ? c->ops->deferred(c->dev, err) : ROOFS_OK;
}

/* Rescales extreme columns and records the exponents in the items. */
static roofs_status rescale_extremes(columns *c, const roofs_block *block,
                                     const ingest_options *options, roofs_error *err)
{
    int changed = 0;
    for (int64_t k = 0; k < block->count; k++) {
        double largest = c->facts[k].largest;
        int exponent = 0;
        if (largest > VALUE_HIGH || (largest > 0 && largest < VALUE_LOW))
            frexp(largest, &exponent);
        c->items[c->count + k].exponent = exponent;
        if (exponent != 0)
            TRY(c->ops->rescale(c->dev, k, exponent, err));
        changed |= exponent != 0;
    }
    if (!changed)
        return ROOFS_OK;
    TRY(survey_batch(c, options, err));
    return split_facts(c, block->count, options, err);
}

static roofs_status borrow_block(const columns *c, const roofs_block *block, roofs_error *err)
{
    if (c->shares && c->ops->borrow_shared)
        return c->ops->borrow_shared(c->dev, c->shares->dev, block, err);
    return c->ops->borrow(c->dev, block, err);
}

/* Computes the facts of this rank's samples. */
static roofs_status survey_own(columns *c, const roofs_block *block, int64_t first,
                               const ingest_options *options, roofs_error *err)
{
    if (block_is_sparse(block))
        TRY(block_check_pattern(block, first, err));
    TRY(borrow_block(c, block, err));
    TRY(survey_batch(c, options, err));
    for (int64_t k = 0; k < block->count; k++)
        if (c->facts[k].not_finite >= 0)
            return not_finite(c, block, k, first, c->facts[k].not_finite, err);
    return ROOFS_OK;
}

static roofs_status survey_all(columns *c, const roofs_block *block, int64_t first,
                               const ingest_options *options, roofs_error *err)
{
    c->has_sparse |= block_is_sparse(block);
    TRY(comm_agree(c->comm, survey_own(c, block, first, options, err), err));
    TRY(split_facts(c, block->count, options, err));
    return rescale_extremes(c, block, options, err);
}

/* Without scaling, a gradient step has the user's units: the coefficient of a column that is stored
 * times 2^-e moves 2^2e times as far, relative to the column with the largest e. */
static void set_units(columns *c)
{
    int top = INT_MIN;
    for (int64_t j = 0; j < c->count; j++)
        top = c->items[j].exponent > top ? c->items[j].exponent : top;
    c->unit_exponent = c->scaled || c->count == 0 ? 0 : top;
    for (int64_t j = 0; j < c->count; j++)
        c->places[j].unit =
            c->scaled || c->items[j].exponent == top ? 1.0 : ldexp(1.0, c->items[j].exponent - top);
}

/* The scale is also 0 if the spread underflows. */
static int is_constant(const device_facts *facts, const ingest_options *options)
{
    return (options->refuse_constant && facts->constant) ||
           (is_scaled(options) && !(facts->scale > 0));
}

/* known[k] = 1 if feature first + k is already among the columns. */
static void find_known(const columns *c, int64_t first, int64_t count, unsigned char *known)
{
    memset(known, 0, (size_t)count);
    for (int64_t j = 0; j < c->count; j++) {
        int64_t k = c->items[j].feature - first;
        if (k >= 0 && k < count)
            known[k] = 1;
    }
}

static int64_t bytes_of_feature(const columns *c, const roofs_block *block, int64_t k)
{
    const int is_packed = c->keeps_packed && dtype_is_packed(block->dtype);
    if (!block_is_sparse(block))
        return dtype_bytes(is_packed ? block->dtype : c->dtype, c->n);
    return (block_start(block, k + 1) - block_start(block, k)) *
           (dtype_size(c->dtype) + (int64_t)sizeof(int32_t));
}

static roofs_status add_feature(columns *c, const roofs_block *block, int64_t k, int64_t first,
                                const ingest_options *options, int exponent, roofs_error *err)
{
    const device_facts *facts = &c->facts[k];
    column *item = &c->items[c->count];
    *item = (column){.feature = first + k,
                     .exponent = exponent,
                     .flatness = facts->flatness,
                     .bytes = bytes_of_feature(c, block, k)};
    if (block->names)
        TRY(memory_copy_text(&item->name, block->names[k], err));
    c->places[c->count++] = (device_column){
        .place = -1 - k,
        .center = options->standardize ? facts->mean : 0.0,
        .factor = is_scaled(options) ? 1.0 / facts->scale : 1.0,
    };
    return ROOFS_OK;
}

roofs_status columns_arrive(columns *c, const roofs_block *block, int64_t first,
                            const ingest_options *options, roofs_error *err)
{
    TRY(columns_reserve(c, block->count, err));
    find_known(c, first, block->count, c->known);
    TRY(survey_all(c, block, first, options, err));
    for (int64_t k = 0, base = c->count; k < block->count; k++) {
        int exponent = c->items[base + k].exponent;
        c->bytes_read += (double)bytes_of_feature(c, block, k);
        if (c->known[k])
            continue;
        if (is_constant(&c->facts[k], options))
            c->constant++;
        else
            TRY(add_feature(c, block, k, first, options, exponent, err));
    }
    c->scaled = is_scaled(options);
    set_units(c);
    return ROOFS_OK;
}

/* The places of columns which[0..count), of all columns if `which` is NULL, which a product reads
 * now. */
static const device_column *places_of(columns *c, const int64_t *which, int64_t count)
{
    for (int64_t k = 0; k < count; k++)
        c->bytes_read += (double)c->items[which ? which[k] : k].bytes;
    if (!which)
        return c->places;
    for (int64_t k = 0; k < count; k++)
        c->leaving[k] = c->places[which[k]];
    return c->leaving;
}

void columns_descend(columns *c, const int64_t *which, int64_t count, const double *r,
                     double *gradient, double *image)
{
    const device_column *places = places_of(c, which, count);
    if (comm_is_alone(c->comm))
        c->ops->products->descend(c->dev, places, count, r, gradient, image);
    else
        split_descend(c, places, count, r, gradient, image);
}

void columns_products(columns *c, const int64_t *which, int64_t count, const double *r, double *out)
{
    c->ops->products->inner(c->dev, places_of(c, which, count), count, r, out);
    comm_sum(c->comm, out, count);
}

void columns_gram(columns *c, const int64_t *which, int64_t count, const double *weight,
                  double *gram)
{
    c->ops->products->gram(c->dev, places_of(c, which, count), count, weight, gram);
    comm_sum(c->comm, gram, count * count);
}

/* z from the values that the device stores. */
static void standardise(const device_values *x, const device_column *place, int64_t n, double *out)
{
    for (int64_t i = 0; i < n && x->samples; i++)
        out[i] = (0 - place->center) * place->factor;
    for (int64_t k = 0; k < x->count; k++)
        out[x->samples ? x->samples[k] : k] = (device_value(x, k) - place->center) * place->factor;
}

roofs_status columns_fetch(columns *c, int64_t j, double *out, roofs_error *err)
{
    const double one = 1;
    device_values x;
    if (!c->ops->products) {
        TRY(c->ops->fetch(c->dev, c->places[j].place, &x, err));
        standardise(&x, &c->places[j], c->n, out);
        return ROOFS_OK;
    }
    memset(out, 0, (size_t)c->n * sizeof *out);
    columns_add(c, &j, 1, &one, out);
    return ROOFS_OK;
}

void columns_sample(columns *c, const int64_t *which, int64_t count, int64_t sample, double *out)
{
    c->ops->products->sample(c->dev, places_of(c, which, count), count, sample, out);
}

void columns_take(columns *c, int64_t j, int64_t first, int64_t stride, int64_t count, float *out)
{
    c->ops->products->take(c->dev, &c->places[j], first, stride, count, out);
}

void columns_add(columns *c, const int64_t *which, int64_t count, const double *weight, double *out)
{
    c->ops->products->add(c->dev, places_of(c, which, count), count, weight, out);
}

void columns_add_squares(columns *c, const int64_t *which, int64_t count, const double *weight,
                         double *out)
{
    c->ops->products->add_squares(c->dev, places_of(c, which, count), count, weight, out);
}

void columns_centre(columns *c, const int64_t *which, int64_t count, const double *weight,
                    double total, double *scratch)
{
    columns_products(c, which, count, weight, scratch);
    for (int64_t k = 0; k < count; k++) {
        device_column *place = &c->places[which ? which[k] : k];
        place->center += scratch[k] / total / place->factor;
    }
}

void columns_drop(columns *c, const unsigned char *keep, double *r, double *variance)
{
    int64_t kept = 0, leaving = 0;
    for (int64_t j = 0; j < c->count; j++) {
        if (keep[j]) {
            c->items[kept] = c->items[j];
            c->places[kept++] = c->places[j];
        } else {
            c->leaving[leaving] = c->places[j];
            c->leaving_coef[leaving] = c->items[j].coef;
            c->leaving_variance[leaving++] = -c->items[j].variance;
            c->bytes_read += r ? (double)c->items[j].bytes : 0;
            memory_free(c->items[j].name);
            if (c->places[j].place >= 0) /* the next columns_settle frees the slot */
                c->free_slots[c->free_count++] = c->places[j].place;
        }
    }
    c->count = kept;
    if (r)
        c->ops->products->add(c->dev, c->leaving, leaving, c->leaving_coef, r);
    if (variance)
        c->ops->products->add_squares(c->dev, c->leaving, leaving, c->leaving_variance, variance);
}

void columns_sweep(columns *c, const int64_t *which, int64_t count, const device_sweep *how)
{
    const int64_t swept = which ? count : c->count;
    const device_column *places = places_of(c, which, swept);
    if (comm_is_alone(c->comm))
        c->ops->products->sweep(c->dev, places, swept, how);
    else
        split_sweep(c, places, swept, how);
}

static roofs_status settle_own(columns *c, int64_t *settled, roofs_error *err)
{
    *settled = 0;
    while (c->released < c->free_count)
        c->ops->release(c->dev, c->free_slots[c->released++]);
    for (int64_t j = 0; j < c->count; j++) {
        device_place *place = &c->places[j].place;
        if (*place >= 0)
            continue;
        int64_t slot = c->free_count > 0 ? c->free_slots[--c->free_count] : c->slots_used++;
        TRY(c->ops->keep(c->dev, -1 - *place, slot, err));
        c->released = c->free_count;
        *place = slot;
        ++*settled;
    }
    if (c->ops->complete)
        c->ops->complete(c->dev);
    return ROOFS_OK;
}

roofs_status columns_settle(columns *c, int64_t *settled, roofs_error *err)
{
    return comm_agree(c->comm, settle_own(c, settled, err), err);
}
