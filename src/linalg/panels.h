/* Kernels for small dense matrices stored in panels: eight rows side by side, one column after the
 * other. A product then reads both factors with stride one, and each entry of the result is one sum
 * in the order of the columns: the bits depend neither on threads nor on the width of the
 * registers.
 *
 * A general matrix has `depth` columns in each panel. A symmetric or lower triangular one ("lower")
 * stores panel a up to its diagonal tile of 8 x 8; panels of different lengths follow each other.
 */
#ifndef LINALG_PANELS_H
#define LINALG_PANELS_H

#include "linalg/lanes.h"

enum { TILE = LANES * LANES };

static inline int64_t panels_of(int64_t rows)
{
    return lanes_padded(rows) / LANES;
}

/* Where panel a of a lower matrix begins; for a = its number of panels, the size of the matrix. */
static inline int64_t lower_panel(int64_t a)
{
    return a * (a + 1) / 2 * TILE;
}

/* In these functions `pair` is 1 for panels a and a + 1, 0 for panel a alone. */
typedef struct panel_kernels {
    /* A panel of S = (M - row_center - column_center) diag(scale), for `depth` columns: m is the
     * panel of M, row_center has 8 entries, column_center and scale have `depth`. */
    void (*scale)(const double *m, const double *row_center, const double *column_center,
                  const double *scale, int64_t depth, double *s);

    /* to[8 k + i] = from[8 i + k] */
    void (*transpose)(const double *from, double *to);

    /* out = M v for one panel: 8 sums over `depth` columns. */
    void (*times)(const double *m, const double *v, int64_t depth, double *out);

    /* out[k] = sum over all rows of v M_k, for columns k = first..last - 1; `stride` is the
     * distance between panels. */
    void (*transposed_times)(const double *m, int64_t panels, int64_t stride, const double *v,
                             int64_t first, int64_t last, double *out);

    /* Adds S S' to panels of the lower matrix H. */
    void (*gram)(const double *s, int64_t stride, int64_t depth, int64_t a, int pair, double *h);

    /* Panel a of F = diag(d) H diag(d) + I. */
    void (*plus_identity)(const double *h, const double *d, int64_t a, double *f);

    /* One step of the factorisation F = L L', in place: the diagonal tile of panel b, then the
     * tiles of column b in later panels. The steps of smaller b must be done. F is I plus a
     * positive semidefinite matrix, so that no pivot is below 1; rounding errors that would make
     * one smaller are cut. inverse[j] = 1 / L_jj, or 0 where row j depends on earlier ones so
     * closely that only rounding errors are left: solutions are 0 in such a row. */
    void (*factor_diagonal)(double *f, int64_t b, double *inverse);
    void (*factor_below)(double *f, int64_t b, int64_t a, int pair, const double *inverse);

    /* Solves L X = X for 16 right-hand sides: two panels, one after the other, of as many columns
     * as L has rows. squares += the squared norms of the 16 solutions. */
    void (*solve_panels)(const double *f, int64_t panels, const double *inverse, double *x,
                         double *squares);

    /* Solves L L' x = x for one vector, of panels * 8 numbers. */
    void (*solve)(const double *f, int64_t panels, const double *inverse, double *x);
} panel_kernels;

/* For registers of eight, four and two numbers. */
extern const panel_kernels panels_w8, panels_w4, panels_w2;

/* Those for this machine. */
const panel_kernels *panels_best(void);

#endif
