/* An output of which every rank writes a part. Rank 0 opens it and writes what stands before the
 * parts; the others write to the same file, which all must see under the same name. */
#ifndef CLI_SHARED_OUTPUT_H
#define CLI_SHARED_OUTPUT_H

#include "base/output.h"
#include "linalg/comm.h"

typedef struct shared_output {
    int fd;
    int64_t start; /* where the parts begin */
} shared_output;

/* `o` is rank 0's; the others' is not looked at. */
roofs_status shared_output_open(shared_output *s, const output *o, comm *ranks, roofs_error *err);

/* `size` bytes, `at` bytes behind the start. */
roofs_status shared_output_put(const shared_output *s, const void *bytes, int64_t size, int64_t at,
                               roofs_error *err);

/* All parts of all ranks have arrived; rank 0 may then commit. */
roofs_status shared_output_close(shared_output *s, comm *ranks, roofs_status status,
                                 roofs_error *err);

#endif
