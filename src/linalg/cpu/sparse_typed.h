/* The sparse kernels for one storage type. The including file defines VALUE (the type), LOAD (eight
 * values as lanes) and KERNELS (the name of the table). */
#define FORMULA_SCALAR /* moments are summed value by value */
#include "base/block.h"
#include "linalg/cpu/kernels.h"
#include "linalg/lanes.h"
#include "linalg/moments_formula.h"

#include <float.h>
#include <math.h>

/* The entries of a vector at eight samples. */
LANES_INLINE lanes gather_lanes(const double *from, const int32_t *at)
{
    return (lanes){from[at[0]], from[at[1]], from[at[2]], from[at[3]],
                   from[at[4]], from[at[5]], from[at[6]], from[at[7]]};
}

EVERY_WIDTH static double sparse_dot(const cpu_column *c, const double *r)
{
    const VALUE *x = c->values;
    const int32_t *at = c->samples;
    lanes_sum partial = {0};
    int64_t k = 0;
    for (; k + LANES <= c->count; k += LANES)
        lanes_add(&partial, LOAD(x + k) * gather_lanes(r, at + k));
    double total = lanes_sum_total(partial);
    for (; k < c->count; k++)
        total += (double)x[k] * r[at[k]];
    return total;
}

static void sparse_add(const cpu_column *c, int64_t from, int64_t to, double weight,
                       double *restrict out)
{
    const VALUE *x = c->values;
    for (int64_t k = from; k < to; k++)
        out[c->samples[k]] += weight * (double)x[k];
}

static void sparse_add_squares(const cpu_column *c, int64_t from, int64_t to, double weight,
                               double center, double *restrict out)
{
    const VALUE *x = c->values;
    for (int64_t k = from; k < to; k++)
        out[c->samples[k]] += weight * ((double)x[k] * ((double)x[k] - 2 * center));
}

/* ---- survey ------------------------------------------------------------ */

/* Returns 1 if all samples with a weight have the same value. *same is the first value if all of
 * them have a stored value, else 0. */
static int sparse_is_constant(const cpu_column *c, const double *weight, int64_t heavy,
                              double *same)
{
    const VALUE *x = c->values;
    int64_t held = 0, others = 0, k = 0;
    while (k < c->count && !has_weight(weight[c->samples[k]]))
        k++;
    const double first = k < c->count ? (double)x[k] : 0;
    for (; k < c->count; k++) {
        int counts = has_weight(weight[c->samples[k]]);
        held += counts;
        others += counts & ((double)x[k] != first);
    }
    *same = held == heavy ? first : 0;
    return others == 0 && (held == heavy || held == 0 || first == 0);
}

/* All samples without a stored value count as one zero with the sum of their weights, `others`. */
static void sparse_moments(const cpu_column *c, const survey_options *how, int64_t heavy,
                           device_facts *facts)
{
    const VALUE *x = c->values;
    const double *w = how->weight, total = how->total;
    double origin, held = 0, sum = 0, squares = 0, fourths = 0;
    facts->constant = sparse_is_constant(c, w, heavy, &origin);
    for (int64_t k = 0; k < c->count; k++) {
        held += w[c->samples[k]];
        sum += mean_term((double)x[k], origin, w[c->samples[k]]);
    }
    const double others = fmax(0, total - held);
    facts->mean = mean_of(sum + mean_term(0, origin, others), total, origin);
    const double about = how->centred ? facts->mean : 0.0;
    for (int64_t k = 0; k < c->count; k++)
        squares += scale_term((double)x[k], about, w[c->samples[k]]);
    facts->scale = scale_of(squares + scale_term(0, about, others), total);
    if (!how->flatness || !(facts->scale > 0))
        return;
    const double factor = 1 / facts->scale;
    for (int64_t k = 0; k < c->count; k++)
        fourths += flatness_term((double)x[k], about, factor, w[c->samples[k]]);
    facts->flatness = flatness_of(fourths + flatness_term(0, about, factor, others), total);
}

