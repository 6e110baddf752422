/* Where the codes of a column of type ROOFS_2BIT are. */
#ifndef LINALG_CPU_KERNELS_2BIT_H
#define LINALG_CPU_KERNELS_2BIT_H

#include "linalg/cpu/kernels.h"
#include "linalg/lanes_packed.h"

/* The codes from sample i on, with a whole word behind them. */
LANES_INLINE const unsigned char *codes_at(const sweep_block *b, int q, int64_t i)
{
    return i < b->whole ? (const unsigned char *)b->x[q] + i / 4
                        : b->codes[q]->last + (i / 4 - b->last_at);
}

LANES_INLINE int code_at(const sweep_block *b, int q, int64_t i)
{
    return ((const unsigned char *)b->x[q])[i / 4] >> 2 * (i % 4) & 3;
}

#endif
