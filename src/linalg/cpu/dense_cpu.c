/* Products and sums of dense columns. No result depends on the number of threads: one thread
 * computes each sum, in a fixed order, or partial sums over fixed pieces of the samples are added
 * in a fixed order. */
#include "linalg/cpu/device_cpu.h"
#include "linalg/vector.h"

#include <string.h>

/* ---- gradient steps ---------------------------------------------------- */

/* Memory bandwidth limits a gradient step, so it reads every column once: the slope needs only the
 * old residual, and the column is still in cache when its summand of the image is added.
 *
 * Threads divide the samples, and take some columns at a time: all threads compute their products
 * with r over their own samples. Each thread adds the sums of all threads, and then its samples of
 * the columns to the image. While it waits for the sums it multiplies the next columns, if both fit
 * in the cache. So the number of columns at a time depends on the cache, and the bits do not depend
 * on it. */

typedef struct descent {
    device *d;
    const cpu_subset *p;
    const double *r;
    double r_sum;
    double *gradient, *image;
    int64_t width; /* columns at a time */
    int64_t steps;
    atomic_llong last; /* steps of all threads; those after them are left to the first thread */
    int is_cached;     /* a thread's samples of these columns stay in its cache */
    int lag; /* 1: the image of some columns is added after the products of the next ones */
} descent;

/* Step s has the columns s * width..; its sums are in the buffer s % BUFFERS. With a lag of 1, the
 * others may still read those of three steps before. */
enum { BUFFERS = 4 };

static double *descent_sums(const descent *s, int64_t step)
{
    return s->d->partial + step % BUFFERS * (PIECES_MOST * WIDTH_MOST);
}

/* The samples of a thread's pieces. */
static workers_range samples_of(const device *d, workers_range own)
{
    return (workers_range){cpu_piece(d, own.begin).begin, cpu_piece(d, own.end).begin};
}

/* The products of a thread's samples with the columns of a step. */
static void multiply_step(const descent *s, int64_t step, workers_range own)
{
    const device *d = s->d;
    const workers_range rows = samples_of(d, own);
    const int64_t begin = step * s->width, count = s->p->count;
    const int64_t end = begin + s->width < count ? begin + s->width : count;
    double *sums = descent_sums(s, step);
    sweep_block next = cpu_block_at(d, s->p->columns, count, begin);
    for (int64_t j = begin; j < end; j += DEVICE_BLOCK) {
        const sweep_block b = next;
        if (j + DEVICE_BLOCK < count)
            next = cpu_block_at(d, s->p->columns, count, j + DEVICE_BLOCK);
        b.k->dots(&b, rows.begin, rows.end - rows.begin, s->r + rows.begin, s->lag ? &next : &b,
                  rows.begin + (s->lag ? 0 : AHEAD_ROWS), d->pieces.rows,
                  sums + own.begin * WIDTH_MOST + (j - begin), WIDTH_MOST);
    }
    cpu_add_own_groups(d, sums, WIDTH_MOST, s->width, own);
}

/* Adds the columns of a step, with these weights, to samples of the image. */
static void add_columns(const descent *s, int64_t step, const double *weight, workers_range rows)
{
    const device *d = s->d;
    const int64_t begin = step * s->width, count = s->p->count;
    const int64_t end = begin + s->width < count ? begin + s->width : count;
    for (int64_t j = begin; j < end; j += DEVICE_BLOCK) {
        const sweep_block b = cpu_block_at(d, s->p->columns, count, j);
        b.k->accumulate(&b, rows.begin, rows.end - rows.begin, weight + (j - begin),
                        s->image + rows.begin);
    }
}

/* Adds the columns of a step to a thread's samples of the image, and to *level the summand that is
 * the same for all samples: -sum_j weight_j center_j. */
static void add_step(const descent *s, int64_t step, workers_range own, int me, int team,
                     double *level)
{
    const int64_t begin = step * s->width, count = s->p->count;
    const int64_t end = begin + s->width < count ? begin + s->width : count;
    double dots[WIDTH_MOST], weight[WIDTH_MOST] = {0};
    cpu_add_pieces(s->d, descent_sums(s, step), WIDTH_MOST, s->width, team, dots);
    for (int64_t j = begin; j < end; j++) {
        const device_column *c = &s->p->columns[j];
        const double slope = c->factor * (dots[j - begin] - c->center * s->r_sum) * c->unit;
        weight[j - begin] = slope * c->unit * c->factor;
        *level -= weight[j - begin] * c->center;
        if (me == 0)
            s->gradient[cpu_list_position(s->p, j)] = slope;
    }
    if (s->is_cached)
        add_columns(s, step, weight, samples_of(s->d, own));
    else
        for (int64_t piece = own.end - 1; piece >= own.begin; piece--) /* the last is in a cache */
            add_columns(s, step, weight, cpu_piece(s->d, piece));
}

