/* The checkpoint F of several ranks. Rank K writes its shard to the file F.S-K, where the stamp S
 * is one more than that of the last checkpoint. Then rank 0 writes S to F, which makes the new
 * shards valid, and the old shards are removed. All ranks make all calls. */
#ifndef CLI_SHARDS_H
#define CLI_SHARDS_H

#include "cli/checkpoint.h"

/* Locks F and finds the valid shards. */
roofs_status shards_open(checkpoint *c, const char *path, roofs_error *err);

roofs_status shards_write(checkpoint *c, roofs_estimator *e, roofs_error *err);

/* Loads the samples of this rank. The number of ranks may differ from the number of shards. */
roofs_status shards_read(checkpoint *c, const char *path, const roofs_settings *execution,
                         roofs_estimator **e, roofs_error *err);

/* Removes the shards, after another checkpoint has replaced them. */
void shards_remove(checkpoint *c);

/* The number of shards of the checkpoint and their stamp; 0 shards if one process wrote it. */
roofs_status shards_find(const char *path, int64_t *shards, int64_t *stamp, roofs_error *err);

#endif
