/* The features a fit works on: those it keeps and those of the current batch.
 * Bookkeeping only; values and products belong to the device. */
#ifndef LINALG_COLUMNS_H
#define LINALG_COLUMNS_H

#include "linalg/device.h"

typedef struct column {
    int64_t feature; /* place in the stream, from 0 */
    char *name;      /* owned; NULL where features have no names */
    double coef;     /* of the standardised column */
    int exponent;    /* values are held times 2^-exponent; 0 but for extreme ones */
} column;

typedef struct columns {
    const device_ops *ops;
    device *dev;
    int64_t n;
    int64_t count;
    column *items;          /* count; the kept ones first, by arrival */
    device_column *places;  /* count, in the same order */
    device_column *leaving; /* scratch of columns_drop */
    double *leaving_coef;
    int64_t *free_slots; /* a stack */
    int64_t free_count;
    int64_t slots_used;  /* slots handed out so far; those beyond are free too */
    int64_t capacity[5]; /* of the five arrays above */
    device_facts *facts;
    int unit_exponent; /* the unit of a step is 2^(2 unit_exponent); 0 but for extreme values */
    int64_t constant;  /* features that did not vary, so far */
} columns;

roofs_status columns_create(columns *c, const device_ops *ops, const device_shape *shape,
                            roofs_error *err);
void columns_destroy(columns *c);

typedef struct columns_taste {
    int standardize;     /* mean 0 and scale 1 over the trusted samples */
    int refuse_constant; /* leave out features that do not vary over them */
    const double *mask;  /* the trusted samples: 1 or 0 */
    int64_t trusted;     /* how many are 1 */
} columns_taste;

/* Adds the features of a block, with coefficient 0. `first` is the place in the
 * stream of the block's first feature. */
roofs_status columns_arrive(columns *c, const roofs_block *block, int64_t first,
                            const columns_taste *taste, roofs_error *err);

/* Gradient and its image in one read, see device_ops.descend. */
void columns_descend(columns *c, const double *r, double *gradient, double *image);

/* Keeps the columns with keep[j] != 0, in order; r += coef z for the others. */
void columns_drop(columns *c, const unsigned char *keep, double *r);

/* Copies what is still borrowed into slots: the block may now go. Returns how
 * many there were. At most as many columns as slots may be left. */
int64_t columns_settle(columns *c);

#endif
