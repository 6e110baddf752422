#include "linalg/columns_split.h"

#include "base/memory.h"
#include "linalg/moments_formula.h"
#include "linalg/vector.h"

#include <math.h>
#include <string.h>

/* The most columns, and about the most values of them, whose products are summed over the ranks at
 * once. The work on so many values hides the delay of the network, and they still fit in a cache
 * when the sums arrive. */
enum { WIDTH = 32, BLOCK_VALUES = 1 << 18 };

/* With fewer samples per rank, a message takes longer than the work on four columns. */
enum { SHORT_SHARD = 1 << 14 };

roofs_status columns_split(columns *c, comm *ranks, roofs_error *err)
{
    c->comm = ranks;
    if (comm_is_alone(ranks))
        return ROOFS_OK;
    return memory_get(&c->samples, c->n, sizeof *c->samples, "partial sums", err);
}

/* ---- facts ------------------------------------------------------------- */

/* The facts of a rank about a feature. */
typedef struct own_facts {
    double weight; /* of its samples */
    double mean, scale, largest;
    double value; /* of its first sample with a weight; NAN if none has one */
    double constant;
} own_facts;

static void gather_own_facts(const columns *c, int64_t count, const double *weight, own_facts *mine)
{
    const double total = weight ? vector_sum(weight, c->n) : 0;
    const int64_t first = weight ? moments_origin(weight, c->n) : 0;
    const int has_value = weight && c->n > 0 && has_weight(weight[first]);
    for (int64_t k = 0; k < count; k++) {
        const device_facts *f = &c->facts[k];
        const device_column bare = {.place = -1 - k, .factor = 1};
        mine[k] = (own_facts){.weight = total,
                              .mean = total > 0 ? f->mean : 0,
                              .scale = total > 0 ? f->scale : 0,
                              .largest = f->largest,
                              .value = NAN,
                              .constant = f->constant};
        if (has_value)
            c->ops->products->sample(c->dev, &bare, 1, first, &mine[k].value);
    }
}

/* all: the facts of one feature, one per rank, `count` apart. Squares are added in units of the
 * largest scale, so that they can neither overflow nor underflow. */
static device_facts join_facts(const own_facts *all, int64_t ranks, int64_t count, int centred)
{
    device_facts f = {.not_finite = -1, .constant = 1};
    double weight = 0, off = 0, unit = 0, squares = 0;
    const own_facts *heavy = NULL; /* the first rank with a weight */
    double value = NAN;            /* of the first rank that has a value */
    for (int64_t p = 0; p < ranks; p++) {
        const own_facts *own = &all[p * count];
        f.largest = fmax(f.largest, own->largest);
        if (!(own->weight > 0))
            continue;
        heavy = heavy ? heavy : own;
        value = isnan(value) ? own->value : value;
        f.constant &= isnan(own->value) || (own->constant != 0 && own->value == value);
        weight += own->weight;
        off += own->weight * (own->mean - heavy->mean);
    }
    if (!heavy)
        return f;
    f.mean = heavy->mean + off / weight;
    for (int64_t p = 0; p < ranks; p++) {
        const own_facts *own = &all[p * count];
        unit = fmax(unit, fmax(own->scale, centred ? fabs(own->mean - f.mean) : 0));
    }
    for (int64_t p = 0; p < ranks && unit > 0; p++) {
        const own_facts *own = &all[p * count];
        double within = own->scale / unit, between = centred ? (own->mean - f.mean) / unit : 0;
        squares += own->weight * (within * within + between * between);
    }
    f.scale = unit * sqrt(squares / weight);
    return f;
}

/* Runs after the means and scales of all samples are known. */
static void find_flatness(columns *c, int64_t count, const ingest_options *options, double *fourths)
{
    const double one = 1, *weight = options->weight;
    double total = comm_total(c->comm, weight, c->n);
    for (int64_t k = 0; k < count; k++) {
        const device_facts *f = &c->facts[k];
        const device_column own = {.place = -1 - k,
                                   .center = options->standardize ? f->mean : 0,
                                   .factor = f->scale > 0 ? 1 / f->scale : 0};
        memset(c->samples, 0, (size_t)c->n * sizeof *c->samples);
        c->ops->products->add_squares(c->dev, &own, 1, &one, c->samples);
        fourths[k] = 0;
        for (int64_t i = 0; i < c->n; i++)
            fourths[k] += weight[i] * (c->samples[i] * c->samples[i]);
    }
    comm_sum(c->comm, fourths, count);
    for (int64_t k = 0; k < count; k++)
        c->facts[k].flatness = fourths[k] > 0 ? flatness_of(fourths[k], total) : 0;
}

