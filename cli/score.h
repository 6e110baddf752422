/* Scores of a model whose true coefficients and clean samples are known. */
#ifndef CLI_SCORE_H
#define CLI_SCORE_H

#include "roofs/roofs.h"

typedef struct truth {
    const double *beta; /* p */
    int64_t p;
    const unsigned char *clean; /* n: 1 = not corrupted */
    int64_t n;
} truth;

/* The length of the difference between fitted and true coefficients. */
double score_l2_error(const roofs_result *m, const truth *t);

/* F1 of the selected features, and of the samples that are clean (clean = 1) or corrupted (0). The
 * F1 of two empty sets is 1. */
double score_feature_f1(const roofs_result *m, const truth *t);
double score_sample_f1(const roofs_result *m, const truth *t, int clean);

#endif
