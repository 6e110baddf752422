/* The other kernels for one type of columns, and the table of all. Include it after kernels_plain.h
 * or kernels_coded.h, with KERNELS, the name of the table. */

/* ---- products ---------------------------------------------------------- */

/* Prefetches eight values of four columns. */
LANES_INLINE void prefetch_block(const sweep_block *b, int64_t i)
{
    PREFETCH(b, 0, i);
    PREFETCH(b, 1, i);
    PREFETCH(b, 2, i);
    PREFETCH(b, 3, i);
}

KERNEL void dense_dots(const sweep_block *block, int64_t begin, int64_t rows, const double *r,
                       const sweep_block *next, int64_t ahead, int64_t piece, double *out,
                       int64_t stride)
{
    const BLOCK b = OWN(block);
    const sweep_block later = *next;
    for (int64_t first = 0; first < rows; first += piece, out += stride) {
        const int64_t end = rows - first < piece ? rows : first + piece;
        lanes_sum s0 = {0}, s1 = {0}, s2 = {0}, s3 = {0};
        int64_t i = first;
        for (; i + LANES <= end; i += LANES) {
            lanes ri = lanes_load_f64(r + i);
            prefetch_block(&later, ahead + i);
            lanes_add(&s0, LOAD(&b, 0, begin + i) * ri);
            lanes_add(&s1, LOAD(&b, 1, begin + i) * ri);
            lanes_add(&s2, LOAD(&b, 2, begin + i) * ri);
            lanes_add(&s3, LOAD(&b, 3, begin + i) * ri);
        }
        lanes_totals(lanes_of_sum(s0), lanes_of_sum(s1), lanes_of_sum(s2), lanes_of_sum(s3), out);
        for (; i < end; i++) {
            out[0] += ITEM(&b, 0, begin + i) * r[i];
            out[1] += ITEM(&b, 1, begin + i) * r[i];
            out[2] += ITEM(&b, 2, begin + i) * r[i];
            out[3] += ITEM(&b, 3, begin + i) * r[i];
        }
    }
}

/* ---- sweeps ------------------------------------------------------------ */

/* The loops use u = x - center. The factors of z = u factor are applied to the sums, and to the
 * changes before they are added. */

/* Adds eight samples of four columns, v = u w. All sums stay in registers. */
LANES_INLINE void add_slopes(lanes_sum t[4], lanes v0, lanes v1, lanes v2, lanes v3, lanes r)
{
    lanes_add(&t[0], v0 * r);
    lanes_add(&t[1], v1 * r);
    lanes_add(&t[2], v2 * r);
    lanes_add(&t[3], v3 * r);
}

/* 00, 10 11, 20 21 22, 30 31 32 33 */
LANES_INLINE void add_products(lanes_sum t[10], lanes u0, lanes u1, lanes u2, lanes u3, lanes w)
{
    const lanes v0 = u0 * w, v1 = u1 * w, v2 = u2 * w, v3 = u3 * w;
    lanes_add(&t[0], v0 * u0);
    lanes_add(&t[1], v1 * u0);
    lanes_add(&t[2], v1 * u1);
    lanes_add(&t[3], v2 * u0);
    lanes_add(&t[4], v2 * u1);
    lanes_add(&t[5], v2 * u2);
    lanes_add(&t[6], v3 * u0);
    lanes_add(&t[7], v3 * u1);
    lanes_add(&t[8], v3 * u2);
    lanes_add(&t[9], v3 * u3);
}

LANES_INLINE void totals_of(const lanes_sum t[4], double out[4])
{
    lanes_totals(lanes_of_sum(t[0]), lanes_of_sum(t[1]), lanes_of_sum(t[2]), lanes_of_sum(t[3]),
                 out);
}

LANES_INLINE void store_slopes(const sweep_block *b, const lanes_sum t[4], double slope[SLOPES])
{
    totals_of(t, slope);
    for (int q = 0; q < 4; q++)
        slope[q] *= b->factor[q];
}

LANES_INLINE void store_gram(const sweep_block *b, const lanes_sum t[10], double gram[PRODUCTS])
{
    const lanes zero = {0};
    totals_of(t, gram);
    totals_of(t + 4, gram + 4);
    lanes_totals(lanes_of_sum(t[8]), lanes_of_sum(t[9]), zero, zero, gram + 8);
    for (int q = 0, at = 0; q < 4; q++)
        for (int p = 0; p <= q; p++)
            gram[at++] *= b->factor[q] * b->factor[p];
}

LANES_INLINE lanes some_lanes(const double *x, int64_t left)
{
    return left < LANES ? load_some_weights(x, left) : lanes_load_f64(x);
}