roofs_status split_facts(columns *c, int64_t count, const ingest_options *options, roofs_error *err)
{
    if (comm_is_alone(c->comm))
        return ROOFS_OK;
    const int64_t ranks = c->comm->with.size, each = sizeof(own_facts) / sizeof(double);
    TRY(memory_grow(&c->gathered, &c->gathered_capacity, (ranks + 1) * count * each,
                    sizeof *c->gathered, "the facts of all ranks", err));
    own_facts *mine = (own_facts *)c->gathered, *all = mine + count;
    int weighs = options->standardize || options->unit_scale || options->refuse_constant;
    gather_own_facts(c, count, weighs ? options->weight : NULL, mine);
    comm_gather(c->comm, mine, count * (int64_t)sizeof *mine, all);
    for (int64_t k = 0; k < count; k++)
        c->facts[k] = join_facts(all + k, ranks, count, options->standardize);
    if (options->flatness)
        find_flatness(c, count, options, c->gathered);
    return comm_status(c->comm, err);
}

/* ---- a step along the gradient ----------------------------------------- */

/* Adds columns first..first + count - 1 to the image; gradient[] has their products, summed over
 * the ranks. */
static void add_image(columns *c, const device_column *places, int64_t first, int64_t count,
                      double *gradient, double *image)
{
    double weight[WIDTH];
    for (int64_t k = 0; k < count; k++) {
        gradient[first + k] *= places[first + k].unit;
        weight[k] = gradient[first + k] * places[first + k].unit;
    }
    c->ops->products->add(c->dev, places + first, count, weight, image);
}

/* The result is the same on all ranks. */
static int64_t block_width(const columns *c)
{
    const int64_t shard = c->comm->total / c->comm->with.size + 1;
    const int64_t blocks = (BLOCK_VALUES / shard + DEVICE_BLOCK - 1) / DEVICE_BLOCK;
    const int64_t width = DEVICE_BLOCK * (blocks > 1 ? blocks : 1);
    return width > WIDTH || c->has_sparse ? WIDTH : width; /* sparse columns have few values */
}

/* Computes the products of a block while those of the block before it are summed over the ranks. */
void split_descend(columns *c, const device_column *places, int64_t count, const double *r,
                   double *gradient, double *image)
{
    const int64_t width = block_width(c);
    int64_t last = 0, last_count = 0;
    memset(image, 0, (size_t)c->n * sizeof *image);
    for (int64_t first = 0; first < count; first += width) {
        int64_t next = count - first < width ? count - first : width;
        c->ops->products->inner(c->dev, places + first, next, r, gradient + first);
        if (last_count > 0)
            comm_finish_sum(c->comm);
        comm_start_sum(c->comm, gradient + first, next);
        if (last_count > 0)
            add_image(c, places, last, last_count, gradient, image);
        last = first;
        last_count = next;
    }
    if (last_count == 0)
        return;
    comm_finish_sum(c->comm);
    add_image(c, places, last, last_count, gradient, image);
}

/* ---- sweeps ------------------------------------------------------------ */

/* The device of each rank sweeps its shard; the sums of a block are added over the ranks before the
 * block's update. */
typedef struct summed_sweep {
    comm *comm;
    const device_sweep *how;
} summed_sweep;

static void sum_and_update(void *user, int64_t first, int64_t count,
                           const double slope[DEVICE_BLOCK],
                           const double gram[DEVICE_BLOCK][DEVICE_BLOCK],
                           double delta[DEVICE_BLOCK], double spread[DEVICE_BLOCK])
{
    const summed_sweep *m = user;
    double sums[DEVICE_BLOCK + 1][DEVICE_BLOCK];
    memcpy(sums[0], slope, sizeof sums[0]);
    memcpy(sums[1], gram, sizeof(double[DEVICE_BLOCK][DEVICE_BLOCK]));
    comm_sum(m->comm, sums[0], sizeof sums / sizeof(double));
    m->how->update(m->how->user, first, count, sums[0], (const double(*)[DEVICE_BLOCK])(sums + 1),
                   delta, spread);
}

