/* Consecutive blocks of a stream, copied: several fits can take them in one after the other. */
#ifndef CLI_CHUNK_H
#define CLI_CHUNK_H

#include "base/status.h"

typedef struct chunk {
    roofs_block *blocks;
    void **memory; /* of each block */
    int64_t count, capacity, memory_capacity;
    int64_t bytes; /* of all blocks */
} chunk;           /* an empty one is all zero */

roofs_status chunk_add(chunk *c, const roofs_block *block, roofs_error *err);
void chunk_clear(chunk *c); /* frees the blocks, keeps the lists */
void chunk_free(chunk *c);

#endif
