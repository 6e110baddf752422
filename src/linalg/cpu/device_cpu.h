/* The inside of the device in main memory, shared by the files of this folder. */
#ifndef LINALG_CPU_DEVICE_CPU_H
#define LINALG_CPU_DEVICE_CPU_H

#include "linalg/cpu/kernels.h"
#include "linalg/cpu/sparse.h"

/* Fewer values than this are done before a second thread has woken up. (The build with the
 * thread sanitizer says less, so that small tests have threads to look at.) */
enum { WORTH_THREADS = ROOFS_WORTH_THREADS };

/* Sweeps cut the samples into strips; each has its own partial sums, which are
 * added in order, so that the bits do not depend on the threads. */
enum { STRIP_ROWS = 1024 };

enum { SHEAVES = 16, ROWS_AT_A_TIME = 2048 };

struct device {
    device_shape shape;
    const kernels *k;
    const sparse_kernels *s;
    int threads;
    int64_t taken;        /* bytes */
    cpu_column *slots;    /* shape.slots columns */
    int64_t slots_seen;   /* slots used so far */
    cpu_column *borrowed; /* shape.batch columns: in the caller's block or in one of the copies */
    int64_t borrowed_count;

    char **chunks; /* rooms for dense columns that are kept, made when needed */
    int64_t chunk_count, chunk_capacity, rooms_used;
    char **free_rooms; /* a stack */
    int64_t free_count;
    char *scratch; /* copies of dense columns of the batch, made when first needed */
    int64_t scratch_used, scratch_most;
    char *loose_values;  /* copies of sparse columns of the batch */
    char *loose_samples; /* their samples, where they had to be copied too */
    int64_t loose_capacity[2];

    double *images;      /* SHEAVES partial images of n values, made with the first dense column */
    double *spread;      /* n zeros: a sparse column laid out, made with the first sparse one */
    sweep_sums *partial; /* one per strip */

    /* a list with its dense columns first, their places in the caller's list, and a number each */
    device_column *sorted;
    int64_t *origin;
    double *number;
};

/* Those columns of a list that are of one kind. */
typedef struct cpu_part {
    const device_column *columns;
    const int64_t *at; /* their places in the list; NULL: the same */
    int64_t count;
} cpu_part;

static inline int64_t cpu_place_in_list(const cpu_part *p, int64_t k)
{
    return p->at ? p->at[k] : k;
}

/* A column, wherever it is. */
static inline const cpu_column *cpu_at(const device *d, device_place place)
{
    return place >= 0 ? &d->slots[place] : &d->borrowed[-1 - place];
}

static inline int cpu_is_sparse(const device *d, const device_column *c)
{
    return cpu_at(d, c->place)->samples != NULL;
}

/* Threads worth using on so many dense columns. */
int cpu_team(const device *d, int64_t columns);

int64_t cpu_strips(int64_t n);

/* ---- storage ----------------------------------------------------------- */

int64_t cpu_bytes(const device_shape *shape);
int64_t cpu_taken(const device *d);
roofs_status cpu_make_lists(device *d, roofs_error *err);
void cpu_free_storage(device *d);
roofs_status cpu_borrow(device *d, const roofs_block *block, roofs_error *err);
roofs_status cpu_rescale(device *d, int64_t k, int exponent, roofs_error *err);
roofs_status cpu_keep(device *d, int64_t k, int64_t slot, roofs_error *err);
void cpu_release(device *d, int64_t slot);
roofs_status cpu_fetch(device *d, int64_t slot, device_values *out, roofs_error *err);
roofs_status cpu_put(device *d, int64_t slot, const device_values *column, roofs_error *err);

/* ---- dense columns ----------------------------------------------------- */

/* Columns first.. of a list; past the last its first one stands in, times 0. */
sweep_block cpu_block_at(const device *d, const device_column *columns, int64_t count,
                         int64_t first);

void cpu_dense_descend(device *d, const cpu_part *p, const double *r, double *gradient,
                       double *image);
void cpu_dense_products(device *d, const cpu_part *p, const double *r, double r_sum, double *out);
void cpu_dense_gram(device *d, const cpu_part *p, int64_t count, const double *weight,
                    double *gram);
void cpu_dense_add(device *d, const cpu_part *p, const double *weight, double *out);
void cpu_dense_add_squares(device *d, const cpu_part *p, const double *weight, double *out);

/* Columns begin..end - 1 of a list. */
void cpu_dense_sweep(device *d, const device_column *columns, int64_t begin, int64_t end,
                     const device_sweep *how);

/* ---- sparse columns ---------------------------------------------------- */

/* The same, but that descend adds to the image and gram fills what cpu_dense_gram leaves. */
void cpu_sparse_descend(device *d, const cpu_part *p, const double *r, double *gradient,
                        double *image);
void cpu_sparse_products(device *d, const cpu_part *p, const double *r, double r_sum, double *out);
void cpu_sparse_gram(device *d, const cpu_part *dense, const cpu_part *sparse, const double *weight,
                     double *gram);
void cpu_sparse_add(device *d, const cpu_part *p, const double *weight, double *out);
void cpu_sparse_add_squares(device *d, const cpu_part *p, const double *weight, double *out);
void cpu_sparse_sweep(device *d, const device_column *columns, int64_t begin, int64_t end,
                      const device_sweep *how);

#endif