static void sweep_in_fours(columns *c, const device_column *places, int64_t count,
                           const device_sweep *how)
{
    summed_sweep m = {.comm = c->comm, .how = how};
    device_sweep summed = *how;
    summed.update = sum_and_update;
    summed.user = &m;
    c->ops->products->sweep(c->dev, places, count, &summed);
}

/* A block of up to WIDTH columns. */
typedef struct wide {
    double slope[WIDTH];
    double gram[WIDTH * WIDTH];
    double packed[WIDTH + WIDTH * (WIDTH + 1) / 2]; /* slopes, then the lower triangle by rows */
    double delta[WIDTH], spread[WIDTH];
} wide;

static void sum_wide(columns *c, const device_column *places, int64_t count,
                     const device_sweep *how, wide *w)
{
    for (int64_t i = 0; i < c->n; i++)
        c->samples[i] = how->weight[i] * how->r[i];
    c->ops->products->inner(c->dev, places, count, c->samples, w->slope);
    c->ops->products->gram(c->dev, places, count, how->weight, w->gram);
    int64_t at = count;
    memcpy(w->packed, w->slope, (size_t)count * sizeof *w->slope);
    for (int64_t q = 0; q < count; q++)
        for (int64_t s = 0; s <= q; s++)
            w->packed[at++] = w->gram[q * count + s];
    comm_sum(c->comm, w->packed, at);
    at = count;
    memcpy(w->slope, w->packed, (size_t)count * sizeof *w->slope);
    for (int64_t q = 0; q < count; q++)
        for (int64_t s = 0; s <= q; s++)
            w->gram[q * count + s] = w->packed[at++];
}

/* Updates columns first..first + some - 1 of the block, at most four. Their slopes follow from the
 * updates of the columns before them. */
static void update_four(wide *w, int64_t count, int64_t first, int64_t some, int64_t place,
                        const device_sweep *how)
{
    double slope[DEVICE_BLOCK] = {0}, gram[DEVICE_BLOCK][DEVICE_BLOCK] = {{0}};
    double delta[DEVICE_BLOCK] = {0}, spread[DEVICE_BLOCK] = {0};
    for (int64_t q = 0; q < some; q++) {
        const double *row = &w->gram[(first + q) * count];
        slope[q] = w->slope[first + q];
        for (int64_t s = 0; s < first; s++)
            slope[q] -= row[s] * w->delta[s];
        for (int64_t s = 0; s <= q; s++)
            gram[q][s] = gram[s][q] = row[first + s];
    }
    how->update(how->user, place + first, some, slope, (const double(*)[DEVICE_BLOCK])gram, delta,
                spread);
    memcpy(w->delta + first, delta, (size_t)some * sizeof *delta);
    memcpy(w->spread + first, spread, (size_t)some * sizeof *spread);
}

static void sweep_wide(columns *c, const device_column *places, int64_t count,
                       const device_sweep *how)
{
    wide w;
    for (int64_t first = 0; first < count; first += WIDTH) {
        int64_t width = count - first < WIDTH ? count - first : WIDTH;
        sum_wide(c, places + first, width, how, &w);
        for (int64_t q = 0; q < width; q += DEVICE_BLOCK)
            update_four(&w, width, q, width - q < DEVICE_BLOCK ? width - q : DEVICE_BLOCK, first,
                        how);
        for (int64_t q = 0; q < width; q++)
            w.delta[q] = -w.delta[q];
        c->ops->products->add(c->dev, places + first, width, w.delta, how->r);
        c->ops->products->add_squares(c->dev, places + first, width, w.spread, how->variance);
    }
}

/* Devices cut a list where dense and sparse columns meet, and a rank may store a sparse column as a
 * dense one. So with sparse columns the ranks would not have the same blocks of four. */
void split_sweep(columns *c, const device_column *places, int64_t count, const device_sweep *how)
{
    int is_short = c->comm->total / c->comm->with.size < SHORT_SHARD;
    (is_short || c->has_sparse ? sweep_wide : sweep_in_fours)(c, places, count, how);
}
