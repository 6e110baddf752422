/* An output file to which every rank writes its shard. Rank 0 opens it and writes its header. All
 * ranks must see the file under the same name. */
#ifndef CLI_SHARED_OUTPUT_H
#define CLI_SHARED_OUTPUT_H

#include "base/comm.h"
#include "base/output.h"

typedef struct shared_output {
    int fd;
    int64_t start; /* offset of the first shard */
} shared_output;

/* `o` is the output of rank 0; other ranks' `o` is ignored. */
roofs_status shared_output_open(shared_output *s, const output *o, comm *ranks, roofs_error *err);

/* Writes `size` bytes at `start` + `at`. */
roofs_status shared_output_write(const shared_output *s, const void *bytes, int64_t size,
                                 int64_t at, roofs_error *err);

/* Waits until all ranks have written their shards. Then rank 0 may commit. */
roofs_status shared_output_close(shared_output *s, comm *ranks, roofs_status status,
                                 roofs_error *err);

#endif
