/* The slab: the prior of coefficients that are not zero (hyper of docs/roofs-bayes.md). It is
 * learned from the unshrunk estimates of all features seen, because those of the kept features
 * alone are biased by the selection. */
#ifndef METHOD_SLAB_H
#define METHOD_SLAB_H

#include "base/archive.h"
#include "linalg/workers.h"
#include "method/slab_formula.h"

typedef struct slab {
    slab_parameters now;
    int started;
    int64_t every;     /* features 0, every, 2 every, ... are recorded */
    int64_t used;      /* places up to the last recorded one */
    double *R, *S, *k; /* estimate, its variance (0 = none yet), scale; SLAB_CAPACITY each */
} slab;

roofs_status slab_create(slab *s, roofs_error *err);
void slab_destroy(slab *s);
int64_t slab_bytes(void);

/* Records the latest estimate of a feature, which is given by its place in the stream. */
void slab_record(slab *s, int64_t feature, double R, double S, double k);

void slab_transfer(slab *s, archive *a);

/* hyper. total: variance of the clean responses; seen: features so far, without forced ones. */
void slab_learn(slab *s, double total, int64_t mu, int64_t seen, workers *w);

#endif
