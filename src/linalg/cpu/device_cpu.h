/* The device in main memory: its state and its functions. */
#ifndef LINALG_CPU_DEVICE_CPU_H
#define LINALG_CPU_DEVICE_CPU_H

#include "linalg/cpu/kernels.h"
#include "linalg/workers.h"

#include <stdatomic.h>
#include <string.h>

/* GROUP pieces of the samples are added first, then the groups, in order. */
enum { GROUP = 3 };

/* Columns of a gradient step that are taken together, at most. */
enum { WIDTH_MOST = 32 };

/* Bytes of columns per thread that stay in its second-level cache, and that are near enough in time
 * to prefetch the next block instead of the next AHEAD_ROWS samples. */
enum { CACHE_BYTES = 3 << 17, NEAR_BYTES = 3 << 15, AHEAD_ROWS = 512 };

/* The values of a column that is to be stored. */
typedef struct cpu_copy {
    const void *from;
    char *to;
    int64_t bytes;
} cpu_copy;

/* Buffers of one size for copies of columns of the batch, allocated when first needed. */
typedef struct cpu_scratch {
    char *bytes;
    int64_t used, most; /* buffers now, and at most so far */
} cpu_scratch;

enum { DTYPES = ROOFS_2BIT + 1 };

struct device {
    device_shape shape;
    int64_t size;                   /* bytes of a value that is not packed */
    const kernels *kernels[DTYPES]; /* by the type of the columns */
    const sparse_kernels *s;
    workers *workers, *own_workers; /* own: NULL if the caller has given some */
    workers_pieces pieces;
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
    cpu_copy *copies; /* that cpu_complete makes */
    int64_t copy_count;
    cpu_scratch scratch, byte_scratch; /* of the device's type, and of 8 bits */
    char *copied_values;               /* copies of sparse columns of the batch */
    char *copied_samples;              /* their samples, if these are copied too */
    int64_t copied_capacity[2];

    double *scattered; /* n values: zero, or one sparse column while its products are summed */
    double *partial;   /* sums over pieces, of several columns */

    device_column *sorted; /* a list with its dense columns first */
    int64_t *origin;       /* their positions in the caller's list */
    double *number;        /* scratch: one per column */
};

/* The columns of a list that are of one kind: sparse, or dense, which includes packed ones. */
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

/* The samples of a piece; those after the last piece begin at n. */
static inline workers_range cpu_piece(const device *d, int64_t piece)
{
    const int64_t n = d->shape.n, rows = d->pieces.rows, begin = piece * rows;
    return (workers_range){begin < n ? begin : n, begin + rows < n ? begin + rows : n};
}

/* The thread of `team` whose share the piece is, see workers_share. */
static inline int64_t piece_owner(const device *d, int64_t piece, int team)
{
    return piece * team / d->pieces.count;
}

/* total[k] = the sum over all pieces of each[piece * stride + k], for `numbers` (padded to LANES)
 * k. cpu_add_own_groups has added the groups that are within the share of one thread. */
void cpu_add_pieces(const device *d, const double *each, int64_t stride, int64_t numbers, int team,
                    double *total);
void cpu_add_own_groups(const device *d, double *each, int64_t stride, int64_t numbers,
                        workers_range own);

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
void cpu_complete(device *d);
void cpu_release(device *d, int64_t slot);
roofs_status cpu_fetch(device *d, int64_t slot, device_values *out, roofs_error *err);
roofs_status cpu_put(device *d, int64_t slot, const device_values *column, roofs_error *err);

/* Copies feature k of a dense block to contiguous values; to a packed type only from bytes of the
 * same type. */
void cpu_gather(void *to, roofs_dtype dtype, const roofs_block *block, int64_t k);

/* to = from * 2^-exponent, both of type `dtype` */
void cpu_copy_rescaled(void *to, const void *from, roofs_dtype dtype, int exponent, int64_t n);

/* ---- dense columns ----------------------------------------------------- */

/* The block of columns that begins at `first`; a block of one column. */
sweep_block cpu_block_at(const device *d, const device_column *columns, int64_t count,
                         int64_t first);
sweep_block cpu_block_of(const device *d, const cpu_column *column);

/* Bytes of DEVICE_BLOCK of these columns, on average. */
int64_t cpu_block_bytes(const device *d, const device_column *columns, int64_t count);

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
