/* The kernels of panels.h for registers of WIDTH numbers; a file for each width includes this one.
 * Compilers divide wider vectors badly: with eight lanes on registers of four a product takes fifty
 * times as long. */
#include "linalg/panels.h"

#include <math.h>

typedef double numbers __attribute__((vector_size(WIDTH * sizeof(double))));

LANES_INLINE numbers load(const double *x)
{
    numbers v;
    memcpy(&v, x, sizeof v);
    return v;
}

LANES_INLINE void store(double *x, numbers v)
{
    memcpy(x, &v, sizeof v);
}

/* ---- elements ---------------------------------------------------------- */

KERNEL void panel_scale(const double *m, const double *row_center, const double *column_center,
                        const double *scale, int64_t depth, double *s)
{
    for (int64_t k = 0; k < depth; k++)
        for (int64_t i = 0; i < LANES; i += WIDTH) {
            const numbers v = load(m + k * LANES + i) - load(row_center + i);
            store(s + k * LANES + i, (v - column_center[k]) * scale[k]);
        }
}

KERNEL void panel_transpose(const double *from, double *to)
{
    for (int k = 0; k < LANES; k++)
        for (int i = 0; i < LANES; i++)
            to[k * LANES + i] = from[i * LANES + k];
}

KERNEL void panel_plus_identity(const double *h, const double *d, int64_t a, double *f)
{
    const int64_t first = lower_panel(a);
    for (int64_t k = 0; k < (a + 1) * LANES; k++)
        for (int64_t i = 0; i < LANES; i += WIDTH)
            store(f + first + k * LANES + i,
                  load(h + first + k * LANES + i) * load(d + a * LANES + i) * d[k]);
    for (int64_t q = 0; q < LANES; q++)
        f[first + (a * LANES + q) * LANES + q] += 1;
}

/* ---- products with vectors --------------------------------------------- */

enum { HALF = LANES / 2 };

KERNEL void panel_times(const double *m, const double *v, int64_t depth, double *out)
{
    for (int64_t i = 0; i < LANES; i += WIDTH) {
        numbers sum[HALF] = {{0}};
        int64_t k = 0;
        for (; k + HALF <= depth; k += HALF)
            for (int q = 0; q < HALF; q++)
                sum[q] += load(m + (k + q) * LANES + i) * v[k + q];
        for (; k < depth; k++)
            sum[0] += load(m + k * LANES + i) * v[k];
        store(out + i, (sum[0] + sum[1]) + (sum[2] + sum[3]));
    }
}

/* The sum of eight products, in the order of lanes_total. */
LANES_INLINE double dot_of_eight(const double *x, const double *y)
{
    return ((x[0] * y[0] + x[4] * y[4]) + (x[2] * y[2] + x[6] * y[6])) +
           ((x[1] * y[1] + x[5] * y[5]) + (x[3] * y[3] + x[7] * y[7]));
}

/* Adds up eight sums in the order of lanes_total. */
LANES_INLINE double total_of_eight(const double *x)
{
    return ((x[0] + x[4]) + (x[2] + x[6])) + ((x[1] + x[5]) + (x[3] + x[7]));
}

/* `count` columns at a time, because each sum waits for its summands. */
LANES_INLINE void columns_times(const double *m, int64_t panels, int64_t stride, const double *v,
                                const int count, double *out)
{
    double sums[HALF][LANES];
    for (int64_t i = 0; i < LANES; i += WIDTH) {
        numbers sum[HALF] = {{0}};
        for (int64_t a = 0; a < panels; a++) {
            const numbers times = load(v + a * LANES + i);
            for (int q = 0; q < count; q++)
                sum[q] += load(m + a * stride + q * LANES + i) * times;
        }
        for (int q = 0; q < count; q++)
            store(&sums[q][i], sum[q]);
    }
    for (int q = 0; q < count; q++)
        out[q] = total_of_eight(sums[q]);
}

KERNEL void panels_transposed_times(const double *m, int64_t panels, int64_t stride,
                                    const double *v, int64_t first, int64_t last, double *out)
{
    int64_t k = first;
    for (; k + HALF <= last; k += HALF)
        columns_times(m + k * LANES, panels, stride, v, HALF, out + k);
    for (; k < last; k++)
        columns_times(m + k * LANES, panels, stride, v, 1, out + k);
}

/* ---- products of panels -------------------------------------------------- */

/* c[q] += sum_k x[k] y[k][q], or -= with sign -1, for half a tile. x has one or, with `two`, two
 * registers, at x0 and x1: as many sums as there are registers of any kind of machine. */
