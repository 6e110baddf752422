/* The list of a fit's features: the stored ones and those of the current batch. The device holds
 * their values and computes products. */
#ifndef LINALG_COLUMNS_H
#define LINALG_COLUMNS_H

#include "base/archive.h"
#include "base/comm.h"
#include "linalg/device.h"

typedef struct column {
    int64_t feature;    /* position in the stream, from 0 */
    char *name;         /* owned; NULL if features have no names */
    double coef;        /* of the standardised column */
    double variance;    /* of the coefficient, for methods that estimate it */
    double probability; /* that the coefficient is not 0, for methods that estimate it */
    double flatness;    /* of the values, see device_facts; 0 unless requested */
    int exponent;       /* values are stored times 2^-exponent; 0 except for extreme ones */
    int64_t bytes;      /* of the values, and of their samples if the column is sparse */
} column;

typedef struct columns {
    const device_ops *ops;
    device *dev;
    int64_t n;
    roofs_dtype dtype; /* of the stored values */
    int keeps_packed;  /* columns of packed types stay so */
    int64_t count;
    column *items;          /* count; stored columns first, in the order of the stream */
    device_column *places;  /* count, in the same order */
    device_column *leaving; /* scratch of columns_drop and the products */
    double *leaving_coef, *leaving_variance;
    int64_t *free_slots; /* a stack; those from `released` on still store dropped columns */
    int64_t free_count, released;
    int64_t slots_used;   /* slots used so far; those after them are free too */
    int64_t capacity[6];  /* of the six arrays above */
    device_facts *facts;  /* of the batch */
    unsigned char *known; /* of the batch: 1 if the feature is already among the columns */
    int scaled;           /* columns have scale 1: steps need no unit */
    int unit_exponent;    /* the unit of a step is 2^(2 unit_exponent); 0 except for extremes */
    int64_t constant;     /* number of constant features so far */
    double bytes_read;    /* of columns, by the survey and by products, so far */

    const struct columns *shares; /* borrow the same blocks before this one does; NULL = none */

    /* if samples are split over ranks */
    comm *comm;       /* NULL = not split */
    double *samples;  /* scratch: n */
    double *gathered; /* scratch: the facts of all ranks about a batch */
    int64_t gathered_capacity;
    int has_sparse; /* at least one block was sparse */
} columns;

roofs_status columns_create(columns *c, const device_ops *ops, const device_shape *shape,
                            roofs_error *err);
void columns_destroy(columns *c);

/* Declares that the samples are this rank's shard. `ranks` is borrowed. */
roofs_status columns_split(columns *c, comm *ranks, roofs_error *err);

/* Upper bound of the bytes of the lists, without those of the device. */
int64_t columns_list_bytes(const device_shape *shape);

typedef struct ingest_options {
    int standardize;      /* to weighted mean 0 and scale 1 */
    int unit_scale;       /* to root mean square 1; only without standardize */
    int refuse_constant;  /* leave out features that are constant over samples with weight */
    int flatness;         /* compute the flatness of each feature */
    const double *weight; /* of the samples */
    const double *weight_on_device; /* the same weights; NULL: the device copies them */
} ingest_options;

/* Adds the features of a block with coefficient 0, except those that are among the columns since an
 * earlier pass. `first` is the position in the stream of the block's first feature. */
roofs_status columns_arrive(columns *c, const roofs_block *block, int64_t first,
                            const ingest_options *options, roofs_error *err);

/* True for a column of the current batch, false for one of an earlier batch. */
static inline int columns_is_new(const columns *c, int64_t j)
{
    return c->places[j].place < 0;
}

/* The calls below use the columns which[0..count), in that order; all columns if `which` is NULL
 * (count is then c->count). Results per column have the order of `which`. Where samples are split
 * over ranks, sums over samples are those of all ranks. */

/* Gradient and image, see product_ops.descend. */
void columns_descend(columns *c, const int64_t *which, int64_t count, const double *r,
                     double *gradient, double *image);

/* out[k] = z'r */
void columns_products(columns *c, const int64_t *which, int64_t count, const double *r,
                      double *out);

/* gram[k * count + l] = z_k'W z_l, W = diag(weight) */
void columns_gram(columns *c, const int64_t *which, int64_t count, const double *weight,
                  double *gram);

/* out = z_j, a stored column: on any device, also one without products. */
roofs_status columns_fetch(columns *c, int64_t j, double *out, roofs_error *err);

/* out[k] = entry `sample` of z_k */
void columns_sample(columns *c, const int64_t *which, int64_t count, int64_t sample, double *out);

/* out[k] = entry first + k stride of z_j, for k < count; only on a device with products. */
void columns_take(columns *c, int64_t j, int64_t first, int64_t stride, int64_t count, float *out);

/* out += sum_k weight[k] z_k */
void columns_add(columns *c, const int64_t *which, int64_t count, const double *weight,
                 double *out);

/* out += sum_k weight[k] z_k^2 */
void columns_add_squares(columns *c, const int64_t *which, int64_t count, const double *weight,
                         double *out);

/* Moves the center of each column to its weighted mean: z is then orthogonal to the weights, and an
 * intercept can be fitted separately. `total` is the sum of the weights; `scratch` holds `count`
 * numbers. If a column has a coefficient, the caller must recompute the residual. */
void columns_centre(columns *c, const int64_t *which, int64_t count, const double *weight,
                    double total, double *scratch);

/* Coordinate updates over columns, see device_sweep. The update gets positions in `which`. */
void columns_sweep(columns *c, const int64_t *which, int64_t count, const device_sweep *how);

/* Drops the columns with keep[j] == 0: r += coef z and, unless `variance` is NULL,
 * variance -= column.variance z^2. r is NULL if an engine has done both on the device. */
void columns_drop(columns *c, const unsigned char *keep, double *r, double *variance);

/* Copies the borrowed columns into slots; afterwards the caller may free the block. *settled is
 * their number. The list must not be longer than the slots. Until this call the slots of dropped
 * columns keep their values, and columns_transfer can restore them. */
roofs_status columns_settle(columns *c, int64_t *settled, roofs_error *err);

roofs_status columns_reserve(columns *c, int64_t more, roofs_error *err);
void columns_reset(columns *c); /* empties the list */

/* Saves or restores the list, of at most `slots` columns, none of them borrowed. An archive of its
 * own holds the values of column j. */
void columns_transfer(columns *c, int64_t slots, archive *a);
void columns_transfer_values(columns *c, int64_t j, archive *a);

/* Saves the values of a column of n samples, or sets *v to views of them. When loading, v->dtype is
 * the type of values that are not packed. */
void column_values_transfer(device_values *v, int64_t n, archive *a);

#endif
