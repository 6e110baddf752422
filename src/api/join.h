/* Joins the checkpoints of several ranks: reads them as the checkpoint of a rank that holds any
 * other range of the samples. The number of ranks may so differ between saving and loading. */
#ifndef API_JOIN_H
#define API_JOIN_H

#include "base/section.h"

/* What one rank saved. */
typedef struct join_shard {
    section_source from;
    int64_t first, n; /* its samples */
    int narrow;       /* values are 32-bit */
    archive section, marks;
} join_shard;

typedef struct join {
    join_shard *shards; /* borrowed; in order of their samples, and with all that are wanted */
    int64_t count;
    int64_t first, n; /* the samples wanted */
    archive joined;
    archive stream; /* bytes not yet read */
    int ended;
    roofs_error why; /* of a failure: a read function cannot return it */
} join;

/* Reads up to the section that says which samples a shard has; *total: samples of all shards. */
roofs_status join_shard_open(join_shard *p, int64_t *total, roofs_error *err);
void join_shard_free(join_shard *p);

/* A source of sections for checkpoint_load; the shards and samples of `j` are set. */
section_source join_source(join *j);
void join_free(join *j);

#endif
