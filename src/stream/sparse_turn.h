/* Turns sparse rows into sparse columns in bounded memory. Entries are gathered in
 * runs; a full run is sorted by column and kept, in memory while the budget lasts,
 * then in a temporary file. Reading merges the runs: every one is read once, from
 * front to back. */
#ifndef STREAM_SPARSE_TURN_H
#define STREAM_SPARSE_TURN_H

#include "stream/sparse.h"

typedef struct sparse_entry {
    int32_t column, row;
    double value;
} sparse_entry;

typedef struct sparse_turner sparse_turner;

/* `budget`: bytes, 0 = 256 MiB. */
roofs_status sparse_turner_create(sparse_turner **out, int64_t budget, roofs_error *err);
void sparse_turner_destroy(sparse_turner *t); /* NULL is fine; removes the file */

roofs_status sparse_turner_add(sparse_turner *t, sparse_entry entry, roofs_error *err);
roofs_status sparse_turner_finish(sparse_turner *t, roofs_error *err); /* no more entries come */

int sparse_turner_uses_file(const sparse_turner *t);

/* Appends columns first..first+count-1 to `out`. Columns are read in ascending order:
 * those before `first` are gone afterwards. */
roofs_status sparse_turner_read(sparse_turner *t, int64_t first, int64_t count, sparse *out,
                                roofs_error *err);

#endif