LANES_INLINE void half_product(const double *x0, const double *x1, const double *y, int64_t depth,
                               const int two, const int sign, double *c0, double *c1)
{
    numbers sum0[HALF], sum1[HALF];
    for (int q = 0; q < HALF; q++) {
        sum0[q] = load(c0 + q * LANES);
        sum1[q] = load(c1 + q * LANES);
    }
    for (int64_t k = 0; k < depth; k++) {
        const numbers v0 = load(x0 + k * LANES), v1 = load(x1 + k * LANES);
        for (int q = 0; q < HALF; q++) {
            const double times = y[k * LANES + q];
            sum0[q] = sign > 0 ? sum0[q] + v0 * times : sum0[q] - v0 * times;
            if (two)
                sum1[q] = sign > 0 ? sum1[q] + v1 * times : sum1[q] - v1 * times;
        }
    }
    for (int q = 0; q < HALF; q++) {
        store(c0 + q * LANES, sum0[q]);
        if (two)
            store(c1 + q * LANES, sum1[q]);
    }
}

/* A tile of the product in one or two panels; x1 = x0 and c1 = c0 for one. */
LANES_INLINE void tile_product(const double *x0, const double *x1, const double *y, int64_t depth,
                               const int pair, const int sign, double *c0, double *c1)
{
    for (int64_t q = 0; q < LANES; q += HALF) {
        double *at0 = c0 + q * LANES, *at1 = c1 + q * LANES;
        if (WIDTH == LANES) {
            half_product(x0, x1, y + q, depth, pair, sign, at0, at1);
            continue;
        }
        for (int64_t i = 0; i < LANES; i += 2 * WIDTH) {
            const int64_t j = i + WIDTH % LANES;
            half_product(x0 + i, x0 + j, y + q, depth, 1, sign, at0 + i, at0 + j);
            if (pair)
                half_product(x1 + i, x1 + j, y + q, depth, 1, sign, at1 + i, at1 + j);
        }
    }
}

KERNEL void panels_gram(const double *s, int64_t stride, int64_t depth, int64_t a, int pair,
                        double *h)
{
    const double *x0 = s + a * stride, *x1 = pair ? x0 + stride : x0;
    double *h0 = h + lower_panel(a), *h1 = h + lower_panel(a + pair);
    for (int64_t b = 0; b <= a; b++)
        if (pair)
            tile_product(x0, x1, s + b * stride, depth, 1, 1, h0 + b * TILE, h1 + b * TILE);
        else
            tile_product(x0, x0, s + b * stride, depth, 0, 1, h0 + b * TILE, h0 + b * TILE);
    double *last = h1 + (a + 1) * TILE;
    if (pair)
        tile_product(x1, x1, x1, depth, 0, 1, last, last);
}

/* ---- factors ----------------------------------------------------------- */

/* c <- c L_bb^-T for two registers, because each step waits for the one before it. `diagonal` is
 * the tile of L, one column after the other. */
LANES_INLINE void solve_two(const double *diagonal, const double *inverse, double *c0, double *c1)
{
    numbers x0[LANES], x1[LANES];
    for (int q = 0; q < LANES; q++) {
        x0[q] = load(c0 + q * LANES);
        x1[q] = load(c1 + q * LANES);
    }
    for (int q = 0; q < LANES; q++) {
        x0[q] *= inverse[q];
        x1[q] *= inverse[q];
        for (int p = q + 1; p < LANES; p++) {
            x0[p] -= x0[q] * diagonal[q * LANES + p];
            x1[p] -= x1[q] * diagonal[q * LANES + p];
        }
    }
    for (int q = 0; q < LANES; q++) {
        store(c0 + q * LANES, x0[q]);
        store(c1 + q * LANES, x1[q]);
    }
}

LANES_INLINE void tile_solve(const double *diagonal, const double *inverse, const int pair,
                             double *c0, double *c1)
{
    if (WIDTH == LANES) {
        solve_two(diagonal, inverse, c0, c1);
        return;
    }
    for (int64_t i = 0; i < LANES; i += 2 * WIDTH) {
        const int64_t j = i + WIDTH % LANES;
        solve_two(diagonal, inverse, c0 + i, c0 + j);
        if (pair)
            solve_two(diagonal, inverse, c1 + i, c1 + j);
    }
}

