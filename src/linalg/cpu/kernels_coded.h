/* Surveys and updates of columns of type ROOFS_2BIT. A kernel maps the four levels of a column, and
 * then takes the mapped values of the codes: x - center, for example, is computed four times. The
 * bits are the same as if it were computed for each value. The including file defines DECODE(codes,
 * level), eight values, and the macros of kernels_load.h for functions; then it includes
 * kernels_typed.h. */
#define BLOCK coded_block
#define OWN(b) coded_raw(b)
#define OWN_CENTRED(b) coded_centred(b)
#define OWN_STANDARDISED(b) coded_standardised(b)
#define CENTRED(b, q, v) (v)
#define STANDARDISED(b, q, v) (v)
#define ITEM(b, q, i) ((b)->level[q][code_at(&(b)->at, q, i)])
#define LOAD(b, q, i) DECODE(codes_at(&(b)->at, q, i), (b)->level[q])
#define PREFETCH(b, q, i) ((void)(b), (void)(i)) /* columns are short */
#include "linalg/cpu/kernels_2bit.h"

typedef struct coded_block {
    sweep_block at;
    double level[DEVICE_BLOCK][4];
} coded_block;

#include "linalg/cpu/kernels_load.h"

LANES_INLINE coded_block coded_raw(const sweep_block *b)
{
    coded_block own = {.at = *b};
    for (int q = 0; q < DEVICE_BLOCK; q++)
        memcpy(own.level[q], b->codes[q]->level, sizeof own.level[q]);
    return own;
}

LANES_INLINE coded_block coded_centred(const sweep_block *b)
{
    coded_block own = coded_raw(b);
    for (int q = 0; q < DEVICE_BLOCK; q++)
        for (int c = 0; c < 4; c++)
            own.level[q][c] -= b->center[q];
    return own;
}

LANES_INLINE coded_block coded_standardised(const sweep_block *b)
{
    coded_block own = coded_centred(b);
    for (int q = 0; q < DEVICE_BLOCK; q++)
        for (int c = 0; c < 4; c++)
            own.level[q][c] *= b->factor[q];
    return own;
}

/* ---- surveys ----------------------------------------------------------- */

/* Bit c is 1 if code c occurs. */
static int codes_that_occur(const sweep_block *b, int64_t n)
{
    const uint64_t low = 0x5555555555555555u; /* the first bit of each code */
    uint64_t found[4] = {0};
    int all = 0;
    int64_t i = 0;
    for (; i + 32 <= n; i += 32) {
        uint64_t word;
        memcpy(&word, (const char *)b->x[0] + i / 4, sizeof word);
        found[0] |= ~word & ~(word >> 1) & low;
        found[1] |= word & ~(word >> 1) & low;
        found[2] |= ~word & (word >> 1) & low;
        found[3] |= word & (word >> 1) & low;
    }
    for (; i < n; i++)
        all |= 1 << code_at(b, 0, i);
    for (int c = 0; c < 4; c++)
        all |= (found[c] != 0) << c;
    return all;
}

/* The sum of weight times the level of each sample. */
KERNEL double sum_levels(const sweep_block *b, const double level[4], const double *weight,
                         int64_t n)
{
    coded_block own = coded_raw(b);
    lanes sum = {0};
    int64_t i = 0;
    memcpy(own.level[0], level, sizeof own.level[0]);
    for (; i + LANES <= n; i += LANES)
        sum += LOAD(&own, 0, i) * lanes_load_f64(weight + i);
    const lanes last = load_some(&own, 0, i, n - i) * load_some_weights(weight + i, n - i);
    return add_some(lanes_total(sum), last, n - i);
}

static int coded_is_constant(const sweep_block *b, double origin, const double *weight, int64_t n)
{
    const double *level = b->codes[0]->level;
    for (int64_t i = 0; i < n; i++)
        if (differs_from_origin(level[code_at(b, 0, i)], origin, weight[i]))
            return 0;
    return 1;
}

