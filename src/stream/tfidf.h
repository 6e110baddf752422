/* Weights for counts of words: (1 + log count) * log(n / samples with the word), then
 * every sample brought to length 1. The stream is read twice, feature by feature: once
 * to measure, once to weigh; in between nothing but two numbers per sample and one per
 * feature is held. */
#ifndef STREAM_TFIDF_H
#define STREAM_TFIDF_H

#include "base/status.h"

typedef struct tfidf {
    int64_t n;
    double *idf;             /* per feature */
    int64_t given;           /* how many of them were given; -1 = they are learned */
    int64_t count, capacity; /* features measured */
    double *length;          /* per sample; its square while measuring */
} tfidf;

/* idf: `count` weights learned before, copied; NULL = learn them from this stream. */
roofs_status tfidf_create(tfidf *t, int64_t n, const double *idf, int64_t count, roofs_error *err);
void tfidf_free(tfidf *t);

/* First reading: all blocks (sparse, of whole positive counts or other numbers above 0)
 * in the order of the stream; then tfidf_measured. */
roofs_status tfidf_measure(tfidf *t, const roofs_block *block, roofs_error *err);
void tfidf_measured(tfidf *t);

/* Second reading: the weights of the values of a block whose first feature has place
 * `first` in the stream, in the order of the values; `weights` has room for them. */
void tfidf_weigh(const tfidf *t, int64_t first, const roofs_block *block, double *weights);

#endif
