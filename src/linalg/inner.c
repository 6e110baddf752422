#include "linalg/inner.h"

#include "base/memory.h"
#include "linalg/lanes.h"
#include "linalg/vector.h"

/* Columns that are held in memory as they are multiplied with the new ones. */
enum { LEFT = 4, RIGHT = 4 };

int64_t inner_bytes(const inner_shape *shape)
{
    const int64_t rows = memory_bytes(memory_bytes(shape->most, shape->most), sizeof(double));
    const int64_t held = lanes_padded(shape->together) + LEFT;
    return memory_sum(rows,
                      memory_bytes(memory_bytes(held, lanes_padded(shape->n)), sizeof(double)));
}

void inner_destroy(inner_products *p)
{
    memory_free(p->rows);
    memory_free(p->left);
    memory_free(p->right);
    *p = (inner_products){0};
}

void inner_reset(inner_products *p)
{
    p->count = 0;
}

static roofs_status reserve(inner_products *p, const inner_shape *shape, roofs_error *err)
{
    const char *what = "products of features";
    const int64_t n = lanes_padded(shape->n);
    p->threads = shape->threads;
    if (p->rows)
        return ROOFS_OK;
    TRY(memory_get(&p->left, memory_bytes(LEFT, n), sizeof *p->left, what, err));
    TRY(memory_get(&p->right, memory_bytes(lanes_padded(shape->together), n), sizeof *p->right,
                   what, err));
    p->stride = shape->most;
    return memory_get(&p->rows, memory_bytes(shape->most, shape->most), sizeof *p->rows, what, err);
}

/* out[a][b] = product of column a of `left` and column b of `right`, over n padded samples. */
EVERY_WIDTH static void block_products(const double *left, const double *right, int64_t n,
                                       double out[LEFT][RIGHT])
{
    lanes_sum sum[LEFT][RIGHT] = {0};
    for (int64_t i = 0; i < n; i += LANES) {
        const lanes r0 = lanes_load_f64(right + i), r1 = lanes_load_f64(right + n + i);
        const lanes r2 = lanes_load_f64(right + 2 * n + i), r3 = lanes_load_f64(right + 3 * n + i);
        for (int a = 0; a < LEFT; a++) {
            const lanes l = lanes_load_f64(left + a * n + i);
            lanes_add(&sum[a][0], l * r0);
            lanes_add(&sum[a][1], l * r1);
            lanes_add(&sum[a][2], l * r2);
            lanes_add(&sum[a][3], l * r3);
        }
    }
    for (int a = 0; a < LEFT; a++)
        for (int b = 0; b < RIGHT; b++)
            out[a][b] = lanes_sum_total(sum[a][b]);
}

/* The products of LEFT columns from `first` on with the `fresh` new ones, which follow p->count. */
static void left_products(inner_products *p, int64_t first, int64_t fresh, int64_t n)
{
    const int64_t begin = p->count;
#pragma omp parallel for schedule(static)                                                          \
    num_threads(fresh *n *LEFT < ROOFS_WORTH_THREADS ? 1 : (int)p->threads)
    for (int64_t k = 0; k < fresh; k += RIGHT) {
        double out[LEFT][RIGHT];
        block_products(p->left, p->right + k * n, n, out);
        for (int64_t b = 0; b < RIGHT && k + b < fresh; b++)
            for (int64_t a = 0; a < LEFT && first + a < begin + fresh; a++)
                p->rows[(begin + k + b) * p->stride + first + a] = out[a][b];
    }
}

/* Adds `fresh` columns to the matrix. */
static roofs_status extend_by(inner_products *p, columns *c, int64_t fresh, roofs_error *err)
{
    const int64_t n = lanes_padded(c->n), all = p->count + fresh;
    for (int64_t k = 0; k < fresh; k++)
        TRY(columns_fetch(c, p->count + k, p->right + k * n, err));
    for (int64_t first = 0; first < all; first += LEFT) {
        for (int64_t a = 0; a < LEFT && first + a < all; a++)
            TRY(columns_fetch(c, first + a, p->left + a * n, err));
        left_products(p, first, fresh, n);
    }
    for (int64_t j = p->count; j < all; j++) {
        const double *row = inner_row(p, j);
        for (int64_t k = 0; k < j; k++)
            p->rows[k * p->stride + j] = row[k];
    }
    p->count = all;
    return ROOFS_OK;
}

roofs_status inner_extend(inner_products *p, columns *c, const inner_shape *shape, roofs_error *err)
{
    TRY(reserve(p, shape, err));
    while (p->count < c->count) {
        const int64_t left = c->count - p->count;
        TRY(extend_by(p, c, left < shape->together ? left : shape->together, err));
    }
    return ROOFS_OK;
}

void inner_keep(inner_products *p, const unsigned char *keep)
{
    int64_t kept = 0;
    for (int64_t j = 0; j < p->count; j++) {
        if (!keep[j])
            continue;
        const double *from = inner_row(p, j);
        double *to = p->rows + kept++ * p->stride;
        int64_t at = 0;
        for (int64_t k = 0; k < p->count; k++)
            if (keep[k])
                to[at++] = from[k];
    }
    p->count = kept;
}

void inner_times(const inner_products *p, const double *x, double *out)
{
#pragma omp parallel for schedule(static)                                                          \
    num_threads(p->count * p->count < ROOFS_WORTH_THREADS ? 1 : (int)p->threads)
    for (int64_t j = 0; j < p->count; j++)
        out[j] = vector_dot(inner_row(p, j), x, p->count);
}
