/* The checkpoint of several ranks. Each rank writes a shard, the file F.S-K of rank K; then rank 0
 * replaces F, which holds the stamp S, and so makes these shards valid. Until then the shards of
 * the last stamp are valid and stay. All ranks make all calls. */
#ifndef CLI_SHARDS_H
#define CLI_SHARDS_H

#include "cli/checkpoint.h"

/* Takes the lock, and finds the valid shards. */
roofs_status shards_open(checkpoint *c, const char *path, roofs_error *err);

roofs_status shards_write(checkpoint *c, roofs_estimator *e, roofs_error *err);

/* Loads this rank's samples from the shards of any number of ranks. */
roofs_status shards_read(checkpoint *c, const char *path, const roofs_settings *run,
                         roofs_estimator **e, roofs_error *err);

/* Removes the shards, after another checkpoint has replaced them. */
void shards_remove(checkpoint *c);

/* The number of shards of FILE and their stamp; 0 shards if FILE is not of several ranks. */
roofs_status shards_find(const char *path, int64_t *shards, int64_t *stamp, roofs_error *err);

#endif