static void coded_moments(const sweep_block *b, const survey_options *how, int64_t n,
                          device_facts *facts)
{
    const double *weight = how->weight, total = how->total, *level = b->codes[0]->level;
    const double origin = level[code_at(b, 0, moments_origin(weight, n))];
    double mapped[3][4];
    for (int c = 0; c < 4; c++)
        mapped[0][c] = mean_term_of(level[c], origin);
    facts->mean = mean_of(sum_levels(b, mapped[0], weight, n), total, origin);
    facts->constant = coded_is_constant(b, origin, weight, n);
    const double about = how->centred ? facts->mean : 0.0;
    for (int c = 0; c < 4; c++)
        mapped[1][c] = scale_term_of(level[c], about);
    facts->scale = scale_of(sum_levels(b, mapped[1], weight, n), total);
    if (!how->flatness || !(facts->scale > 0))
        return;
    for (int c = 0; c < 4; c++)
        mapped[2][c] = flatness_term_of(level[c], about, 1 / facts->scale);
    facts->flatness = flatness_of(sum_levels(b, mapped[2], weight, n), total);
}

/* The levels are finite. */
static void dense_survey(const sweep_block *b, const survey_options *how, int64_t n,
                         device_facts *facts)
{
    const int codes = codes_that_occur(b, n);
    *facts = (device_facts){.not_finite = -1};
    for (int c = 0; c < 4; c++)
        if (codes >> c & 1)
            facts->largest = fmax(facts->largest, fabs(b->codes[0]->level[c]));
    if (how->weight)
        coded_moments(b, how, n, facts);
}

/* ---- updates ----------------------------------------------------------- */

/* The sum of eight samples of four columns. */
INLINED lanes sum_of_four(const coded_block *b, int64_t at)
{
    return (LOAD(b, 0, at) + LOAD(b, 1, at)) + (LOAD(b, 2, at) + LOAD(b, 3, at));
}

LANES_INLINE double item_of_four(const coded_block *b, int64_t at)
{
    return (ITEM(b, 0, at) + ITEM(b, 1, at)) + (ITEM(b, 2, at) + ITEM(b, 3, at));
}

KERNEL void dense_accumulate(const sweep_block *block, int64_t begin, int64_t rows,
                             const double weight[DEVICE_BLOCK], double *restrict out)
{
    coded_block b = coded_raw(block);
    int64_t i = 0;
    for (int q = 0; q < DEVICE_BLOCK; q++)
        for (int c = 0; c < 4; c++)
            b.level[q][c] *= weight[q];
    for (; i + LANES <= rows; i += LANES)
        store_lanes(out + i, lanes_load_f64(out + i) + sum_of_four(&b, begin + i));
    for (; i < rows; i++)
        out[i] += item_of_four(&b, begin + i);
}

KERNEL void dense_apply_block(const sweep_block *block, int64_t begin, int64_t rows,
                              double *restrict r, double *restrict variance)
{
    coded_block linear = coded_centred(block), square = linear;
    int64_t i = 0;
    for (int q = 0; q < DEVICE_BLOCK; q++) {
        const double f = block->factor[q], delta = block->delta[q] * f;
        const double spread = block->spread[q] * (f * f);
        for (int c = 0; c < 4; c++) {
            const double u = linear.level[q][c];
            linear.level[q][c] = delta * u;
            square.level[q][c] = spread * (u * u);
        }
    }
    for (; i + LANES <= rows; i += LANES) {
        store_lanes(r + i, lanes_load_f64(r + i) - sum_of_four(&linear, begin + i));
        store_lanes(variance + i, lanes_load_f64(variance + i) + sum_of_four(&square, begin + i));
    }
    for (; i < rows; i++) {
        r[i] -= item_of_four(&linear, begin + i);
        variance[i] += item_of_four(&square, begin + i);
    }
}
