/* The device in main memory: its state, and the functions that the files of this folder share. */
#ifndef LINALG_CPU_DEVICE_CPU_H
#define LINALG_CPU_DEVICE_CPU_H

#include "linalg/cpu/kernels.h"
#include "linalg/cpu/sparse.h"

/* Below this number of values one thread is faster than several. (The build with the thread
 * sanitizer sets a small number, so that small tests use threads.) */
enum { WORTH_THREADS = ROOFS_WORTH_THREADS };

/* A sweep cuts the samples into strips of fixed length. Each strip has its own partial sums, and
 * these are added in order: the bits do not depend on the number of threads. */
enum { STRIP_ROWS = 1024 };

/* Columns are cut into at most PARTITIONS fixed pieces, each with a partial image of its own. */
enum { PARTITIONS = 16, ROWS_AT_A_TIME = 2048 };

struct device {
    device_shape shape;
    const kernels *k;
    const sparse_kernels *s;
    int threads;
    int64_t taken;        /* bytes allocated */
    cpu_column *slots;    /* shape.slots columns */
    int64_t slots_seen;   /* slots used so far */
    cpu_column *borrowed; /* shape.batch columns: in the caller's block or copied */
    int64_t borrowed_count;

    char **chunks; /* buffers for stored dense columns, allocated when needed */
    int64_t chunk_count, chunk_capacity, buffers_used;
    char **free_buffers; /* a stack */
    int64_t free_count;
    char *scratch; /* copies of dense columns of the batch, allocated when first needed */
    int64_t scratch_used, scratch_most;
    char *copied_values;  /* copies of sparse columns of the batch */
    char *copied_samples; /* their samples, where they had to be copied too */
    int64_t copied_capacity[2];

    double *images;      /* PARTITIONS partial images of n values, for dense columns */
    double *scattered;   /* n values: one sparse column as a dense one; else all zero */
    sweep_sums *partial; /* one per strip */

    /* a list with its dense columns first, their places in the caller's list, and scratch */
    device_column *sorted;
    int64_t *origin;
    double *number;
};

/* The columns of a list that are of one kind, dense or sparse. */
typedef struct cpu_subset {
    const device_column *columns;
    const int64_t *at; /* their places in the list; NULL: the subset is the list */
    int64_t count;
} cpu_subset;

static inline int64_t cpu_place_in_list(const cpu_subset *p, int64_t k)
{
    return p->at ? p->at[k] : k;
}

/* A stored or borrowed column. */
static inline const cpu_column *cpu_at(const device *d, device_place place)
{
    return place >= 0 ? &d->slots[place] : &d->borrowed[-1 - place];
}

static inline int cpu_is_sparse(const device *d, const device_column *c)
{
    return cpu_at(d, c->place)->samples != NULL;
}

/* The number of threads to use for so many dense columns. */
int cpu_team(const device *d, int64_t columns);

int64_t cpu_strips(int64_t n);

/* ---- storage ----------------------------------------------------------- */

int64_t cpu_bytes(const device_shape *shape);
int64_t cpu_taken(const device *d);
roofs_status cpu_create_storage(device *d, roofs_error *err);
void cpu_destroy_storage(device *d);
roofs_status cpu_borrow(device *d, const roofs_block *block, roofs_error *err);
roofs_status cpu_rescale(device *d, int64_t k, int exponent, roofs_error *err);
roofs_status cpu_keep(device *d, int64_t k, int64_t slot, roofs_error *err);
void cpu_release(device *d, int64_t slot);
roofs_status cpu_fetch(device *d, int64_t slot, device_values *out, roofs_error *err);
roofs_status cpu_put(device *d, int64_t slot, const device_values *column, roofs_error *err);

/* ---- dense columns ----------------------------------------------------- */

/* The block of columns that begins at `first`. Past the end of the list the block repeats its first
 * column with factor 0. */
sweep_block cpu_block_at(const device *d, const device_column *columns, int64_t count,
                         int64_t first);

void cpu_dense_descend(device *d, const cpu_subset *p, const double *r, double *gradient,
                       double *image);
void cpu_dense_products(device *d, const cpu_subset *p, const double *r, double r_sum, double *out);
void cpu_dense_gram(device *d, const cpu_subset *p, int64_t count, const double *weight,
                    double *gram);
void cpu_dense_add(device *d, const cpu_subset *p, const double *weight, double *out);
void cpu_dense_add_squares(device *d, const cpu_subset *p, const double *weight, double *out);

/* Columns begin..end - 1 of a list. */
void cpu_dense_sweep(device *d, const device_column *columns, int64_t begin, int64_t end,
                     const device_sweep *how);

/* ---- sparse columns ---------------------------------------------------- */

/* The same for sparse columns. Differences: descend adds to the image; gram fills the entries that
 * cpu_dense_gram leaves out. */
void cpu_sparse_descend(device *d, const cpu_subset *p, const double *r, double *gradient,
                        double *image);
void cpu_sparse_products(device *d, const cpu_subset *p, const double *r, double r_sum,
                         double *out);
void cpu_sparse_gram(device *d, const cpu_subset *dense, const cpu_subset *sparse,
                     const double *weight, double *gram);
void cpu_sparse_add(device *d, const cpu_subset *p, const double *weight, double *out);
void cpu_sparse_add_squares(device *d, const cpu_subset *p, const double *weight, double *out);
void cpu_sparse_sweep(device *d, const device_column *columns, int64_t begin, int64_t end,
                      const device_sweep *how);

#endif
