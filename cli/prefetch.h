/* Reads a stream one batch ahead, in a thread of its own: while the fit works on one batch, the
 * next one is read. */
#ifndef CLI_PREFETCH_H
#define CLI_PREFETCH_H

#include "stream/source.h"

typedef struct prefetch prefetch;

/* Borrows the source. The thread uses it from prefetch_read to the end of prefetch_wait; in
 * between the caller may use it. `most`: features of a block at most. */
roofs_status prefetch_begin(prefetch **out, source *s, int64_t most, roofs_error *err);
void prefetch_end(prefetch *p); /* ends the thread; NULL is fine */

/* Begins to read the next block. The block before it stays valid. */
void prefetch_read(prefetch *p);

/* Waits for the block and returns what source_next returned. A signal ends the wait, also where
 * no data come. */
roofs_status prefetch_wait(prefetch *p, roofs_block *block, roofs_error *err);

#endif
