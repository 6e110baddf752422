/* The operations of the device in main memory. They split a list into its dense and its sparse
 * columns, which have their own loops; the sparse loops add to the results of the dense ones. */
#include "linalg/cpu/device_cpu.h"

#include "base/memory.h"
#include "base/threads.h"
#include "linalg/lanes.h"
#include "linalg/moments_formula.h"
#include "linalg/vector.h"

#include <string.h>

static void cpu_destroy(device *d)
{
    if (!d)
        return;
    cpu_destroy_storage(d);
    workers_destroy(d->own_workers);
    memory_free(d);
}

static void cpu_choose_kernels(const kernels *tables[DTYPES])
{
    tables[ROOFS_F64] = &kernels_f64;
    tables[ROOFS_F32] = &kernels_f32;
    tables[ROOFS_I8] = &kernels_i8;
    tables[ROOFS_U8] = &kernels_u8;
    tables[ROOFS_2BIT] = HAS_INSTRUCTIONS("avx512f") ? &kernels_2bit_avx512 : &kernels_2bit;
}

static roofs_status cpu_create(device **out, const device_shape *shape, roofs_error *err)
{
    const int narrow = shape->dtype == ROOFS_F32;
    device *d = NULL;
    *out = NULL;
    TRY(memory_get(&d, 1, sizeof *d, "the device", err));
    d->shape = *shape;
    d->shape.dtype = narrow ? ROOFS_F32 : ROOFS_F64;
    d->size = dtype_size(d->shape.dtype);
    cpu_choose_kernels(d->kernels);
    d->s = narrow ? &sparse_f32 : &sparse_f64;
    d->pieces = workers_pieces_of(shape->n);
    d->workers = shape->workers;
    roofs_status status = ROOFS_OK;
    if (!d->workers) {
        status = workers_create(&d->own_workers, threads_count(shape->threads), err);
        d->workers = d->own_workers;
    }
    if (status == ROOFS_OK)
        status = cpu_create_storage(d, err);
    if (status != ROOFS_OK) {
        cpu_destroy(d);
        return status;
    }
    *out = d;
    return ROOFS_OK;
}

/* ---- dense and sparse columns of a list ---------------------------------- */

typedef struct subsets {
    cpu_subset dense, sparse;
} subsets;

/* Sorts a list with both kinds into d->sorted. */
static subsets split_by_kind(device *d, const device_column *columns, int64_t count)
{
    int64_t sparse = 0;
    for (int64_t j = 0; j < count; j++)
        sparse += cpu_is_sparse(d, &columns[j]);
    const int64_t dense = count - sparse;
    const cpu_subset all = {.columns = columns, .count = count}, none = {.columns = columns};
    if (sparse == 0 || dense == 0)
        return (subsets){.dense = dense ? all : none, .sparse = sparse ? all : none};
    int64_t next[2] = {0, dense};
    for (int64_t j = 0; j < count; j++) {
        int64_t to = next[cpu_is_sparse(d, &columns[j])]++;
        d->sorted[to] = columns[j];
        d->origin[to] = j;
    }
    return (subsets){.dense = {d->sorted, d->origin, dense},
                     .sparse = {d->sorted + dense, d->origin + dense, sparse}};
}

/* ---- the table --------------------------------------------------------- */

typedef struct survey_job {
    const device *d;
    const survey_options *how;
    int64_t heavy;
    device_facts *facts;
    atomic_llong next; /* column that no thread has taken */
} survey_job;

static void survey_thread(void *user, int me, int team)
{
    survey_job *s = user;
    const device *d = s->d;
    (void)me;
    (void)team;
    for (int64_t k; (k = atomic_fetch_add(&s->next, 1)) < d->borrowed_count;) {
        const cpu_column *c = &d->borrowed[k];
        if (c->samples) {
            d->s->survey(c, s->how, s->heavy, &s->facts[k]);
        } else {
            const sweep_block b = cpu_block_of(d, c);
            b.k->survey(&b, s->how, d->shape.n, &s->facts[k]);
        }
    }
}

static void cpu_survey(device *d, const survey_options *how, device_facts *facts)
{
    survey_job s = {.d = d, .how = how, .facts = facts};
    int64_t values = 0;
    for (int64_t i = 0; how->weight && i < d->shape.n; i++)
        s.heavy += has_weight(how->weight[i]);
    for (int64_t k = 0; k < d->borrowed_count; k++)
        values += d->borrowed[k].count;
    workers_run(d->workers, values, d->borrowed_count, survey_thread, &s);
}

