/* A stream that is read one batch ahead, by a thread of its own: while one batch is worked on the
 * next is read. */
#ifndef CLI_AHEAD_H
#define CLI_AHEAD_H

#include "stream/source.h"

typedef struct ahead ahead;

/* The source belongs to the thread while it reads; between ahead_wait and ahead_read it rests, and
 * may be asked. */
roofs_status ahead_begin(ahead **out, source *s, int64_t most, roofs_error *err);
void ahead_end(ahead *a); /* it rests again; NULL is fine */

/* Begins to read; the block before stays as it is. */
void ahead_read(ahead *a);

/* What source_next gave. A signal ends it, also where no data come. */
roofs_status ahead_wait(ahead *a, roofs_block *block, roofs_error *err);

#endif
