/* The work of the mixture on its samples, divided into pieces (see workers_sum): what its files
 * share. */
#ifndef ROBUST_MIXTURE_SUMS_H
#define ROBUST_MIXTURE_SUMS_H

#include "linalg/lanes_math.h"
#include "robust/mixture.h"

/* Time per sample of a plain pass, and of one with exponentials. */
enum { MIXTURE_PASS = 4, MIXTURE_EXP = 16 };

/* What the pieces of one pass read. */
typedef struct mixture_job {
    const mixture *m;
    const double *x;
    double number;
    mixture_scales scales;
    background_means mean;
    int64_t rows; /* of a piece */
    double low[PIECES_MOST], high[PIECES_MOST];
} mixture_job;

/* total[0..numbers) = the sums of the pieces. */
void mixture_over_samples(const mixture *m, int cost, workers_piece piece, mixture_job *job,
                          int numbers, double *total);

/* Sums over samples begin..end - 1, each as often as its case weight says: sums[0] of w, sums[1] of
 * w x, sums[2] of w s^2. */
void mixture_clean_sums(const mixture *m, const double *x, const double *s, int64_t begin,
                        int64_t end, double sums[3]);

/* Sets the padding of x to 0 if the piece that ends here is the last. */
void mixture_clear_padding(const mixture *m, int64_t end, double *x);

/* The case weights of samples i..i + LANES - 1; with case weights, 0 beyond the last. */
LANES_INLINE lanes mixture_load_cases(const mixture *m, int64_t i)
{
    lanes cases = {0};
    if (!m->case_weight)
        return 1.0 + cases;
    const int64_t left = m->n - i;
    memcpy(&cases, m->case_weight + i, (size_t)(left < LANES ? left : LANES) * sizeof(double));
    return cases;
}

/* From m->y: all that a fit starts from. */
roofs_status mixture_start(mixture *m, roofs_error *err);

#endif
