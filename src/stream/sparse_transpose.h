/* Transposes sparse rows to sparse columns in bounded memory. Entries are gathered in runs. A
 * full run is sorted by column and stored, in memory while the budget lasts, then in a temporary
 * file. Reading merges the runs and reads each of them once. */
#ifndef STREAM_SPARSE_TRANSPOSE_H
#define STREAM_SPARSE_TRANSPOSE_H

#include "stream/sparse.h"

typedef struct sparse_entry {
    int32_t column, row;
    double value;
} sparse_entry;

typedef struct sparse_transposer sparse_transposer;

/* `budget`: bytes, 0 = 256 MiB. */
roofs_status sparse_transposer_create(sparse_transposer **out, int64_t budget, roofs_error *err);
void sparse_transposer_destroy(sparse_transposer *t); /* accepts NULL; removes the file */

roofs_status sparse_transposer_add(sparse_transposer *t, sparse_entry entry, roofs_error *err);
roofs_status sparse_transposer_finish(sparse_transposer *t, roofs_error *err); /* after the last */

int sparse_transposer_uses_file(const sparse_transposer *t);

/* Appends columns first..first+count-1 to `out`. Read columns in ascending order: columns before
 * `first` cannot be read afterwards. */
roofs_status sparse_transposer_read(sparse_transposer *t, int64_t first, int64_t count, sparse *out,
                                    roofs_error *err);

#endif
