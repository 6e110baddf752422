/* Pairs of samples whose responses look exchanged: the response of each fits the prediction of the
 * other. docs/genotypes.md has the rule and its rate of false pairs. */
#ifndef CLI_EXCHANGED_H
#define CLI_EXCHANGED_H

#include "base/status.h"

#include <jansson.h>
#include <stdio.h>

struct levels;

typedef struct exchanged_pair {
    int64_t a, b;    /* samples, a < b */
    double distance; /* the larger one of both differences */
} exchanged_pair;

typedef struct exchanged {
    exchanged_pair *pairs; /* the best first */
    int64_t count;
} exchanged; /* none is all zero */

void exchanged_free(exchanged *e);

/* The mean share of pairs that are found by chance is at most this. */
#define EXCHANGED_RATE 0.05

/* Searches among the samples that are not trusted. `r` is the view of an estimator: it has
 * residuals. */
roofs_status exchanged_find(exchanged *e, const double *y, const roofs_result *r, roofs_error *err);

/* The same for the finished fit of a model. Stores the pairs in the table of the model, if it has
 * one. */
roofs_status exchanged_complete(exchanged *e, const double *y, roofs_estimator *fit, roofs_model *m,
                                roofs_error *err);

/* A line of the summary of a fit; `ids` of the samples, or NULL. Nothing if there are no pairs. */
void exchanged_print(FILE *file, const exchanged *e, const struct levels *ids);

/* Pairs of samples; NULL if there are none. */
json_t *exchanged_json(const exchanged *e);

/* The sentences "A and B look exchanged", from the table of a model; they name samples by their IDs
 * if the table has them. NULL if there are none; the caller releases the list. */
json_t *exchanged_sentences(const roofs_model *m);

#endif
