/* The inside of the device in main memory, shared by the files of this folder. */
#ifndef LINALG_CPU_DEVICE_CPU_H
#define LINALG_CPU_DEVICE_CPU_H

#include "linalg/cpu/kernels.h"

/* Fewer values than this are done before a second thread has woken up. */
enum { WORTH_THREADS = 1 << 20 };

/* Sweeps cut the samples into strips; each has its own partial sums, which are
 * added in order, so that the bits do not depend on the threads. */
enum { STRIP_ROWS = 1024 };

struct device {
    device_shape shape;
    const kernels *k;
    int threads;
    char *slots;           /* shape.slots columns */
    char *scratch;         /* shape.batch columns, made when first needed */
    const void **borrowed; /* shape.batch columns: in the caller's block or in scratch */
    int64_t borrowed_count;
    double *images;      /* SHEAVES partial images of n values */
    sweep_sums *partial; /* one per strip */
};

/* Threads worth using on so many columns. */
int cpu_team(const device *d, int64_t columns);

/* The values of a column, wherever it is. */
const void *cpu_values(const device *d, device_place place);

int64_t cpu_strips(int64_t n);

void cpu_add_squares(device *d, const device_column *columns, int64_t count, const double *weight,
                     double *out);
void cpu_products(device *d, const device_column *columns, int64_t count, const double *r,
                  double *out);
void cpu_gram(device *d, const device_column *columns, int64_t count, const double *weight,
              double *gram);
void cpu_sample(device *d, const device_column *columns, int64_t count, int64_t sample,
                double *out);

/* Columns first.. of a list; past the last its first one stands in, times 0. */
sweep_block cpu_block_at(const device *d, const device_column *columns, int64_t count,
                         int64_t first);

void cpu_sweep(device *d, const device_column *columns, int64_t count, const device_sweep *how);

#endif
