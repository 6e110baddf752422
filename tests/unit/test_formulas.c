/* Formulas as a GPU compiles them, one number at a time, against the CPU's, eight at a time; and
 * those that are the same for both against the slow obvious form. */
#define FORMULA_SCALAR
#include "test_base_help.h"

#include "linalg/cpu/kernels.h"
#include "linalg/moments_formula.h"
#include "method/coordinate_formula.h"
#include "method/slab.h"
#include "robust/mixture.h"
#include "robust/step.h"
#include "robust/step_formula.h"
#include "robust/tau.h"

enum { MOST = 1003 };

static void assert_near(double got, double wanted)
{
    assert_close(got, wanted, 1e-12 * fmax(1, fabs(wanted)));
}

/* ---- moments ----------------------------------------------------------- */

static device_facts plain_facts(const double *x, const survey_options *look, int64_t n)
{
    device_facts facts = {.constant = 1};
    const double origin = x[moments_origin(look->weight, n)];
    double sum = 0, squares = 0, fourths = 0;
    for (int64_t i = 0; i < n; i++) {
        sum += mean_term(x[i], origin, look->weight[i]);
        facts.constant &= !differs_from_origin(x[i], origin, look->weight[i]);
    }
    facts.mean = mean_of(sum, look->total, origin);
    const double about = look->centred ? facts.mean : 0;
    for (int64_t i = 0; i < n; i++)
        squares += scale_term(x[i], about, look->weight[i]);
    facts.scale = scale_of(squares, look->total);
    for (int64_t i = 0; i < n; i++)
        fourths += flatness_term(x[i], about, 1 / facts.scale, look->weight[i]);
    facts.flatness = flatness_of(fourths, look->total);
    return facts;
}

static void check_moments(int64_t n, int centred, uint64_t *seed)
{
    double x[MOST] = {0}, weight[MOST] = {0}, total = 0;
    for (int64_t i = 0; i < n; i++) {
        weight[i] = i % 7 == 0 && i < n - 1 ? 1e-7 : random_unit(seed);
        x[i] = n % 5 == 0 && weight[i] > 1e-6 ? 3 : 100 + random_bell(seed);
        total += weight[i];
    }
    const survey_options look = {
        .weight = weight, .total = total, .centred = centred, .flatness = 1};
    const device_facts wanted = plain_facts(x, &look, n);
    device_facts got;
    const sweep_block b = {.count = 1, .k = &kernels_f64, .x = {x}};
    b.k->survey(&b, &look, n, &got);
    assert_near(got.mean, wanted.mean);
    assert_near(got.scale, wanted.scale);
    assert_int_equal(got.constant, wanted.constant);
    assert_int_equal(wanted.constant, n % 5 == 0);
    if (!wanted.constant)
        assert_near(got.flatness, wanted.flatness);
}

static void test_moments_of_doubles_agree_with_lanes(void **state)
{
    uint64_t seed = 3;
    (void)state;
    for (int64_t n = 3; n < 40; n++) {
        check_moments(n, 0, &seed);
        check_moments(n, 1, &seed);
    }
    check_moments(MOST, 1, &seed);
}

/* ---- the slab ---------------------------------------------------------- */

static slab_sums plain_slab_sums(const slab *s, slab_parameters now)
{
    slab_sums g = {0};
    for (int64_t i = 0; i < s->used; i++) {
        const slab_terms own = slab_terms_of(now, s->R[i], s->S[i], s->k[i]);
        g.count += own.count;
        g.p0 += own.p0;
        g.p1 += own.p1;
        g.pp += own.pp;
        g.p2 += own.p2;
    }
    return g;
}

