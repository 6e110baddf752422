/* Transposes rows to columns in bounded memory. Rows are gathered in panels. A full panel is
 * transposed and stored, in memory while the budget lasts, then in a temporary file. Consecutive
 * columns are contiguous in every panel, so reading them costs one read per panel. */
#ifndef STREAM_TRANSPOSE_H
#define STREAM_TRANSPOSE_H

#include "base/status.h"

typedef struct transposer transposer;

/* `width`: values in a row. `budget`: bytes, 0 = 256 MiB. A few rows may exceed a smaller one. */
roofs_status transposer_create(transposer **out, int64_t width, roofs_dtype dtype, int64_t budget,
                               roofs_error *err);
void transposer_destroy(transposer *t); /* accepts NULL; removes the file */

/* Sets *row to the memory for the next row. Write the values there, then call transposer_push. */
roofs_status transposer_row(transposer *t, void **row, roofs_error *err);
roofs_status transposer_push(transposer *t, roofs_error *err);

/* Call after the last row. */
roofs_status transposer_finish(transposer *t, roofs_error *err);

int64_t transposer_rows(const transposer *t);
int transposer_uses_file(const transposer *t);
int64_t transposer_peak(const transposer *t); /* most bytes in use so far */

/* Reads columns first..first+count-1, one after the other, transposer_rows() values each.
 * F32 is allowed only where the rows are F32. */
roofs_status transposer_read(transposer *t, int64_t first, int64_t count, roofs_dtype dtype,
                             void *values, roofs_error *err);

/* Transposes `rows` rows of `width` values at once, in memory. */
void transpose_values(const void *from, int64_t rows, int64_t width, roofs_dtype dtype, void *to);

#endif
