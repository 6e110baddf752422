/* The trust set of samples split over ranks, where they are too many to be brought together. */
#ifndef ROBUST_TRUST_SEARCH_H
#define ROBUST_TRUST_SEARCH_H

#include "robust/tau.h"
#include "robust/trust.h"

typedef struct trust_search trust_search;

roofs_status trust_search_create(trust_search **out, comm *c, roofs_error *err);
void trust_search_destroy(trust_search *s);

/* S = the tau smallest |r|; tau from the rule where it is 0. t->sorted has this rank's |r|. */
void trust_search_update(trust *t, const double *r, int64_t tau, tau_rule rule);

#endif
