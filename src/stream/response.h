/* The response: n numbers in a file of any registered format. */
#ifndef STREAM_RESPONSE_H
#define STREAM_RESPONSE_H

#include "base/status.h"

/* Reads a vector, or an array or table with one row or one column. Every value must be finite.
 * Free *y with memory_free. */
roofs_status response_read(const char *path, double **y, int64_t *n, roofs_error *err);

/* Reads the shard of one rank of *n values; see shard_begin of base/comm.h. OVER_LIMIT if it needs
 * more than `limit` bytes; 0 = no limit. */
roofs_status response_read_shard(const char *path, int64_t rank, int64_t ranks, int64_t limit,
                                 double **y, int64_t *n, roofs_error *err);

#endif
