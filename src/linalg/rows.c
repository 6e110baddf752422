#include "linalg/rows.h"

#include "linalg/lanes.h"

#include <math.h>

LANES_INLINE lanes_f32 load_f32(const float *x)
{
    lanes_f32 v;
    memcpy(&v, x, sizeof v);
    return v;
}

LANES_INLINE double total_f32(lanes_f32 s)
{
    return ((s[0] + s[4]) + (s[2] + s[6])) + ((s[1] + s[5]) + (s[3] + s[7]));
}

/* Products in single precision take less time than reading values of columns. */
enum { PRODUCTS_PER_VALUE = 8 };

/* ---- products -------------------------------------------------------------- */

/* Two rows with four others: out[4 p + q]. */
EVERY_WIDTH static void eight_products(const float *rows, const float *others, int64_t length,
                                       double out[8])
{
    lanes_f32 sum[8] = {{0}};
    for (int64_t k = 0; k < length; k += LANES) {
        const lanes_f32 v = load_f32(rows + k), w = load_f32(rows + length + k);
        for (int q = 0; q < 4; q++) {
            const lanes_f32 o = load_f32(others + q * length + k);
            sum[q] += v * o;
            sum[4 + q] += w * o;
        }
    }
    for (int q = 0; q < 8; q++)
        out[q] = total_f32(sum[q]);
}

EVERY_WIDTH static double one_product(const float *row, const float *other, int64_t length)
{
    lanes_f32 sum = {0};
    for (int64_t k = 0; k < length; k += LANES)
        sum += load_f32(row + k) * load_f32(other + k);
    return total_f32(sum);
}

double rows_pair(const float *row, const float *other, int64_t length)
{
    return one_product(row, other, length);
}

enum { TILE = 32 }; /* others that stay in a cache while all rows pass */

/* All rows with the others from `first` on. */
static void tile_products(const float *rows, int64_t count, const float *other, int64_t others,
                          int64_t length, int64_t first, double *out)
{
    const int64_t end = first + TILE < others ? first + TILE : others;
    for (int64_t k = 0; k < count; k += 2)
        for (int64_t l = first; l < end; l += 4) {
            double eight[8];
            eight_products(rows + k * length, other + l * length, length, eight);
            for (int64_t q = 0; q < 4 && l + q < end; q++) {
                out[k * others + l + q] = eight[q];
                if (k + 1 < count)
                    out[(k + 1) * others + l + q] = eight[4 + q];
            }
        }
}

typedef struct products_job {
    const float *rows, *other;
    int64_t count, others, length;
    double *out;
} products_job;

static void products_thread(void *user, int me, int team)
{
    const products_job *s = user;
    const workers_range own = workers_share((s->others + TILE - 1) / TILE, me, team);
    for (int64_t t = own.begin; t < own.end; t++)
        tile_products(s->rows, s->count, s->other, s->others, s->length, t * TILE, s->out);
}

void rows_products(const float *rows, int64_t count, const float *other, int64_t others,
                   int64_t length, workers *w, double *out)
{
    products_job s = {rows, other, count, others, length, out};
    workers_run(w, count * others * length / PRODUCTS_PER_VALUE, (others + TILE - 1) / TILE,
                products_thread, &s);
}

EVERY_WIDTH static void four_products(const float *row, const float *const others[4],
                                      int64_t length, double out[4])
{
    lanes_f32 sum[4] = {{0}};
    for (int64_t k = 0; k < length; k += LANES) {
        const lanes_f32 v = load_f32(row + k);
        for (int q = 0; q < 4; q++)
            sum[q] += v * load_f32(others[q] + k);
    }
    for (int q = 0; q < 4; q++)
        out[q] = total_f32(sum[q]);
}

/* The products with the others at[0..count), at most four. */
static void refine_four(const rows_refined *r, const float *row, const int64_t *at, int count,
                        double *out)
{
    const float *others[4];
    double four[4];
    for (int q = 0; q < 4; q++)
        others[q] = r->other[at[q < count ? q : 0]];
    four_products(row, others, r->length, four);
    for (int q = 0; q < count; q++)
        out[at[q]] = four[q] * r->unit[at[q]];
}

static void refine_row(const rows_refined *r, int64_t k, double least, double *out)
{
    const float *row = r->rows + k * r->length;
    int64_t at[4];
    int count = 0;
    for (int64_t l = 0; l < r->others; l++) {
        if (!(fabs(out[l]) >= least || r->always[k] || r->other_always[l])) {
            out[l] = 0;
            continue;
        }
        at[count++] = l;
        if (count == 4) {
            refine_four(r, row, at, count, out);
            count = 0;
        }
    }
    if (count > 0)
        refine_four(r, row, at, count, out);
}