static void cpu_descend(device *d, const device_column *columns, int64_t count, const double *r,
                        double *gradient, double *image)
{
    const subsets p = split_by_kind(d, columns, count);
    if (p.dense.count > 0)
        cpu_dense_descend(d, &p.dense, r, gradient, image);
    else
        memset(image, 0, (size_t)d->shape.n * sizeof *image);
    if (p.sparse.count > 0)
        cpu_sparse_descend(d, &p.sparse, r, gradient, image);
}

static void cpu_inner(device *d, const device_column *columns, int64_t count, const double *r,
                      double *out)
{
    const subsets p = split_by_kind(d, columns, count);
    const double r_sum = vector_sum(r, d->shape.n);
    cpu_dense_products(d, &p.dense, r, r_sum, out);
    cpu_sparse_products(d, &p.sparse, r, r_sum, out);
}

static void cpu_gram(device *d, const device_column *columns, int64_t count, const double *weight,
                     double *gram)
{
    const subsets p = split_by_kind(d, columns, count);
    cpu_dense_gram(d, &p.dense, count, weight, gram);
    if (p.sparse.count > 0)
        cpu_sparse_gram(d, &p.dense, &p.sparse, weight, gram);
}

static void cpu_sample(device *d, const device_column *columns, int64_t count, int64_t sample,
                       double *out)
{
    for (int64_t j = 0; j < count; j++) {
        const cpu_column *c = cpu_at(d, columns[j].place);
        int64_t at = c->samples ? cpu_sparse_find(c, sample) : sample;
        int is_stored = !c->samples || (at < c->count && c->samples[at] == sample);
        double value = is_stored ? cpu_value(c, at) : 0;
        out[j] = (value - columns[j].center) * columns[j].factor;
    }
}

static void cpu_take(device *d, const device_column *column, int64_t first, int64_t stride,
                     int64_t count, float *out)
{
    const cpu_column *c = cpu_at(d, column->place);
    const double center = column->center, factor = column->factor;
    if (!c->samples) {
        for (int64_t k = 0; k < count; k++)
            out[k] = (float)((cpu_value(c, first + k * stride) - center) * factor);
        return;
    }
    for (int64_t k = 0; k < count; k++)
        out[k] = (float)(-center * factor);
    for (int64_t at = cpu_sparse_find(c, first); at < c->count; at++) {
        const int64_t off = c->samples[at] - first;
        if (off % stride == 0)
            out[off / stride] = (float)((cpu_value(c, at) - center) * factor);
    }
}

static void cpu_add(device *d, const device_column *columns, int64_t count, const double *weight,
                    double *out)
{
    const subsets p = split_by_kind(d, columns, count);
    if (p.dense.count > 0)
        cpu_dense_add(d, &p.dense, weight, out);
    if (p.sparse.count > 0)
        cpu_sparse_add(d, &p.sparse, weight, out);
}

static void cpu_add_squares(device *d, const device_column *columns, int64_t count,
                            const double *weight, double *out)
{
    const subsets p = split_by_kind(d, columns, count);
    if (p.dense.count > 0)
        cpu_dense_add_squares(d, &p.dense, weight, out);
    if (p.sparse.count > 0)
        cpu_sparse_add_squares(d, &p.sparse, weight, out);
}

/* Keeps the order of the list: cuts it where the kind changes. */
static void cpu_sweep(device *d, const device_column *columns, int64_t count,
                      const device_sweep *how)
{
    for (int64_t begin = 0, end; begin < count; begin = end) {
        int sparse = cpu_is_sparse(d, &columns[begin]);
        end = begin + 1;
        while (end < count && cpu_is_sparse(d, &columns[end]) == sparse)
            end++;
        (sparse ? cpu_sparse_sweep : cpu_dense_sweep)(d, columns, begin, end, how);
    }
}

static const product_ops cpu_products = {
    .descend = cpu_descend,
    .inner = cpu_inner,
    .gram = cpu_gram,
    .sample = cpu_sample,
    .take = cpu_take,
    .add = cpu_add,
    .add_squares = cpu_add_squares,
    .sweep = cpu_sweep,
};

const device_ops device_cpu = {
    .name = "cpu",
    .packs = 1,
    .bytes = cpu_bytes,
    .taken = cpu_taken,
    .create = cpu_create,
    .destroy = cpu_destroy,
    .borrow = cpu_borrow,
    .borrow_shared = cpu_borrow_shared,
    .survey = cpu_survey,
    .rescale = cpu_rescale,
    .keep = cpu_keep,
    .complete = cpu_complete,
    .release = cpu_release,
    .fetch = cpu_fetch,
    .put = cpu_put,
    .products = &cpu_products,
};
