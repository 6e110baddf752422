/* The checkpoint of a fit whose samples were split over ranks, one file of each, read as that of a
 * fit with any other part of the samples: as many ranks as there were need not come back. */
#ifndef API_JOIN_H
#define API_JOIN_H

#include "base/section.h"

/* What one rank wrote: it stands behind the head and what the program wrote before the fit. */
typedef struct join_part {
    section_source from;
    int64_t first, n; /* its samples */
    int narrow;       /* values are 32-bit */
    archive section, marks;
} join_part;

typedef struct join {
    join_part *parts; /* the caller's, in order of their samples, of which they have all wanted */
    int64_t count;
    int64_t first, n; /* the samples wanted */
    archive joined;
    archive stream; /* bytes not yet taken */
    int ended;
    roofs_error why; /* of a failure: who reads a stream of bytes cannot know */
} join;

/* Reads the section that says which samples a part has; *total: samples of all parts. */
roofs_status join_part_open(join_part *p, int64_t *total, roofs_error *err);
void join_part_free(join_part *p);

/* A source of sections as checkpoint_load wants it; `j` must have parts and samples. */
section_source join_source(join *j);
void join_free(join *j);

#endif
