/* Products on columns whose samples are split over ranks: each rank's device makes those of its
 * own samples, here they meet. */
#ifndef LINALG_COLUMNS_SPLIT_H
#define LINALG_COLUMNS_SPLIT_H

#include "linalg/columns.h"

/* c->facts[0..count), found on this rank's samples, become those of all samples. */
roofs_status split_facts(columns *c, int64_t count, const columns_taste *taste, roofs_error *err);

/* device_ops.descend and device_ops.sweep on all samples. */
void split_descend(columns *c, const device_column *places, int64_t count, const double *r,
                   double *gradient, double *image);
void split_sweep(columns *c, const device_column *places, int64_t count, const device_sweep *how);

#endif