/* The steps from `begin` on, for all samples. */
static void descend_alone(const descent *s, int64_t begin, double *level)
{
    const workers_range all = {0, s->d->pieces.count};
    for (int64_t step = begin; step < s->steps; step++) {
        multiply_step(s, step, all);
        add_step(s, step, all, 0, 1, level);
    }
}

/* Where the first thread goes on alone, the others end with step s->last: none of them is farther
 * when the first one decides this. */
static void descend_together(descent *s, int me, int team, double *level)
{
    workers *all = s->d->workers;
    const workers_range own = workers_share(s->d->pieces.count, me, team);
    for (int64_t step = 0; step < atomic_load(&s->last) + s->lag; step++) {
        if (step < atomic_load(&s->last)) {
            multiply_step(s, step, own);
            workers_reach(all, me, step + 1);
        }
        if (step < s->lag)
            continue;
        if (me > 0)
            workers_wait_all(all, team, step - s->lag + 1);
        else if (workers_wait_or_leave(all, team, step - s->lag + 1) &&
                 atomic_load(&s->last) == s->steps && step + s->lag + 2 < s->steps)
            atomic_store(&s->last, step + s->lag + 2);
        add_step(s, step - s->lag, own, me, team, level);
    }
}

static void add_level(const descent *s, workers_range rows, double level)
{
    for (int64_t i = rows.begin; i < rows.end; i++)
        s->image[i] += level;
}

static void descend_thread(void *user, int me, int team)
{
    descent *s = user;
    const workers_range all = {0, s->d->shape.n};
    const workers_range rows = samples_of(s->d, workers_share(s->d->pieces.count, me, team));
    double level = 0;
    memset(s->image + rows.begin, 0, (size_t)(rows.end - rows.begin) * sizeof *s->image);
    if (team == 1)
        descend_alone(s, 0, &level);
    else
        descend_together(s, me, team, &level);
    const int64_t last = atomic_load(&s->last);
    if (last == s->steps) {
        add_level(s, rows, level);
        return;
    }
    workers_reach(s->d->workers, me, s->steps + 1); /* this thread's image is complete */
    if (me > 0)
        return;
    workers_wait_all(s->d->workers, team, s->steps + 1);
    descend_alone(s, last, &level);
    add_level(s, all, level);
}

static void sum_piece(void *user, int64_t begin, int64_t end, double *sums)
{
    const double *r = *(const double **)user;
    sums[0] = vector_sum(r + begin, end - begin);
}

void cpu_dense_descend(device *d, const cpu_subset *p, const double *r, double *gradient,
                       double *image)
{
    double r_sum = 0;
    workers_sum(d->workers, d->shape.n, 1, sum_piece, &r, 1, &r_sum);
    const int64_t values = p->count * d->shape.n;
    const int64_t team = workers_for(d->workers, values);
    const int64_t bytes = cpu_block_bytes(d, p->columns, p->count) / team + 1; /* of a thread */
    const int64_t cached = CACHE_BYTES / bytes / 2;
    const int64_t fours = cached < 1                           ? 1
                          : cached < WIDTH_MOST / DEVICE_BLOCK ? cached
                                                               : WIDTH_MOST / DEVICE_BLOCK;
    descent s = {.d = d,
                 .p = p,
                 .r = r,
                 .r_sum = r_sum,
                 .gradient = gradient,
                 .image = image,
                 .width = team > 1 ? DEVICE_BLOCK * fours : DEVICE_BLOCK,
                 .is_cached = bytes<CACHE_BYTES, .lag = team> 1 && cached > 0};
    s.steps = (p->count + s.width - 1) / s.width;
    atomic_init(&s.last, s.steps);
    workers_run(d->workers, values, d->pieces.count, descend_thread, &s);
}

/* ---- sums, products and Gram matrices ---------------------------------- */

typedef struct dense_job {
    device *d;
    const cpu_subset *p;
    const double *vector; /* weight, or r */
    double sum;           /* of r */
    double *out;
    int64_t count;     /* columns of the list */
    atomic_llong next; /* block that no thread has taken */
} dense_job;

