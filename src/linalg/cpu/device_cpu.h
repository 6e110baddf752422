/* The device in main memory: its state and its functions. */
#ifndef LINALG_CPU_DEVICE_CPU_H
#define LINALG_CPU_DEVICE_CPU_H

#include "linalg/cpu/kernels.h"

/* Below this number of values one thread is faster than several. (The build with the thread
 * sanitizer sets a small number, so that small tests use threads.) */
enum { WORTH_THREADS = ROOFS_WORTH_THREADS };

/* A sweep cuts the samples into strips of fixed length with a partial sum each, added in order: the
 * bits do not depend on the number of threads. */
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
    int borrowed_rescaled; /* at least one of them was */

    char **chunks; /* buffers for stored dense columns, allocated when needed */
    int64_t chunk_count, chunk_capacity, buffers_used;
    char **free_buffers; /* a stack */
    int64_t free_count;
    char *scratch; /* copies of dense columns of the batch, allocated when first needed */
    int64_t scratch_used, scratch_most; /* columns now, and at most so far */
    char *copied_values;                /* copies of sparse columns of the batch */
    char *copied_samples;               /* their samples, if these are copied too */
    int64_t copied_capacity[2];

    double *images;      /* PARTITIONS partial images of n values, for dense columns */
    double *scattered;   /* n values: zero, or one sparse column while its products are summed */
    sweep_sums *partial; /* one per strip */

    device_column *sorted; /* a list with its dense columns first */
    int64_t *origin;       /* their positions in the caller's list */
    double *number;        /* scratch: one per column */
};

/* The columns of a list that are of one kind, dense or sparse. */
typedef struct cpu_subset {
    const device_column *columns;
    const int64_t *at; /* their positions in the list; NULL: the subset is the list */
    int64_t count;
} cpu_subset;

static inline int64_t cpu_list_position(const cpu_subset *p, int64_t k)
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

/* The number of threads for so many dense columns. */
int cpu_team(const device *d, int64_t columns);

int64_t cpu_strips(int64_t n);

/* ---- storage ----------------------------------------------------------- */

int64_t cpu_bytes(const device_shape *shape);
int64_t cpu_taken(const device *d);
roofs_status cpu_create_storage(device *d, roofs_error *err);
void cpu_destroy_storage(device *d);
roofs_status cpu_borrow(device *d, const roofs_block *block, roofs_error *err);
roofs_status cpu_borrow_shared(device *d, const device *other, const roofs_block *block,
                               roofs_error *err);
roofs_status cpu_rescale(device *d, int64_t k, int exponent, roofs_error *err);
roofs_status cpu_keep(device *d, int64_t k, int64_t slot, roofs_error *err);
void cpu_release(device *d, int64_t slot);
roofs_status cpu_fetch(device *d, int64_t slot, device_values *out, roofs_error *err);
roofs_status cpu_put(device *d, int64_t slot, const device_values *column, roofs_error *err);

/* ---- dense columns ----------------------------------------------------- */

/* The block of columns that begins at `first`. */
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

/* The position of the first value whose sample is not below `sample`. */
int64_t cpu_sparse_find(const cpu_column *c, int64_t sample);

/* The same for sparse columns, except that descend adds to the image, and gram fills the entries
 * that cpu_dense_gram leaves out. */
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