/* The tile of column b in one or two panels that begin at x0 and x1. */
LANES_INLINE void eliminate(const double *f, int64_t b, const int pair, const double *inverse,
                            double *x0, double *x1)
{
    const double *panel = f + lower_panel(b);
    double *c0 = x0 + b * TILE, *c1 = x1 + b * TILE;
    tile_product(x0, x1, panel, b * LANES, pair, -1, c0, c1);
    tile_solve(panel + b * TILE, inverse + b * LANES, pair, c0, c1);
}

/* One over the pivot's root. No pivot is below 1 but by rounding errors. Where these are larger
 * than 1, the row depends on those before it as far as the numbers show: 0 leaves it out. */
LANES_INLINE double pivot_inverse(double pivot, double before, int64_t row)
{
    const double rounding = (double)(row + LANES) * 0x1p-52 * before;
    if (rounding > 1 && !(pivot > rounding))
        return 0;
    return pivot > 1 ? 1 / sqrt(pivot) : 1;
}

KERNEL void lower_factor_diagonal(double *f, int64_t b, double *inverse)
{
    double *panel = f + lower_panel(b), *tile = panel + b * TILE, before[LANES];
    for (int q = 0; q < LANES; q++)
        before[q] = tile[q * LANES + q];
    tile_product(panel, panel, panel, b * LANES, 0, -1, tile, tile);
    for (int q = 0; q < LANES; q++) {
        double *column = tile + q * LANES;
        const double one_over = pivot_inverse(column[q], before[q], b * LANES + q);
        inverse[b * LANES + q] = one_over;
        for (int p = q + 1; p < LANES; p++)
            column[p] *= one_over;
        for (int k = q + 1; k < LANES; k++)
            for (int p = k; p < LANES; p++)
                tile[k * LANES + p] -= column[p] * column[k];
    }
}

KERNEL void lower_factor_below(double *f, int64_t b, int64_t a, int pair, const double *inverse)
{
    double *x0 = f + lower_panel(a), *x1 = f + lower_panel(a + pair);
    if (pair)
        eliminate(f, b, 1, inverse, x0, x1);
    else
        eliminate(f, b, 0, inverse, x0, x0);
}

KERNEL void lower_solve_panels(const double *f, int64_t panels, const double *inverse, double *x,
                               double *squares)
{
    for (int64_t b = 0; b < panels; b++)
        eliminate(f, b, 1, inverse, x, x + panels * TILE);
    for (int64_t i = 0; i < 2 * LANES; i += WIDTH) {
        const double *from = x + i / LANES * panels * TILE + i % LANES;
        numbers sum = load(squares + i);
        for (int64_t k = 0; k < panels * LANES; k++)
            sum += load(from + k * LANES) * load(from + k * LANES);
        store(squares + i, sum);
    }
}

/* x_a <- L_aa^-1 x_a */
LANES_INLINE void solve_tile_forward(const double *diagonal, const double *inverse, double *x)
{
    for (int q = 0; q < LANES; q++) {
        x[q] *= inverse[q];
        for (int p = q + 1; p < LANES; p++)
            x[p] -= x[q] * diagonal[q * LANES + p];
    }
}

/* x_a <- L_aa^-T x_a */
LANES_INLINE void solve_tile_backward(const double *diagonal, const double *inverse, double *x)
{
    for (int q = LANES - 1; q >= 0; q--) {
        for (int p = q + 1; p < LANES; p++)
            x[q] -= x[p] * diagonal[q * LANES + p];
        x[q] *= inverse[q];
    }
}

KERNEL void lower_solve(const double *f, int64_t panels, const double *inverse, double *x)
{
    for (int64_t a = 0; a < panels; a++) {
        const double *panel = f + lower_panel(a);
        double known[LANES];
        panel_times(panel, x, a * LANES, known);
        for (int q = 0; q < LANES; q++)
            x[a * LANES + q] -= known[q];
        solve_tile_forward(panel + a * TILE, inverse + a * LANES, x + a * LANES);
    }
    for (int64_t a = panels - 1; a >= 0; a--) {
        const double *panel = f + lower_panel(a);
        solve_tile_backward(panel + a * TILE, inverse + a * LANES, x + a * LANES);
        for (int64_t k = 0; k < a * LANES; k++)
            x[k] -= dot_of_eight(panel + k * LANES, x + a * LANES);
    }
}

const panel_kernels KERNELS = {
    .scale = panel_scale,
    .transpose = panel_transpose,
    .times = panel_times,
    .transposed_times = panels_transposed_times,
    .gram = panels_gram,
    .plus_identity = panel_plus_identity,
    .factor_diagonal = lower_factor_diagonal,
    .factor_below = lower_factor_below,
    .solve_panels = lower_solve_panels,
    .solve = lower_solve,
};
