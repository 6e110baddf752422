/* What a fit spends its time on. */
#ifndef METHOD_SPENT_H
#define METHOD_SPENT_H

#include <stdint.h>

typedef enum fit_phase {
    FIT_IDLE,     /* outside calls; not counted */
    FIT_CHECKING, /* values are checked and surveyed */
    FIT_ROUNDS,   /* gradient steps, sweeps, and choosing what stays */
    FIT_SAMPLES,  /* which samples to trust */
    FIT_STORING,  /* columns that stay are copied */
    FIT_JOINT,    /* joint solutions at the end of a pass */
    FIT_GROUPS,   /* the pool of dropped features, groups, errors of coefficients */
    FIT_PHASES
} fit_phase;

/* Phases never overlap within a fit. */
typedef struct fit_spent {
    fit_phase now;
    double since, read; /* when it began, and columns.bytes_read then */
    double seconds[FIT_PHASES], bytes[FIT_PHASES];
} fit_spent;

struct fit;

/* Enters a phase; returns the one before, to enter it again. */
fit_phase fit_enter(struct fit *f, fit_phase phase);

/* Adds what another fit has spent. */
void fit_add_spent(struct fit *f, const struct fit *other);

#endif