static void add_to_piece(const dense_job *s, workers_range rows)
{
    const device *d = s->d;
    const device_column *columns = s->p->columns;
    double level = 0;
    for (int64_t j = 0; j < s->p->count; j += DEVICE_BLOCK) {
        const sweep_block b = cpu_block_at(d, columns, s->p->count, j);
        double scaled[DEVICE_BLOCK] = {0};
        for (int64_t k = 0; k < b.count; k++) {
            scaled[k] = s->vector[cpu_list_position(s->p, j + k)] * columns[j + k].factor;
            level -= scaled[k] * columns[j + k].center;
        }
        b.k->accumulate(&b, rows.begin, rows.end - rows.begin, scaled, s->out + rows.begin);
    }
    for (int64_t i = rows.begin; i < rows.end; i++)
        s->out[i] += level;
}

/* Threads divide the samples. */
static void add_thread(void *user, int me, int team)
{
    const dense_job *s = user;
    const workers_range own = workers_share(s->d->pieces.count, me, team);
    for (int64_t piece = own.begin; piece < own.end; piece++)
        add_to_piece(s, cpu_piece(s->d, piece));
}

void cpu_dense_add(device *d, const cpu_subset *p, const double *weight, double *out)
{
    dense_job s = {.d = d, .p = p, .vector = weight, .out = out};
    workers_run(d->workers, p->count * d->shape.n, d->pieces.count, add_thread, &s);
}

/* Threads divide the columns. */
static void products_thread(void *user, int me, int team)
{
    const dense_job *s = user;
    const device *d = s->d;
    const workers_range own =
        workers_share((s->p->count + DEVICE_BLOCK - 1) / DEVICE_BLOCK, me, team);
    for (int64_t k = own.begin; k < own.end; k++) {
        const int64_t first = k * DEVICE_BLOCK;
        const sweep_block b = cpu_block_at(d, s->p->columns, s->p->count, first);
        double dot[DEVICE_BLOCK];
        b.k->dots(&b, 0, d->shape.n, s->vector, &b, AHEAD_ROWS, d->shape.n, dot, 0);
        for (int64_t q = 0; q < b.count; q++)
            s->out[cpu_list_position(s->p, first + q)] =
                b.factor[q] * (dot[q] - b.center[q] * s->sum);
    }
}

void cpu_dense_products(device *d, const cpu_subset *p, const double *r, double r_sum, double *out)
{
    dense_job s = {.d = d, .p = p, .vector = r, .sum = r_sum, .out = out};
    workers_run(d->workers, p->count * d->shape.n, (p->count + DEVICE_BLOCK - 1) / DEVICE_BLOCK,
                products_thread, &s);
}

/* The Gram entries of one block with all columns up to it, and their mirror images. */
static void gram_rows(const dense_job *s, int64_t first)
{
    const device *d = s->d;
    const cpu_subset *p = s->p;
    const sweep_block left = cpu_block_at(d, p->columns, p->count, first);
    for (int64_t other = 0; other <= first; other += DEVICE_BLOCK) {
        const sweep_block right = cpu_block_at(d, p->columns, p->count, other);
        double sums[DEVICE_BLOCK][DEVICE_BLOCK];
        const kernels *k = left.k == right.k ? left.k : &kernels_mixed;
        k->cross(&left, &right, d->shape.n, s->vector, sums);
        for (int64_t q = 0; q < left.count; q++)
            for (int64_t l = 0; l < right.count && other + l <= first + q; l++) {
                int64_t row = cpu_list_position(p, first + q), at = cpu_list_position(p, other + l);
                s->out[row * s->count + at] = sums[q][l];
                s->out[at * s->count + row] = sums[q][l];
            }
    }
}

/* Threads take the blocks, longest rows first, so that all threads end at about the same time. */
static void gram_thread(void *user, int me, int team)
{
    dense_job *s = user;
    const int64_t blocks = (s->p->count + DEVICE_BLOCK - 1) / DEVICE_BLOCK;
    (void)me;
    (void)team;
    for (int64_t k; (k = atomic_fetch_add(&s->next, 1)) < blocks;)
        gram_rows(s, (blocks - 1 - k) * DEVICE_BLOCK);
}

void cpu_dense_gram(device *d, const cpu_subset *p, int64_t count, const double *weight,
                    double *gram)
{
    const int64_t blocks = (p->count + DEVICE_BLOCK - 1) / DEVICE_BLOCK;
    dense_job s = {.d = d, .p = p, .vector = weight, .out = gram, .count = count};
    workers_run(d->workers, p->count * blocks * d->shape.n, blocks, gram_thread, &s);
}
