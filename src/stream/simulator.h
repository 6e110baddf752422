/* The generator of the paper's section VI and further attacks. All data is a function of the
 * seed: any feature can be generated at any time. */
#ifndef STREAM_SIMULATOR_H
#define STREAM_SIMULATOR_H

#include "base/comm.h"

typedef enum attack {
    ATTACK_UNIFORM = 0,     /* the paper's: y += U[-5 max|y*|, 5 max|y*|] */
    ATTACK_SHIFT = 1,       /* y += max|y*| */
    ATTACK_CONSTANT = 2,    /* y = 3 max|y*| */
    ATTACK_OTHER_MODEL = 3, /* y = 3 X'b', b' on mu random features, entries N(0, 1/mu) */
    ATTACK_SIGN_FLIP = 4,   /* y = -y* */
    ATTACK_GROSS = 5        /* y +- 1e12 */
} attack;

typedef struct simulation {
    int64_t n, p, mu;
    double corruption; /* share of the samples, 0 <= corruption < 1 */
    double noise_var;
    int random_order; /* 0: the true features arrive first; 1: anywhere */
    attack attack;
    uint64_t seed;
    comm *ranks; /* generate only the samples of this rank; NULL = all */
} simulation;

/* Name of attack k as used by `--attack`; NULL past the last. */
const char *attack_name(int64_t k);

typedef struct simulator {
    simulation what;
    int64_t first, own;   /* the samples that are generated: all, or those of this rank */
    double *y;            /* own */
    double *beta;         /* p */
    unsigned char *clean; /* own: 1 = not corrupted */
} simulator;

roofs_status simulator_create(simulator **out, const simulation *what, int64_t threads,
                              roofs_error *err);
void simulator_destroy(simulator *s); /* accepts NULL */

/* Features first..first+count-1, feature-major, `count * own` values of `dtype`. */
void simulator_features(const simulator *s, int64_t first, int64_t count, roofs_dtype dtype,
                        int64_t threads, void *values);

#endif