static void test_slab_of_doubles_agrees_with_lanes(void **state)
{
    const double total = 3;
    const int64_t mu = 100;
    uint64_t seed = 7;
    slab s;
    (void)state;
    assert_int_equal(slab_create(&s, NULL), ROOFS_OK);
    for (int64_t j = 0; j < MOST; j++) /* every 17th feature has no estimate */
        if (j % 17 != 3)
            slab_record(&s, j, (random_unit(&seed) - 0.3) * (j % 5 == 0 ? 40 : 1),
                        0.01 + random_unit(&seed), 0.05 + 0.95 * random_unit(&seed));
    const slab_parameters usual = slab_initial(total, (double)mu, MOST);
    slab_parameters now = usual;
    for (int call = 0; call < 3; call++) {
        slab_learn(&s, total, mu, MOST, NULL);
        for (int step = 0; step < SLAB_STEPS; step++)
            now = slab_step(plain_slab_sums(&s, now), usual);
        assert_near(s.now.pi, now.pi);
        assert_near(s.now.mean, now.mean);
        assert_near(s.now.variance, now.variance);
    }
    assert_true(now.mean > 0.1 && now.pi > usual.pi); /* both were learned */
    slab_destroy(&s);
}

/* ---- the mixture ------------------------------------------------------- */

typedef struct plain_samples {
    double z[MOST], f[MOST], clean[MOST], w[MOST], h[MOST], W[MOST];
    mixture_parameters now;
} plain_samples;

static double plain_range(const mixture *m, const mixture_parameters *now)
{
    double low = INFINITY, high = -INFINITY;
    for (int64_t i = 0; i < m->n; i++) {
        low = fmin(low, m->r[i]);
        high = fmax(high, m->r[i]);
    }
    return mixture_range(now, mixture_spread(low, high, m->has_intercept));
}

static void plain_variances(const mixture *m, mixture_parameters *now)
{
    double squares = 0, variances = 0, weight = 0;
    for (int64_t i = 0; i < m->n; i++) {
        squares += m->w[i] * m->r[i] * m->r[i];
        variances += m->w[i] * m->V[i];
        weight += m->w[i];
    }
    mixture_learn_variances(now, squares, variances, weight, m->total);
}

static background_sums plain_weigh(plain_samples *s, int64_t n, double range)
{
    const mixture_scales scales = mixture_scales_of(&s->now, range);
    background_sums sums = {0};
    for (int64_t i = 0; i < n; i++) {
        const mixture_weights out = mixture_weigh(&scales, s->z[i], s->f[i], s->clean[i]);
        s->w[i] = out.w;
        s->h[i] = out.h;
        sums.clean += out.w;
        sums.weight += out.h;
        sums.z += out.h * s->z[i];
        sums.f += out.h * s->f[i];
    }
    return sums;
}

static double plain_background(plain_samples *s, int64_t n, background_sums sums)
{
    if (!mixture_has_background(sums))
        return mixture_clear_background(&s->now);
    const background_means mean = mixture_means(sums);
    background_products products = {0};
    for (int64_t i = 0; i < n; i++) {
        products.zz += s->h[i] * (s->z[i] - mean.z) * (s->z[i] - mean.z);
        products.fz += s->h[i] * (s->f[i] - mean.f) * (s->z[i] - mean.z);
        products.ff += s->h[i] * (s->f[i] - mean.f) * (s->f[i] - mean.f);
    }
    return mixture_learn_background(&s->now, sums, products);
}

/* judge of docs/roofs-bayes.md */
static void plain_judge(const mixture *m, plain_samples *s, int at_end)
{
    double M2 = 0;
    s->now = m->now;
    plain_variances(m, &s->now);
    const double range = plain_range(m, &s->now);
    for (int64_t i = 0; i < m->n; i++) {
        const mixture_left_out out =
            mixture_leave_one_out(&s->now, m->r[i], m->W[i], m->V[i], m->y[i] - m->intercept);
        s->z[i] = out.z;
        s->f[i] = out.f;
        s->clean[i] = out.clean;
    }
    for (int round = 0; round < JUDGE_ROUNDS; round++) {
        const mixture_parameters before = s->now;
        const background_sums sums = plain_weigh(s, m->n, range);
        mixture_learn_shares(&s->now, sums, (double)m->n, m->ratio);
        M2 = plain_background(s, m->n, sums);
        if (mixture_has_settled(&s->now, &before))
            break;
    }
    for (int64_t i = 0; i < m->n; i++)
        s->W[i] = s->w[i] + mixture_unexplained(&s->now, M2, at_end) * s->h[i];
}