static void sparse_survey(const cpu_column *c, const survey_options *how, int64_t heavy,
                          device_facts *facts)
{
    const VALUE *x = c->values;
    *facts = (device_facts){.not_finite = -1};
    for (int64_t k = 0; k < c->count; k++) {
        double size = fabs((double)x[k]);
        if (!(size <= DBL_MAX)) {
            facts->not_finite = c->samples[k];
            return;
        }
        facts->largest = size > facts->largest ? size : facts->largest;
    }
    if (how->weight)
        sparse_moments(c, how, heavy, facts);
}

/* ---- sweeps ------------------------------------------------------------ */

typedef struct sparse_lanes {
    lanes weight, slope, off, off_slope, off_square;
} sparse_lanes;

LANES_INLINE void add_values(sparse_lanes *s, lanes off, lanes w, lanes r)
{
    const lanes heavy = w * off;
    s->weight += w;
    s->slope += w * r;
    s->off += heavy;
    s->off_slope += heavy * r;
    s->off_square += heavy * off;
}

/* Values of weight 0 fill the last lanes. */
EVERY_WIDTH static void sparse_sum(const cpu_column *c, double center, const double *w,
                                   const double *stored, double level, sparse_sums *out)
{
    const VALUE *x = c->values;
    const int32_t *at = c->samples;
    sparse_lanes all = {.weight = {0}};
    int64_t k = 0;
    for (; k + LANES <= c->count; k += LANES)
        add_values(&all, LOAD(x + k) - center, gather_lanes(w, at + k),
                   gather_lanes(stored, at + k) + level);
    if (k < c->count) {
        lanes off = {0}, weight = {0}, r = {0};
        for (int l = 0; k < c->count; k++, l++) {
            off[l] = (double)x[k] - center;
            weight[l] = w[at[k]];
            r[l] = stored[at[k]] + level;
        }
        add_values(&all, off, weight, r);
    }
    *out = (sparse_sums){.weight = lanes_total(all.weight),
                         .slope = lanes_total(all.slope),
                         .off = lanes_total(all.off),
                         .off_slope = lanes_total(all.off_slope),
                         .off_square = lanes_total(all.off_square)};
}

static void sparse_apply(const cpu_column *c, const sparse_change *change, double *restrict stored,
                         double *restrict variance)
{
    const VALUE *x = c->values;
    for (int64_t k = 0; k < c->count; k++) {
        double value = (double)x[k];
        stored[c->samples[k]] -= change->move * value;
        variance[c->samples[k]] += change->spread * (value * (value - 2 * change->center));
    }
}

/* ---- Gram matrices ----------------------------------------------------- */

static void sparse_scatter(const cpu_column *c, const double *w, double *out)
{
    const VALUE *x = c->values;
    for (int64_t k = 0; k < c->count; k++)
        out[c->samples[k]] = w ? w[c->samples[k]] * (double)x[k] : 0;
}

static double sparse_dot_dense(const cpu_column *c, const double *w, const cpu_column *y,
                               double center)
{
    const VALUE *x = c->values;
    double total = 0;
    for (int64_t k = 0; k < c->count; k++)
        total += w[c->samples[k]] * (double)x[k] * (cpu_value(y, c->samples[k]) - center);
    return total;
}

/* ---- copies ------------------------------------------------------------ */

static void sparse_copy(void *to, const roofs_block *block, int64_t from, int64_t count)
{
    VALUE *out = to;
    for (int64_t k = 0; k < count; k++)
        out[k] = (VALUE)block_value(block, from + k);
}

const sparse_kernels KERNELS = {
    .dot = sparse_dot,
    .add = sparse_add,
    .add_squares = sparse_add_squares,
    .survey = sparse_survey,
    .sum = sparse_sum,
    .apply = sparse_apply,
    .scatter = sparse_scatter,
    .dot_dense = sparse_dot_dense,
    .copy = sparse_copy,
};
