/* An output file to which every rank writes its shard. Rank 0 opens it and writes its head; the
 * other ranks write to the same file, which all must see under the same name. */
#ifndef CLI_SHARED_OUTPUT_H
#define CLI_SHARED_OUTPUT_H

#include "base/comm.h"
#include "base/output.h"

typedef struct shared_output {
    int fd;
    int64_t start; /* offset of the first shard */
} shared_output;

/* `o` is that of rank 0; that of the other ranks is ignored. */
roofs_status shared_output_open(shared_output *s, const output *o, comm *ranks, roofs_error *err);

/* Writes `size` bytes, `at` bytes behind the start. */
roofs_status shared_output_write(const shared_output *s, const void *bytes, int64_t size,
                                 int64_t at, roofs_error *err);

/* Returns when all ranks have written their shards; rank 0 may then commit. */
roofs_status shared_output_close(shared_output *s, comm *ranks, roofs_status status,
                                 roofs_error *err);

#endif