/* The whole lanes first, then the rest: `left` is a constant in the inlined loop. */
INLINED void sum_samples(const BLOCK *b, int64_t at, int64_t left, const double *w, const double *r,
                         lanes_sum slope[4], lanes_sum gram[10])
{
    const lanes u0 = centred(b, 0, at, left), u1 = centred(b, 1, at, left);
    const lanes u2 = centred(b, 2, at, left), u3 = centred(b, 3, at, left);
    const lanes wi = some_lanes(w, left);
    if (slope)
        add_slopes(slope, u0 * wi, u1 * wi, u2 * wi, u3 * wi, some_lanes(r, left));
    if (gram)
        add_products(gram, u0, u1, u2, u3, wi);
}

KERNEL void dense_sum_block(const sweep_block *b, int64_t begin, int64_t rows, const double *w,
                            const double *r, const sweep_block *next, int64_t ahead,
                            double slope[SLOPES], double gram[PRODUCTS])
{
    const BLOCK own = OWN_CENTRED(b);
    const sweep_block later = *next;
    lanes_sum s[4] = {0}, g[10] = {0};
    int64_t i = 0;
    for (; i + LANES <= rows; i += LANES) {
        prefetch_block(&later, ahead + i);
        sum_samples(&own, begin + i, LANES, w + i, r + i, s, g);
    }
    if (i < rows)
        sum_samples(&own, begin + i, rows - i, w + i, r + i, s, g);
    store_slopes(b, s, slope);
    store_gram(b, g, gram);
}

KERNEL void dense_sum_gram(const sweep_block *b, int64_t begin, int64_t rows, const double *w,
                           const sweep_block *next, int64_t ahead, double gram[PRODUCTS])
{
    const BLOCK own = OWN_CENTRED(b);
    const sweep_block later = *next;
    lanes_sum g[10] = {0};
    int64_t i = 0;
    for (; i + LANES <= rows; i += LANES) {
        prefetch_block(&later, ahead + i);
        sum_samples(&own, begin + i, LANES, w + i, NULL, NULL, g);
    }
    if (i < rows)
        sum_samples(&own, begin + i, rows - i, w + i, NULL, NULL, g);
    store_gram(b, g, gram);
}

KERNEL void dense_sum_slopes(const sweep_block *b, int64_t begin, int64_t rows, const double *w,
                             const double *r, double slope[SLOPES])
{
    const BLOCK own = OWN_CENTRED(b);
    lanes_sum s[4] = {0};
    int64_t i = 0;
    for (; i + LANES <= rows; i += LANES)
        sum_samples(&own, begin + i, LANES, w + i, r + i, s, NULL);
    if (i < rows)
        sum_samples(&own, begin + i, rows - i, w + i, r + i, s, NULL);
    store_slopes(b, s, slope);
}

/* ---- Gram matrices ----------------------------------------------------- */

INLINED lanes standardised(const BLOCK *b, int q, int64_t i, int64_t left)
{
    return STANDARDISED(b, q, left < LANES ? load_some(b, q, i, left) : LOAD(b, q, i));
}

INLINED void add_cross(lanes_sum sum[4][4], const BLOCK *left, const BLOCK *right, int64_t i,
                       int64_t rows, lanes w)
{
    lanes b0 = standardised(right, 0, i, rows), b1 = standardised(right, 1, i, rows);
    lanes b2 = standardised(right, 2, i, rows), b3 = standardised(right, 3, i, rows);
    for (int q = 0; q < 4; q++) {
        lanes a = standardised(left, q, i, rows) * w;
        lanes_add(&sum[q][0], a * b0);
        lanes_add(&sum[q][1], a * b1);
        lanes_add(&sum[q][2], a * b2);
        lanes_add(&sum[q][3], a * b3);
    }
}

KERNEL void dense_cross(const sweep_block *left, const sweep_block *right, int64_t n,
                        const double *w, double out[DEVICE_BLOCK][DEVICE_BLOCK])
{
    const BLOCK own_left = OWN_STANDARDISED(left), own_right = OWN_STANDARDISED(right);
    lanes_sum sum[4][4] = {0};
    int64_t i = 0;
    for (; i + LANES <= n; i += LANES)
        add_cross(sum, &own_left, &own_right, i, LANES, lanes_load_f64(w + i));
    if (i < n)
        add_cross(sum, &own_left, &own_right, i, n - i, load_some_weights(w + i, n - i));
    for (int q = 0; q < 4; q++)
        for (int p = 0; p < 4; p++)
            out[q][p] = lanes_sum_total(sum[q][p]);
}

const kernels KERNELS = {
    .dots = dense_dots,
    .accumulate = dense_accumulate,
    .survey = dense_survey,
    .sum_block = dense_sum_block,
    .sum_gram = dense_sum_gram,
    .sum_slopes = dense_sum_slopes,
    .apply_block = dense_apply_block,
    .cross = dense_cross,
};
