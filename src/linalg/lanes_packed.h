/* Eight packed values as lanes. Each gives the same bits with every instruction set. */
#ifndef LINALG_LANES_PACKED_H
#define LINALG_LANES_PACKED_H

#include "linalg/lanes.h"

#if defined(__x86_64__) && defined(__GNUC__) && !defined(ROOFS_PLAIN_KERNELS)
#include <immintrin.h>
#endif

typedef uint64_t lanes_bytes __attribute__((vector_size(8 * sizeof(uint64_t))));

/* ---- bytes ---------------------------------------------------------------- */

/* The double 2^52 + b has the byte b as its last bits: no instruction that converts is needed. */
LANES_INLINE lanes lanes_from_bytes(uint64_t word, double offset)
{
    static const uint64_t exponent = (uint64_t)1075 << 52; /* the bits of 2^52 */
    const lanes_bytes place = {0, 8, 16, 24, 32, 40, 48, 56};
    const lanes_bytes bits = (((lanes_bytes){0} + word) >> place & 255) | exponent;
    lanes v;
    memcpy(&v, &bits, sizeof v);
    return v - offset;
}

LANES_INLINE lanes lanes_load_u8(const unsigned char *x)
{
    uint64_t word;
    memcpy(&word, x, sizeof word);
    return lanes_from_bytes(word, 0x1p52);
}

/* b + 128 is a byte without sign. */
LANES_INLINE lanes lanes_load_i8(const signed char *x)
{
    uint64_t word;
    memcpy(&word, x, sizeof word);
    return lanes_from_bytes(word ^ 0x8080808080808080u, 0x1p52 + 128);
}

/* ---- codes of 2 bits --------------------------------------------------------- */

/* The levels of the first eight codes in the bytes at x. lanes_decode reads two of them,
 * lanes_decode_avx512 eight. */
LANES_INLINE lanes lanes_decode(const unsigned char *x, const double level[4])
{
    const unsigned a = x[0], b = x[1];
    return (lanes){level[a & 3], level[a >> 2 & 3], level[a >> 4 & 3], level[a >> 6],
                   level[b & 3], level[b >> 2 & 3], level[b >> 4 & 3], level[b >> 6]};
}

#if defined(__x86_64__) && defined(__GNUC__) && !defined(ROOFS_PLAIN_KERNELS)
/* A permutation takes the last three bits of its index. The third belongs to the next code: the
 * table holds the levels twice. */
INSTRUCTIONS("avx512f")
LANES_INLINE lanes lanes_decode_avx512(const unsigned char *x, const double level[4])
{
    int64_t word;
    memcpy(&word, x, sizeof word);
    const __m512i place = _mm512_setr_epi64(0, 2, 4, 6, 8, 10, 12, 14);
    const __m512i index = _mm512_srlv_epi64(_mm512_set1_epi64(word), place);
    const __m512d twice = _mm512_broadcast_f64x4(_mm256_loadu_pd(level));
    return (lanes)_mm512_permutexvar_pd(index, twice);
}
#else
#define lanes_decode_avx512 lanes_decode
#endif

#endif
