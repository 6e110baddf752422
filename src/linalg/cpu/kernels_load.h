/* Lanes of values and of vectors, for the kernels of one type of columns. The including file
 * defines
 *   BLOCK              the type of a kernel's own copy of a block, for local variables
 *   OWN(b)             such a copy; OWN_CENTRED and OWN_STANDARDISED: a copy for the macros CENTRED
 *                      and STANDARDISED
 *   CENTRED(b, q, v)   value v, or lanes, less the center of column q; STANDARDISED: times the
 *                      factor, too
 *   ITEM(b, q, i)      value i of column q of such a copy
 *   LOAD(b, q, i)      eight values from i on, as lanes; i is a multiple of eight
 *   PREFETCH(b, q, i)  prefetches them; b is a sweep_block
 *   KERNEL             how kernels are compiled: EVERY_WIDTH or INSTRUCTIONS
 *   INLINED            the same for the functions that they inline and that load */
#include "linalg/cpu/kernels.h"
#include "linalg/lanes_math.h"
#include "linalg/moments_formula.h"

#include <float.h>
#include <math.h>

/* The last `left` values, fewer than eight; the other lanes are 0. */
LANES_INLINE lanes load_some(const BLOCK *b, int q, int64_t i, int64_t left)
{
    lanes v = {0};
    for (int k = 0; k < left; k++)
        v[k] = ITEM(b, q, i + k);
    return v;
}

LANES_INLINE lanes load_some_weights(const double *w, int64_t left)
{
    lanes v = {0};
    for (int k = 0; k < left; k++)
        v[k] = w[k];
    return v;
}

LANES_INLINE void store_lanes(double *to, lanes v)
{
    memcpy(to, &v, sizeof v);
}

/* total + v[0] + v[1] + ..., for the first `left` lanes */
LANES_INLINE double add_some(double total, lanes v, int64_t left)
{
    for (int k = 0; k < left; k++)
        total += v[k];
    return total;
}

/* Eight samples of a column less its center; fewer at the end, where the weights are 0. */
INLINED lanes centred(const BLOCK *b, int q, int64_t i, int64_t left)
{
    return CENTRED(b, q, left < LANES ? load_some(b, q, i, left) : LOAD(b, q, i));
}
