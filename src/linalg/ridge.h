/* Weighted ridge regression with exact leave-one-out, on a few columns in the memory of the host:
 *
 *     minimise  sum_i W_i (t_i - c - z_i'b)^2 + sum_j (b_j - b0_j)^2 / omega_j
 *
 * omega_j is the prior variance of a coefficient over that of the noise; 0 holds b_j at b0_j. The
 * intercept c has no prior and is optional.
 *
 * With Zc = Z - zbar (the weighted means; 0 without an intercept) and D = diag(omega)^1/2, the
 * matrix to factorise is D Zc'W Zc D + I, of the size of the columns (primal), or, if one rank has
 * all samples and these are fewer, I + W^1/2 Zc D^2 Zc' W^1/2, of the size of the samples (dual).
 * Both are positive definite, whatever the columns, weights and prior variances are. */
#ifndef LINALG_RIDGE_H
#define LINALG_RIDGE_H

#include "linalg/columns.h"
#include "linalg/panels.h"

typedef struct ridge_shape {
    int64_t n; /* samples of this rank */
    int64_t m; /* columns */
    int has_intercept;
    int64_t threads; /* 0 = one per core */
} ridge_shape;

typedef struct ridge {
    ridge_shape shape;
    comm *comm; /* borrowed; NULL = one rank */
    const panel_kernels *k;
    int is_dual;              /* the matrix in panels is Z, otherwise Z' */
    int64_t rows, depth;      /* of the matrix in panels */
    int64_t panels, stride;   /* their number and distance */
    double *block;            /* all arrays below; lengths are padded to LANES */
    double *values;           /* Z' or Z in panels (panels.h) */
    double *gram, *factor;    /* lower matrices: of Z, and that to be solved */
    double *chunk;            /* some columns of the matrix in panels, centred and scaled */
    double *sides;            /* two panels of right-hand sides per thread */
    double *weight, *root;    /* W and W^1/2 */
    double *center;           /* zbar; afterwards one more number */
    double *spread;           /* D */
    double *coef, *prior;     /* b and b0 */
    double *sums;             /* one number per column, and one more */
    double *solution, *right; /* of the system, its right-hand side */
    double *inverse;          /* one over the diagonal of the factor */
    double *residual, *zeros; /* one per sample; as many as the longest array of 0 */
    double total;             /* sum of the weights, of all ranks */
} ridge;

typedef struct ridge_answer {
    double *b;        /* m coefficients */
    double *leverage; /* n, see ridge_solve; NULL: not computed, which takes less time */
    double intercept; /* c; 0 without */
    double trace;     /* sum_i W_i leverage_i over all ranks: the effective number of parameters */
} ridge_answer;

/* The bytes that ridge_create allocates; is_split: samples are split over ranks. */
int64_t ridge_bytes(const ridge_shape *shape, int is_split);

roofs_status ridge_create(ridge *r, comm *c, const ridge_shape *shape, roofs_error *err);
void ridge_destroy(ridge *r);

/* Copies the standardised columns which[0..m), all columns if `which` is NULL, from their device.
 * Each rank copies its own samples. */
roofs_status ridge_load(ridge *r, columns *c, const int64_t *which, roofs_error *err);

/* Sets the weights, one per sample, none negative. Computes what depends on them alone: means and,
 * in the primal case, the Gram matrix. */
void ridge_weigh(ridge *r, const double *weight);

/* Solves for the responses t. b0 may be NULL, for 0. The leverage of a sample is
 *     (z_i - zbar)'(Zc'W Zc + Omega^-1)^-1 (z_i - zbar) + 1 / sum W,
 * the last summand only with an intercept, also where W_i = 0: W_i leverage_i is the hat value, at
 * most 1, and without sample i its residual is residual_i / (1 - W_i leverage_i). Fails only if
 * communication between ranks has failed. */
roofs_status ridge_solve(ridge *r, const double *t, const double *omega, const double *b0,
                         ridge_answer *answer, roofs_error *err);

/* out[j] = sum_i W_i (z_ij - zbar_j)^2, over all ranks. */
void ridge_squares(const ridge *r, double *out);

/* out[j] = sum_i z_ij v_i, over all ranks. */
void ridge_inner(ridge *r, const double *v, double *out);

/* out = t - c - Z b, for the n samples of this rank. */
void ridge_residual(ridge *r, const double *t, double intercept, const double *b, double *out);

#endif
