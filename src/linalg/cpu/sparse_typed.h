/* The sparse kernels for one storage type: define VALUE and KERNELS, include once. */
#include "linalg/block.h"
#include "linalg/cpu/kernels.h"
#include "linalg/cpu/sparse.h"
#include "linalg/lanes.h"

#include <math.h>

/* Each product goes to the partial sum it has in the dense kernel: zeros change none. */
static double dot(const cpu_column *c, const double *r, int64_t n)
{
    const VALUE *x = c->values;
    const int32_t *at = c->samples;
    const int64_t whole = n / LANES * LANES;
    double part[LANES] = {0};
    int64_t end = c->count, k = 0;
    while (end > 0 && at[end - 1] >= whole)
        end--;
    for (; k < end; k++)
        part[at[k] % LANES] += (double)x[k] * r[at[k]];
    double total = lanes_total(lanes_load_f64(part));
    for (; k < c->count; k++)
        total += (double)x[k] * r[at[k]];
    return total;
}

static void add(const cpu_column *c, int64_t from, int64_t to, double weight, double *restrict out)
{
    const VALUE *x = c->values;
    for (int64_t k = from; k < to; k++)
        out[c->samples[k]] += weight * (double)x[k];
}

static void add_squares(const cpu_column *c, int64_t from, int64_t to, double weight, double center,
                        double *restrict out)
{
    const VALUE *x = c->values;
    for (int64_t k = from; k < to; k++)
        out[c->samples[k]] += weight * ((double)x[k] * ((double)x[k] - 2 * center));
}

/* ---- a look ------------------------------------------------------------ */

/* Equal wherever there is weight? `same` is that value where no sample without one counts. */
static int is_constant(const cpu_column *c, const double *weight, int64_t heavy, double *same)
{
    const VALUE *x = c->values;
    int64_t held = 0, equal = 0;
    double first = 0;
    for (int64_t k = 0; k < c->count; k++) {
        if (!(weight[c->samples[k]] > WEIGHTLESS))
            continue;
        first = held++ == 0 ? (double)x[k] : first;
        equal += (double)x[k] == first;
    }
    *same = held == heavy ? first : 0;
    return held == equal && (held == heavy || held == 0 || first == 0);
}

/* Sums of x - origin, as the dense kernel has them; zeros without a value come in as one. */
static void moments(const cpu_column *c, const device_look *look, int64_t heavy,
                    device_facts *facts)
{
    const VALUE *x = c->values;
    const double *w = look->weight;
    double origin, held = 0, sum = 0, squares = 0, fourths = 0;
    facts->constant = is_constant(c, w, heavy, &origin);
    for (int64_t k = 0; k < c->count; k++) {
        held += w[c->samples[k]];
        sum += ((double)x[k] - origin) * w[c->samples[k]];
    }
    const double rest = fmax(0, look->total - held);
    facts->mean = origin + (sum - origin * rest) / look->total;
    const double about = look->centred ? facts->mean : 0.0;
    for (int64_t k = 0; k < c->count; k++) {
        double off = (double)x[k] - about;
        squares += off * off * w[c->samples[k]];
    }
    facts->scale = sqrt((squares + about * about * rest) / look->total);
    if (!look->flatness || !(facts->scale > 0))
        return;
    for (int64_t k = 0; k < c->count; k++) {
        double off = ((double)x[k] - about) / facts->scale;
        fourths += off * off * (off * off) * w[c->samples[k]];
    }
    const double off = about / facts->scale;
    facts->flatness = look->total / (fourths + off * off * (off * off) * rest);
}

static void survey(const cpu_column *c, const device_look *look, int64_t heavy, device_facts *facts)
{
    const VALUE *x = c->values;
    *facts = (device_facts){.not_finite = -1};
    for (int64_t k = 0; k < c->count; k++) {
        if (!isfinite(x[k])) {
            facts->not_finite = c->samples[k];
            return;
        }
        facts->largest = fmax(facts->largest, fabs((double)x[k]));
    }
    if (look->weight)
        moments(c, look, heavy, facts);
}

/* ---- sweeps ------------------------------------------------------------ */

/* Two sums of each by turns: additions then need not wait for each other. */
static void sum(const cpu_column *c, double center, const double *w, const double *stored,
                double level, sparse_sums *out)
{
    const VALUE *x = c->values;
    sparse_sums part[2] = {{.weight = 0}, {.weight = 0}};
    for (int64_t k = 0; k < c->count; k++) {
        sparse_sums *p = &part[k % 2];
        double weight = w[c->samples[k]], r = stored[c->samples[k]] + level;
        double off = (double)x[k] - center;
        p->weight += weight;
        p->slope += weight * r;
        p->off += weight * off;
        p->off_slope += weight * off * r;
        p->off_square += weight * off * off;
    }
    *out = (sparse_sums){.weight = part[0].weight + part[1].weight,
                         .slope = part[0].slope + part[1].slope,
                         .off = part[0].off + part[1].off,
                         .off_slope = part[0].off_slope + part[1].off_slope,
                         .off_square = part[0].off_square + part[1].off_square};
}

static void apply(const cpu_column *c, const sparse_change *change, double *restrict stored,
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

static void lay_out(const cpu_column *c, const double *w, double *out)
{
    const VALUE *x = c->values;
    for (int64_t k = 0; k < c->count; k++)
        out[c->samples[k]] = w ? w[c->samples[k]] * (double)x[k] : 0;
}

static double dot_dense(const cpu_column *c, const double *w, const void *y, double center)
{
    const VALUE *x = c->values, *other = y;
    double total = 0;
    for (int64_t k = 0; k < c->count; k++)
        total += w[c->samples[k]] * (double)x[k] * ((double)other[c->samples[k]] - center);
    return total;
}

/* ---- copies ------------------------------------------------------------ */

static void copy(void *to, const roofs_block *block, int64_t from, int64_t count)
{
    VALUE *out = to;
    for (int64_t k = 0; k < count; k++)
        out[k] = (VALUE)block_value(block, from + k);
}

const sparse_kernels KERNELS = {
    .dot = dot,
    .add = add,
    .add_squares = add_squares,
    .survey = survey,
    .sum = sum,
    .apply = apply,
    .lay_out = lay_out,
    .dot_dense = dot_dense,
    .copy = copy,
};
