/* Products on columns whose samples are split over ranks: sums over the ranks of the products of
 * their shards. */
#ifndef LINALG_COLUMNS_SPLIT_H
#define LINALG_COLUMNS_SPLIT_H

#include "linalg/columns.h"

/* Replaces c->facts[0..count) of this rank's samples by those of all samples. */
roofs_status split_facts(columns *c, int64_t count, const ingest_options *options,
                         roofs_error *err);

/* product_ops.descend and product_ops.sweep on all samples. */
void split_descend(columns *c, const device_column *places, int64_t count, const double *r,
                   double *gradient, double *image);
void split_sweep(columns *c, const device_column *places, int64_t count, const device_sweep *how);

#endif
