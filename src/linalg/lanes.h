/* Eight doubles side by side, for sums in eight interleaved partial sums. The compiler maps them to
 * the registers of the machine; the arithmetic, and so the bits, are the same on every machine. */
#ifndef LINALG_LANES_H
#define LINALG_LANES_H

#include <stdint.h>
#include <string.h>

enum { LANES = 8 };

/* The length of an array of whole lanes that holds `count` numbers. */
static inline int64_t lanes_padded(int64_t count)
{
    return (count + LANES - 1) / LANES * LANES;
}

/* Always inlined, so that the code uses the instruction set of the calling function. */
#define LANES_INLINE static inline __attribute__((always_inline))

typedef double lanes __attribute__((vector_size(8 * sizeof(double))));
typedef float lanes_f32 __attribute__((vector_size(8 * sizeof(float))));

LANES_INLINE lanes lanes_load_f64(const double *x)
{
    lanes v;
    memcpy(&v, x, sizeof v);
    return v;
}

LANES_INLINE lanes lanes_load_f32(const float *x)
{
    lanes_f32 v;
    memcpy(&v, x, sizeof v);
    return __builtin_convertvector(v, lanes);
}

/* The sum of the eight lanes, in a fixed order. */
LANES_INLINE double lanes_total(lanes v)
{
    return ((v[0] + v[4]) + (v[2] + v[6])) + ((v[1] + v[5]) + (v[3] + v[7]));
}

/* out[k] = the sum of the eight lanes of v_k, in a fixed order. */
LANES_INLINE void lanes_totals(lanes v0, lanes v1, lanes v2, lanes v3, double out[4])
{
    const lanes low = __builtin_shufflevector(v0, v1, 0, 8, 2, 10, 4, 12, 6, 14) +
                      __builtin_shufflevector(v0, v1, 1, 9, 3, 11, 5, 13, 7, 15);
    const lanes high = __builtin_shufflevector(v2, v3, 0, 8, 2, 10, 4, 12, 6, 14) +
                       __builtin_shufflevector(v2, v3, 1, 9, 3, 11, 5, 13, 7, 15);
    const lanes all = __builtin_shufflevector(low, high, 0, 1, 8, 9, 4, 5, 12, 13) +
                      __builtin_shufflevector(low, high, 2, 3, 10, 11, 6, 7, 14, 15);
    for (int k = 0; k < 4; k++)
        out[k] = all[k] + all[4 + k];
}

/* A sum of lanes over a loop. GCC keeps lanes that are wider than the registers in memory from one
 * turn of a loop to the next; where registers hold two numbers, a sum is therefore four vectors. */
#ifdef __aarch64__

typedef double lanes_pair __attribute__((vector_size(2 * sizeof(double))));

typedef struct lanes_sum {
    lanes_pair pair[LANES / 2];
} lanes_sum;

LANES_INLINE void lanes_add(lanes_sum *sum, lanes v)
{
    sum->pair[0] += __builtin_shufflevector(v, v, 0, 1);
    sum->pair[1] += __builtin_shufflevector(v, v, 2, 3);
    sum->pair[2] += __builtin_shufflevector(v, v, 4, 5);
    sum->pair[3] += __builtin_shufflevector(v, v, 6, 7);
}

LANES_INLINE lanes lanes_of_sum(lanes_sum sum)
{
    lanes v;
    memcpy(&v, &sum, sizeof v);
    return v;
}

#else

typedef lanes lanes_sum;

LANES_INLINE void lanes_add(lanes_sum *sum, lanes v)
{
    *sum += v;
}

LANES_INLINE lanes lanes_of_sum(lanes_sum sum)
{
    return sum;
}

#endif

LANES_INLINE double lanes_sum_total(lanes_sum sum)
{
    return lanes_total(lanes_of_sum(sum));
}

/* Compiles a function once per instruction set; the loader chooses one when the program starts. For
 * static functions only, because the attribute exports others. Sanitizers do not support it.
 *
 * INSTRUCTIONS compiles a function for one of them, for kernels that are written for the width of
 * the registers (panels_typed.h). The caller asks HAS_INSTRUCTIONS first. SPIN_PAUSE is for loops
 * that wait for another thread. */
#if defined(__x86_64__) && defined(__GNUC__) && !defined(ROOFS_PLAIN_KERNELS)
#define EVERY_WIDTH __attribute__((target_clones("avx512f", "avx2", "default")))
#define INSTRUCTIONS(set) __attribute__((target(set)))
#define HAS_INSTRUCTIONS(set) __builtin_cpu_supports(set)
#define SPIN_PAUSE() __builtin_ia32_pause()
#else
#define EVERY_WIDTH
#define INSTRUCTIONS(set)
#define HAS_INSTRUCTIONS(set) 0
#define SPIN_PAUSE() ((void)0)
#endif

#endif
