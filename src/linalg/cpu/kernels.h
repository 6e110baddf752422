/* The inner loops on columns. All sums are in double precision. */
#ifndef LINALG_CPU_KERNELS_H
#define LINALG_CPU_KERNELS_H

#include "linalg/device.h"

/* ---- columns ------------------------------------------------------------ */

/* Of a column of type ROOFS_2BIT: the value of each code, and its last bytes, at most CODES_WORD,
 * followed by zeros. Loads read whole words: those that end beyond the column read this copy. */
enum { CODES_WORD = 8 };
typedef struct column_codes {
    double level[4];
    unsigned char last[2 * CODES_WORD];
} column_codes;

/* A column in memory: sparse, or with a value for each sample. The type is that of the device, or a
 * packed type. */
typedef struct cpu_column {
    const void *values;
    const int32_t *samples; /* sample of each value, ascending; NULL = not sparse */
    int64_t count;          /* number of values */
    char *copy;             /* the values if the device owns them, else NULL */
    roofs_dtype dtype;      /* of the values; sparse: that of the device */
    column_codes codes;     /* ROOFS_2BIT */
} cpu_column;

/* Value i of a column; in a sparse one, of those that it stores. */
static inline double cpu_value(const cpu_column *c, int64_t i)
{
    switch (c->dtype) {
    case ROOFS_F32:
        return (double)((const float *)c->values)[i];
    case ROOFS_I8:
        return (double)((const signed char *)c->values)[i];
    case ROOFS_U8:
        return (double)((const unsigned char *)c->values)[i];
    case ROOFS_2BIT:
        return c->codes.level[((const unsigned char *)c->values)[i / 4] >> 2 * (i % 4) & 3];
    default:
        return ((const double *)c->values)[i];
    }
}

/* ---- columns that are not sparse ----------------------------------------- */

typedef struct kernels kernels;

/* A block of columns z = (x - center) factor. Past the end of a list the block repeats its first
 * column with factor 0. */
typedef struct sweep_block {
    int64_t count;    /* columns of the list in this block; 0: no block */
    const kernels *k; /* for the types of these columns */
    const void *x[DEVICE_BLOCK];
    roofs_dtype dtype[DEVICE_BLOCK];
    const column_codes *codes[DEVICE_BLOCK];
    int64_t whole;   /* ROOFS_2BIT: words that begin with a sample below this one are complete */
    int64_t last_at; /* the first byte of column_codes.last */
    double center[DEVICE_BLOCK], factor[DEVICE_BLOCK];
    double delta[DEVICE_BLOCK], spread[DEVICE_BLOCK];
} sweep_block;

/* The sums of a block over some samples, padded to whole lanes: slope[q] = z_q'Wr; gram has z_q'W
 * z_p for p <= q, row by row. */
enum { SLOPES = 8, PRODUCTS = 16 };

/* Kernels take DEVICE_BLOCK columns at a time, so that they read r once for four columns. At
 * n = 10^4 the four columns (320 kB) are still in the second-level cache for their second use.
 *
 * There is a table per type of the columns, and one for blocks with several types. The same values
 * give the same bits in every table. The first sample of a call, `begin`, is a multiple of eight;
 * vectors (r, w, out) point to this sample. */
struct kernels {
    /* out[q] = x_q'r, over pieces of `piece` samples each: those of the next piece are `stride`
     * numbers farther on. Prefetches the samples from `ahead` on of the columns of `next`; they may
     * end before that. */
    void (*dots)(const sweep_block *b, int64_t begin, int64_t rows, const double *r,
                 const sweep_block *next, int64_t ahead, int64_t piece, double *out,
                 int64_t stride);

    /* out += sum_q weight[q] x_q */
    void (*accumulate)(const sweep_block *b, int64_t begin, int64_t rows,
                       const double weight[DEVICE_BLOCK], double *out);

    /* Of the first column, with n samples. */
    void (*survey)(const sweep_block *b, const survey_options *how, int64_t n, device_facts *facts);

    /* The sums over samples begin..begin + rows - 1. sum_block computes both with one read; the
     * others give the same bits. sum_block and sum_gram prefetch as `dots` does. */
    void (*sum_block)(const sweep_block *b, int64_t begin, int64_t rows, const double *w,
                      const double *r, const sweep_block *next, int64_t ahead, double slope[SLOPES],
                      double gram[PRODUCTS]);
    void (*sum_gram)(const sweep_block *b, int64_t begin, int64_t rows, const double *w,
                     const sweep_block *next, int64_t ahead, double gram[PRODUCTS]);
    void (*sum_slopes)(const sweep_block *b, int64_t begin, int64_t rows, const double *w,
                       const double *r, double slope[SLOPES]);

    /* r -= sum_q delta[q] z_q and variance += sum_q spread[q] z_q^2, over `rows` samples. */
    void (*apply_block)(const sweep_block *b, int64_t begin, int64_t rows, double *r,
                        double *variance);

    /* out[q][p] = z_q'W z_p for column q of the left block and column p of the right one, which
     * both have the types of the table. */
    void (*cross)(const sweep_block *left, const sweep_block *right, int64_t n, const double *w,
                  double out[DEVICE_BLOCK][DEVICE_BLOCK]);
};

extern const kernels kernels_f64, kernels_f32, kernels_i8, kernels_u8;
extern const kernels kernels_2bit, kernels_2bit_avx512; /* the second for these instructions */
extern const kernels kernels_mixed;

/* ---- sparse columns ---------------------------------------------------- */

/* Sums over the samples with a stored value, with off = x - center and r = stored + level. */
typedef struct sparse_sums {
    double weight, slope; /* w, w r */
    double off;           /* w off */
    double off_slope;     /* w off r */
    double off_square;    /* w off^2 */
} sparse_sums;

/* The effect of one coordinate update on r and on the variance of the samples. */
typedef struct sparse_change {
    double center;
    double move;   /* r -= move x */
    double spread; /* variance += spread x (x - 2 center) */
} sparse_change;

/* A kernel touches only the samples with a stored value. All other samples contribute the same
 * amount, which the caller adds as one number. */
typedef struct sparse_kernels {
    /* x'r */
    double (*dot)(const cpu_column *c, const double *r);

    /* out += weight x, and out += weight x (x - 2 center), for the values from..to - 1. */
    void (*add)(const cpu_column *c, int64_t from, int64_t to, double weight, double *out);
    void (*add_squares)(const cpu_column *c, int64_t from, int64_t to, double weight, double center,
                        double *out);

    /* `heavy`: the number of samples with a weight above WEIGHTLESS. */
    void (*survey)(const cpu_column *c, const survey_options *how, int64_t heavy,
                   device_facts *facts);

    /* The sums of one coordinate, and the effect of its update. */
    void (*sum)(const cpu_column *c, double center, const double *w, const double *stored,
                double level, sparse_sums *out);
    void (*apply)(const cpu_column *c, const sparse_change *change, double *stored,
                  double *variance);

    /* scatter: out[i] = w[i] x[i], or 0 if w is NULL, at the samples with a stored value.
     * dot_dense: the sum of w[i] x[i] (y[i] - center) for a column y that is not sparse. */
    void (*scatter)(const cpu_column *c, const double *w, double *out);
    double (*dot_dense)(const cpu_column *c, const double *w, const cpu_column *y, double center);

    /* Copies values from..from + count - 1 of a sparse block to the storage type. */
    void (*copy)(void *to, const roofs_block *block, int64_t from, int64_t count);
} sparse_kernels;

extern const sparse_kernels sparse_f64;
extern const sparse_kernels sparse_f32;

#endif
