/* The features a fit works on: the stored ones and those of the current batch.
 * Bookkeeping only; values and products belong to the device. */
#ifndef LINALG_COLUMNS_H
#define LINALG_COLUMNS_H

#include "base/archive.h"
#include "linalg/comm.h"
#include "linalg/device.h"

typedef struct column {
    int64_t feature;    /* place in the stream, from 0 */
    char *name;         /* owned; NULL where features have no names */
    double coef;        /* of the standardised column */
    double variance;    /* of the coefficient, for methods that know it */
    double probability; /* that the feature matters, for methods that know it */
    double flatness;    /* of the values, see device_facts; 0 unless asked for */
    int exponent;       /* values are held times 2^-exponent; 0 but for extreme ones */
} column;

typedef struct columns {
    const device_ops *ops;
    device *dev;
    int64_t n;
    roofs_dtype dtype; /* of the stored values */
    int64_t count;
    column *items;          /* count; the stored ones first, by arrival */
    device_column *places;  /* count, in the same order */
    device_column *leaving; /* scratch of columns_drop and the products */
    double *leaving_coef, *leaving_variance;
    int64_t *free_slots; /* a stack; those beyond `released` still hold what has left */
    int64_t free_count, released;
    int64_t slots_used;   /* slots handed out so far; those beyond are free too */
    int64_t capacity[6];  /* of the six arrays above */
    device_facts *facts;  /* of the batch */
    unsigned char *known; /* of the batch: already among the columns */
    int scaled;           /* columns have scale 1: their own units do not matter */
    int unit_exponent;    /* the unit of a step is 2^(2 unit_exponent); 0 but for extreme values */
    int64_t constant;     /* features that did not vary, so far */

    /* of samples split over ranks */
    comm *comm;       /* NULL = not split */
    double *samples;  /* scratch: n */
    double *gathered; /* scratch: the facts of all ranks about a batch */
    int64_t gathered_capacity;
    int met_sparse; /* some block was sparse */
} columns;

roofs_status columns_create(columns *c, const device_ops *ops, const device_shape *shape,
                            roofs_error *err);
void columns_destroy(columns *c);

/* The samples are this rank's shard; does nothing where there is one rank. */
roofs_status columns_split(columns *c, comm *ranks, roofs_error *err);

/* Bytes of the lists, which grow by doubling; those of the device come on top. */
int64_t columns_list_bytes(const device_shape *shape);

typedef struct ingest_options {
    int standardize;      /* mean 0 and scale 1 over the samples, by their weights */
    int unit_scale;       /* root mean square 1, where not standardised */
    int refuse_constant;  /* leave out features that are constant over samples with weight */
    int flatness;         /* find that of each feature */
    const double *weight; /* of the samples; 1 or 0 for methods that trust or do not */
    const double *weight_on_device; /* the same weights; NULL: the device copies them */
} ingest_options;

/* Adds the features of a block, with coefficient 0, except those that were added
 * in an earlier pass. `first` is the place in the stream of the block's first
 * feature. */
roofs_status columns_arrive(columns *c, const roofs_block *block, int64_t first,
                            const ingest_options *options, roofs_error *err);

/* The products below run over the columns which[0..count), in that order, and over
 * all of them where `which` is NULL (count is then c->count). What comes out per
 * column stands in the order of `which`. */

/* Gradient and its image in one read, see product_ops.descend. */
void columns_descend(columns *c, const int64_t *which, int64_t count, const double *r,
                     double *gradient, double *image);

/* out[k] = z'r */
void columns_products(columns *c, const int64_t *which, int64_t count, const double *r,
                      double *out);

/* gram[k * count + l] = z_k'W z_l, W = diag(weight) */
void columns_gram(columns *c, const int64_t *which, int64_t count, const double *weight,
                  double *gram);

/* out[k] = z of one sample */
void columns_sample(columns *c, const int64_t *which, int64_t count, int64_t sample, double *out);

/* out += sum_k weight[k] z_k */
void columns_add(columns *c, const int64_t *which, int64_t count, const double *weight,
                 double *out);

/* out += sum_k weight[k] z_k^2 */
void columns_add_squares(columns *c, const int64_t *which, int64_t count, const double *weight,
                         double *out);

/* Moves the centre of each column to its weighted mean: z is then orthogonal to the
 * weights, and an intercept can be fitted apart. `total` is the sum of the weights,
 * `scratch` holds `count` numbers. Coefficients stay, so the residual of a
 * column that has one must be made anew. */
void columns_centre(columns *c, const int64_t *which, int64_t count, const double *weight,
                    double total, double *scratch);

/* Keeps the columns with keep[j] != 0, in order; r += coef z for the others and,
 * where `variance` is given, variance -= column.variance z^2. r is NULL where an engine has done
 * both on the device. */
void columns_drop(columns *c, const unsigned char *keep, double *r, double *variance);

/* Coordinate updates (see device_sweep) over the columns which[0..count), in that
 * order; over all of them where `which` is NULL. The update sees places in
 * `which`. */
void columns_sweep(columns *c, const int64_t *which, int64_t count, const device_sweep *how);

/* Copies what is still borrowed into slots: the block may now go. *settled says how
 * many there were. At most as many columns as slots may be left. Until then the values of
 * columns that were dropped stay: columns_transfer can restore them. */
roofs_status columns_settle(columns *c, int64_t *settled, roofs_error *err);

/* Reserves capacity for more columns; empties the list. For columns_transfer. */
roofs_status columns_reserve(columns *c, int64_t more, roofs_error *err);
void columns_reset(columns *c);

/* The list, when nothing is borrowed; `slots` is the most columns there may be. Values are saved
 * apart by columns_transfer_values, an archive for each column. */
void columns_transfer(columns *c, int64_t slots, archive *a);
void columns_transfer_values(columns *c, int64_t j, archive *a);

#endif
