/* Counter-based random numbers (Philox4x32-10): every number is a function of (seed, stream, row,
 * place), so any division of the work gives the same data. */
#ifndef BASE_RANDOM_H
#define BASE_RANDOM_H

#include <stdint.h>

typedef struct random_key {
    uint64_t seed;
    uint32_t stream; /* a small number per purpose */
} random_key;

/* Uniform on (0, 1), never 0 or 1; 52 bits. */
double random_uniform(random_key key, uint64_t row, uint64_t place);

/* out[i] = standard normal number `first + i` of the row. */
void random_normals(random_key key, uint64_t row, uint64_t first, int64_t count, double *out);

/* A uniformly random permutation of 0..count-1. */
void random_permutation(random_key key, int64_t count, int64_t *out);

#endif
