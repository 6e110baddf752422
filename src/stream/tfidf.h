/* Weights for word counts: (1 + log count) * log(n / samples with the word), then every sample is
 * scaled to length 1. The stream is read twice: to measure, then to weigh. Memory: one number per
 * sample and one per feature. */
#ifndef STREAM_TFIDF_H
#define STREAM_TFIDF_H

#include "base/status.h"

typedef struct tfidf {
    int64_t n;
    double *idf;             /* per feature */
    int64_t given;           /* number of weights given; -1 = learn them */
    int64_t count, capacity; /* features measured */
    double *length;          /* per sample; its square while measuring */
} tfidf;

/* idf: `count` weights from an earlier stream, copied; NULL = learn them from this one. */
roofs_status tfidf_create(tfidf *t, int64_t n, const double *idf, int64_t count, roofs_error *err);
void tfidf_free(tfidf *t);

/* First pass: call tfidf_measure on all blocks (sparse, values above 0) in the order of the
 * stream, then tfidf_measured. */
roofs_status tfidf_measure(tfidf *t, const roofs_block *block, roofs_error *err);
void tfidf_measured(tfidf *t);

/* Second pass: writes one weight per value of a block whose first feature has index `first` in
 * the stream. */
void tfidf_weigh(const tfidf *t, int64_t first, const roofs_block *block, double *weights);

#endif