typedef struct refine_job {
    const rows_refined *r;
    double least;
    double *out;
} refine_job;

static void refine_thread(void *user, int me, int team)
{
    const refine_job *s = user;
    for (int64_t k = me; k < s->r->count; k += team)
        refine_row(s->r, k, s->least, s->out + k * s->r->others);
}

void rows_refine(const rows_refined *r, double least, double *out)
{
    enum { REFINED = 10 }; /* about one product in so many is refined */
    refine_job s = {r, least, out};
    workers_run(r->w, r->count * r->others * r->length / (REFINED * PRODUCTS_PER_VALUE), r->count,
                refine_thread, &s);
}

/* ---- rows of weighted mean 0 and length 1 -------------------------------------- */

EVERY_WIDTH static void moments_of(const float *row, const float *weight, int64_t length,
                                   double sums[2])
{
    lanes first = {0}, second = {0};
    for (int64_t k = 0; k < length; k += LANES) {
        const lanes v = lanes_load_f32(row + k), wv = lanes_load_f32(weight + k) * v;
        first += wv;
        second += wv * v;
    }
    sums[0] = lanes_total(first);
    sums[1] = lanes_total(second);
}

typedef struct moments_job {
    const float *const *rows;
    const float *weight;
    int64_t count, length;
    double *sums;
} moments_job;

static void moments_thread(void *user, int me, int team)
{
    const moments_job *s = user;
    const workers_range own = workers_share(s->count, me, team);
    for (int64_t k = own.begin; k < own.end; k++)
        moments_of(s->rows[k], s->weight, s->length, s->sums + 2 * k);
}

void rows_moments(const float *const *rows, int64_t count, const float *weight, int64_t length,
                  workers *w, double *sums)
{
    moments_job s = {rows, weight, count, length, sums};
    workers_run(w, count * length, count, moments_thread, &s);
}

EVERY_WIDTH static double normalise_row(const float *row, const float *factor, int64_t length,
                                        const double shift[2], float *out)
{
    const lanes mean = shift[0] + (lanes){0}, unit = shift[1] + (lanes){0};
    lanes fourth = {0};
    for (int64_t k = 0; k < length; k += LANES) {
        const lanes v = (lanes_load_f32(row + k) - mean) * lanes_load_f32(factor + k) * unit;
        const lanes_f32 narrow = __builtin_convertvector(v, lanes_f32);
        memcpy(out + k, &narrow, sizeof narrow);
        fourth += v * v * v * v;
    }
    return lanes_total(fourth);
}

typedef struct normalise_job {
    const float *const *rows;
    const float *factor;
    int64_t count, length;
    const double *shift;
    float *out;
    double *fourth;
} normalise_job;

static void normalise_thread(void *user, int me, int team)
{
    const normalise_job *s = user;
    const workers_range own = workers_share(s->count, me, team);
    for (int64_t k = own.begin; k < own.end; k++) {
        const double sum = normalise_row(s->rows[k], s->factor, s->length, s->shift + 2 * k,
                                         s->out + k * s->length);
        if (s->fourth)
            s->fourth[k] = sum;
    }
}

void rows_normalise(const float *const *rows, int64_t count, const float *factor, int64_t length,
                    workers *w, const double *shift, float *out, double *fourth)
{
    normalise_job s = {rows, factor, count, length, shift, out, fourth};
    workers_run(w, count * length, count, normalise_thread, &s);
}

/* ---- columns in 8 bits --------------------------------------------------------- */

typedef signed char lanes_codes __attribute__((vector_size(8)));

EVERY_WIDTH static void code_sums(const signed char *codes, const double *W, const double *t,
                                  int64_t n, double sums[3])
{
    lanes first = {0}, second = {0}, third = {0};
    int64_t i = 0;
    for (; i + LANES <= n; i += LANES) {
        lanes_codes narrow;
        memcpy(&narrow, codes + i, sizeof narrow);
        const lanes c = __builtin_convertvector(narrow, lanes), wc = lanes_load_f64(W + i) * c;
        first += wc;
        second += wc * c;
        third += lanes_load_f64(t + i) * c;
    }
    sums[0] = lanes_total(first);
    sums[1] = lanes_total(second);
    sums[2] = lanes_total(third);
    for (; i < n; i++) {
        sums[0] += W[i] * codes[i];
        sums[1] += W[i] * codes[i] * codes[i];
        sums[2] += t[i] * codes[i];
    }
}

void rows_code_sums(const signed char *codes, const double *W, const double *t, int64_t n,
                    double sums[3])
{
    code_sums(codes, W, t, n, sums);
}
