/* Products of dense columns with a vector and with each other. Threads divide the columns among
 * them. One thread makes each sum, in a fixed order. */
#include "linalg/cpu/device_cpu.h"

void cpu_dense_products(device *d, const cpu_subset *p, const double *r, double r_sum, double *out)
{
#pragma omp parallel for schedule(static) num_threads(cpu_team(d, p->count))
    for (int64_t first = 0; first < p->count; first += DEVICE_BLOCK) {
        sweep_block b = cpu_block_at(d, p->columns, p->count, first);
        double dot[DEVICE_BLOCK];
        d->k->dots(b.x, r, d->shape.n, dot);
        for (int64_t q = 0; q < b.count; q++)
            out[cpu_place_in_list(p, first + q)] = b.factor[q] * (dot[q] - b.center[q] * r_sum);
    }
}

/* The Gram entries of one block with all columns up to it, and their mirror images. */
static void gram_rows(const device *d, const cpu_subset *p, int64_t first, int64_t count,
                      const double *weight, double *gram)
{
    sweep_block left = cpu_block_at(d, p->columns, p->count, first);
    for (int64_t other = 0; other <= first; other += DEVICE_BLOCK) {
        sweep_block right = cpu_block_at(d, p->columns, p->count, other);
        double sums[DEVICE_BLOCK][DEVICE_BLOCK];
        d->k->cross(&left, &right, d->shape.n, weight, sums);
        for (int64_t q = 0; q < left.count; q++)
            for (int64_t l = 0; l < right.count && other + l <= first + q; l++) {
                int64_t row = cpu_place_in_list(p, first + q), at = cpu_place_in_list(p, other + l);
                gram[row * count + at] = sums[q][l];
                gram[at * count + row] = sums[q][l];
            }
    }
}

/* The longest rows come first, so that all threads end at about the same time. */
void cpu_dense_gram(device *d, const cpu_subset *p, int64_t count, const double *weight,
                    double *gram)
{
    const int64_t blocks = (p->count + DEVICE_BLOCK - 1) / DEVICE_BLOCK;
#pragma omp parallel for schedule(dynamic, 1) num_threads(cpu_team(d, p->count *blocks))
    for (int64_t k = 0; k < blocks; k++)
        gram_rows(d, p, (blocks - 1 - k) * DEVICE_BLOCK, count, weight, gram);
}