static void check_judge(mixture *m, int at_end)
{
    static plain_samples wanted;
    plain_judge(m, &wanted, at_end);
    mixture_judge(m, at_end);
    assert_near(m->now.pc, wanted.now.pc);
    assert_near(m->now.s2, wanted.now.s2);
    assert_near(m->now.tau2, wanted.now.tau2);
    assert_near(m->now.kap, wanted.now.kap);
    assert_near(m->now.bc, wanted.now.bc);
    assert_near(m->now.g, wanted.now.g);
    assert_near(m->now.S2, wanted.now.S2);
    assert_near(m->now.q, wanted.now.q);
    for (int64_t i = 0; i < m->n; i++) {
        assert_near(m->w[i], wanted.w[i]);
        assert_near(m->W[i], wanted.W[i]);
        assert_near(m->f[i], wanted.f[i]);
    }
}

static void check_mixture(int has_intercept, double ratio, double corrupt)
{
    uint64_t seed = 11;
    double y[MOST];
    mixture m;
    for (int64_t i = 0; i < MOST; i++)
        y[i] = random_bell(&seed) + (random_unit(&seed) < corrupt ? 8 + 3 * random_bell(&seed) : 0);
    assert_int_equal(
        mixture_create(&m, NULL, (mixture_samples){.y = y, .n = MOST}, has_intercept, ratio, NULL),
        ROOFS_OK);
    check_judge(&m, 0);
    for (int64_t i = 0; i < MOST; i++) { /* as after a sweep */
        m.r[i] *= 0.9;
        m.V[i] = 0.1 * random_unit(&seed);
    }
    check_judge(&m, 0);
    check_judge(&m, 1);
    mixture_destroy(&m);
}

static void test_mixture_of_doubles_agrees_with_lanes(void **state)
{
    (void)state;
    check_mixture(1, 0, 0.3);
    check_mixture(0, 0, 0.3);
    check_mixture(1, 0.8, 0.2);
    check_mixture(1, 0, 0);
}

/* ---- a coordinate ------------------------------------------------------ */

/* The sweep of docs/roofs-bayes.md, in long double. */
static void check_coordinate(double before, double d, double slope, double k,
                             const mixture_parameters *samples, const slab_parameters *prior)
{
    const long double P = (long double)d / samples->tau2, kap = samples->kap;
    const long double R = before + kap * slope / d, sb = (long double)prior->variance * k;
    const long double mj = prior->mean * sqrtl(k), v = 1 / (P + 1 / sb), m = v * (P * R + mj / sb);
    const long double l = logl((long double)prior->pi / (1 - (long double)prior->pi)) +
                          logl(v / sb) / 2 + m * m / (2 * v) - mj * mj / (2 * sb);
    const long double a = 1 / (1 + expl(-l)), nv = a * (v + m * m) - a * m * (a * m);
    const coordinate c = coordinate_prepare(before, d, k, samples, prior);
    coordinate_estimate found;
    const double delta = coordinate_move(&c, slope, &found);
    assert_true(coordinate_is_defined(&c));
    assert_near(delta, (double)((a * m - before) / (1 + (kap - 1) * nv * P)));
    assert_near(found.R, (double)R);
    assert_near(found.probability, (double)a);
    assert_near(found.variance, (double)nv);
    assert_near(coordinate_variance(&c), (double)(1 / P));
}

