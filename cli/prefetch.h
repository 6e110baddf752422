/* Reads the next batch of a stream in a thread, while the fit works on the current one. */
#ifndef CLI_PREFETCH_H
#define CLI_PREFETCH_H

#include "stream/source.h"

typedef struct prefetch prefetch;

/* Borrows the source. From prefetch_read until prefetch_wait returns only the thread may use it.
 * `most`: features of a block at most. */
roofs_status prefetch_begin(prefetch **out, source *s, int64_t most, roofs_error *err);
void prefetch_end(prefetch *p); /* ends the thread; accepts NULL */

/* Starts to read the next block. The block before it stays valid. */
void prefetch_read(prefetch *p);

/* Waits for the block and returns the status of source_next. A signal ends the wait, even if a pipe
 * sends no data. */
roofs_status prefetch_wait(prefetch *p, roofs_block *block, roofs_error *err);

#endif
