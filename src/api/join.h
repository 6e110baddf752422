/* Joins the checkpoints of several ranks and reads them as the checkpoint of one rank with any
 * range of the samples. So the number of ranks may differ between saving and loading. */
#ifndef API_JOIN_H
#define API_JOIN_H

#include "base/section.h"

/* The checkpoint of one rank. */
typedef struct join_shard {
    section_source from;
    int64_t first, n; /* its samples */
    int narrow;       /* values are 32-bit */
    archive section, marks;
} join_shard;

typedef struct join {
    join_shard *shards; /* borrowed; ordered by samples; they hold all samples that are wanted */
    int64_t count;
    int64_t first, n; /* the samples wanted */
    archive joined;
    archive stream; /* bytes not yet read */
    int ended;
    roofs_error why; /* the reason of a failure, which a read function cannot return */
} join;

/* Reads up to the section SHARD. *total = the number of samples of all shards. */
roofs_status join_shard_open(join_shard *p, int64_t *total, roofs_error *err);
void join_shard_free(join_shard *p);

/* A source of sections for checkpoint_load. The caller has set shards, count, first and n. */
section_source join_source(join *j);
void join_free(join *j);

#endif