static void test_coordinate_agrees_with_long_doubles(void **state)
{
    const mixture_parameters samples = {.tau2 = 0.5, .kap = 1.3};
    const slab_parameters prior = {.pi = 0.1, .mean = 0.2, .variance = 0.7};
    uint64_t seed = 5;
    (void)state;
    for (int run = 0; run < 1000; run++)
        check_coordinate(random_signed(&seed), 1 + 100 * random_unit(&seed),
                         50 * random_signed(&seed), 0.01 + 0.99 * random_unit(&seed), &samples,
                         &prior);
    check_coordinate(0, 100, 1e3, 1, &samples, &prior); /* beyond doubt, and e^-l is 0 */
}

static void test_coordinate_without_a_scale_is_zero(void **state)
{
    const mixture_parameters samples = {.tau2 = 0.5, .kap = 1.3};
    const slab_parameters prior = {.pi = 0.1, .mean = 0.2, .variance = 0.7};
    const coordinate none[] = {coordinate_prepare(3, 0, 1, &samples, &prior),
                               coordinate_prepare(3, 1, 0, &samples, &prior)};
    (void)state;
    for (int k = 0; k < 2; k++) {
        coordinate_estimate found;
        assert_false(coordinate_is_defined(&none[k]));
        assert_true(coordinate_move(&none[k], 5, &found) == -3);
        assert_true(found.variance == 0 && found.probability == 0);
    }
    assert_int_equal(slab_place(12, 4), 3);
    assert_int_equal(slab_place(13, 4), -1);
    assert_true(slab_scale(1) == 1 && slab_scale(0.1) == 3 * 0.1);
}

/* ---- eq. (5) and the step ---------------------------------------------- */

/* tau_largest itself is tested in test_robust_trust.c. */
static void test_tau_formulas_hold_at_their_edges(void **state)
{
    static const double sizes[] = {0.3, 1, 1.9, 1e300, 1e-300};
    (void)state;
    for (int k = 0; k < 5; k++) {
        const double square = tau_square(tau_unit_of(sizes[k]), sizes[k]);
        assert_true(square >= 0.25 && square <= 1);
    }
    assert_int_equal(tau_of_ratio(0.5, 7), 4);
    assert_int_equal(tau_of_ratio(0.01, 7), 1);
    assert_int_equal(tau_of_ratio(1.5, 7), 7);
    assert_true(tau_unit_of(0).once == 1 && tau_unit_of(0).again == 1);
    assert_true(tau_takes_upper(1, 2.5, 3) && !tau_takes_upper(1, 2, 3)); /* the lower in a tie */
}

static void test_step_agrees_with_its_definition(void **state)
{
    step_guard guard = {0};
    double largest = 0;
    uint64_t seed = 17;
    (void)state;
    for (int run = 0; run < 100; run++) {
        const double gradient = random_unit(&seed), image = 4 * random_unit(&seed), published = 0.2;
        const double step = safe_step(&guard, published, gradient, image);
        const double curvature = step_curvature(gradient, image);
        largest = step_largest_curvature(largest, curvature);
        assert_true(guard.curvature == largest && step == step_length(published, largest));
        assert_near(curvature, step_curvature_of_squares(gradient * gradient, image * image));
        assert_true(step * image * image <= 2 * gradient * gradient * (1 + 1e-12));
        assert_true(step == published || step * largest == 1 || fabs(step * largest - 1) < 1e-15);
    }
    assert_true(step_curvature(0, 1) == 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_moments_of_doubles_agree_with_lanes),
        cmocka_unit_test(test_slab_of_doubles_agrees_with_lanes),
        cmocka_unit_test(test_mixture_of_doubles_agrees_with_lanes),
        cmocka_unit_test(test_coordinate_agrees_with_long_doubles),
        cmocka_unit_test(test_tau_formulas_hold_at_their_edges),
        cmocka_unit_test(test_step_agrees_with_its_definition),
        cmocka_unit_test(test_coordinate_without_a_scale_is_zero),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
