/* Turns rows into columns in bounded memory. Rows are gathered in panels; a full
 * panel is transposed and kept, in memory while the budget lasts, then in a
 * temporary file. A run of features is contiguous in every panel, so reading
 * them back costs one read per panel. */
#ifndef STREAM_TURN_H
#define STREAM_TURN_H

#include "base/status.h"

typedef struct turner turner;

/* `width`: values in a row. `budget`: bytes, 0 = 256 MiB; below the size of a few
 * rows it is exceeded by them. */
roofs_status turner_create(turner **out, int64_t width, roofs_dtype dtype, int64_t budget,
                           roofs_error *err);
void turner_destroy(turner *t); /* NULL is fine; removes the file */

/* Where the values of the next row are to be put; it counts after turner_push. */
roofs_status turner_row(turner *t, void **row, roofs_error *err);
roofs_status turner_push(turner *t, roofs_error *err);

/* No more rows come. */
roofs_status turner_finish(turner *t, roofs_error *err);

int64_t turner_rows(const turner *t);
int turner_uses_file(const turner *t);

/* Columns first..first+count-1, one after the other, turner_rows() values each.
 * F32 may only be asked for where the rows are F32. */
roofs_status turner_read(turner *t, int64_t first, int64_t count, roofs_dtype dtype, void *values,
                         roofs_error *err);

#endif
