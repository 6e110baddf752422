/* Random numbers that do not come from the library, comparisons, blocks. */
#ifndef TEST_BASE_HELP_H
#define TEST_BASE_HELP_H

#include "test_stream_files.h"

#include <math.h>

static inline uint64_t next_random(uint64_t *state)
{
    *state ^= *state << 13;
    *state ^= *state >> 7;
    *state ^= *state << 17;
    return *state;
}

static inline int64_t random_below(uint64_t *state, int64_t limit)
{
    return (int64_t)((next_random(state) >> 11) % (uint64_t)limit);
}

/* Between -1 and 1. */
static inline double random_signed(uint64_t *state)
{
    return (double)(next_random(state) >> 11) * 0x1p-52 - 1;
}

/* Between 0 and 1. */
static inline double random_unit(uint64_t *state)
{
    return (random_signed(state) + 1) / 2;
}

/* Bell-shaped, variance 1: the sum of twelve uniform numbers. */
static inline double random_bell(uint64_t *state)
{
    double sum = 0;
    for (int i = 0; i < 12; i++)
        sum += random_signed(state) / 2;
    return sum;
}

static inline void assert_close(double got, double wanted, double allowed)
{
    if (!(fabs(got - wanted) <= allowed))
        fail_msg("%.17g, not %.17g (off by %.3g, allowed %.3g)", got, wanted, got - wanted,
                 allowed);
}

/* Compares doubles for qsort. */
static inline int ascending(const void *left, const void *right)
{
    const double a = *(const double *)left, b = *(const double *)right;
    return (a > b) - (a < b);
}

/* `count` features of `n` samples, one after the other. */
static inline roofs_block dense_block(const void *values, roofs_dtype dtype, int64_t count,
                                      int64_t n)
{
    return (roofs_block){.count = count,
                         .n = n,
                         .dtype = dtype,
                         .values = values,
                         .feature_stride = n,
                         .sample_stride = 1};
}

/* The same in another layout. */
static inline roofs_block with_strides(roofs_block b, int64_t feature_stride, int64_t sample_stride)
{
    b.feature_stride = feature_stride;
    b.sample_stride = sample_stride;
    return b;
}

/* The number of a word of a setting; ROOFS_AS_SAVED for NULL, 99 for an unknown word. */
static inline int64_t choice_number(const char *setting, const char *word)
{
    const int64_t k = roofs_setting_find(setting);
    for (int64_t c = 0; word && roofs_setting_choice(k, c); c++)
        if (strcmp(roofs_setting_choice(k, c), word) == 0)
            return c;
    return word ? 99 : ROOFS_AS_SAVED;
}

#endif
