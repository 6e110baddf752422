/* Updates the trust set of samples that are split over ranks and too many to gather on one. */
#ifndef ROBUST_TRUST_SEARCH_H
#define ROBUST_TRUST_SEARCH_H

#include "robust/tau.h"
#include "robust/trust.h"

typedef struct trust_search trust_search;

roofs_status trust_search_create(trust_search **out, comm *c, roofs_error *err);
void trust_search_destroy(trust_search *s);

/* S = the samples with the tau smallest |r|. If tau is 0, eq. (5) with `rule` gives tau. t->sorted
 * is this rank's |r|, ascending. */
void trust_search_update(trust *t, const double *r, int64_t tau, tau_rule rule);

#endif
