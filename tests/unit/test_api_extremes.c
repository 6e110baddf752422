/* Responses and features of extreme size, for every method: a result has finite numbers only, or
 * the call says why not. */
#include "test_base_help.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { SAMPLES = 24, FEATURES = 9, SHAPES = 8, MOST_PRINTED = 20 };

static const double sizes[] = {5e-324, 1e-310, DBL_MIN, 1e-200, 1e-100, 1,
                               1e100,  1e200,  1e300,   1e308,  1.7e308};
enum { SIZES = (int)(sizeof sizes / sizeof *sizes) };

static const char *const shapes[SHAPES] = {
    "+-m",      "0 or m",       "m",         "normal times m", "normal, one +-m",
    "0, one m", "three values", "normal + m"};

typedef struct problem {
    double x[FEATURES * SAMPLES], y[SAMPLES];
    roofs_settings set;
} problem;

static double response(int shape, double m, double normal, int i, uint64_t *random)
{
    const int coin = random_below(random, 2) == 0;
    switch (shape) {
    case 0:
        return coin ? m : -m;
    case 1:
        return coin ? m : 0;
    case 2:
        return m;
    case 3:
        return fmax(-DBL_MAX, fmin(DBL_MAX, normal * m));
    case 4:
        return i == 5 ? m : i == 11 ? -m : normal;
    case 5:
        return i == 5 ? m : 0;
    case 6:
        return i % 3 == 0 ? m : i % 3 == 1 ? -m : 0;
    default:
        return fmax(-DBL_MAX, fmin(DBL_MAX, normal + m));
    }
}

/* The features are normal numbers times xm; one of them is constant and one mostly 0. */
static void make_problem(problem *p, int shape, double ym, double xm)
{
    uint64_t random = 99;
    for (int k = 0; k < FEATURES * SAMPLES; k++)
        p->x[k] = fmax(-DBL_MAX, fmin(DBL_MAX, random_bell(&random) * xm));
    for (int i = 0; i < SAMPLES; i++) {
        const double normal = p->x[i] / xm + 0.1 * random_bell(&random);
        p->x[7 * SAMPLES + i] = xm;
        p->x[8 * SAMPLES + i] = i % 8 ? 0 : xm;
        p->y[i] = response(shape, ym, normal, i, &random);
    }
}

/* ---- what is finite ---------------------------------------------------- */

static const char *first_not_finite(const double *values, int64_t count, const char *what)
{
    for (int64_t k = 0; values && k < count; k++)
        if (!isfinite(values[k]))
            return what;
    return NULL;
}

/* The name of a number of the result that is not finite; NULL = there is none. */
static const char *not_finite_in(const roofs_result *r)
{
    for (int64_t k = 0; k < r->selected; k++) {
        if (!isfinite(r->features[k].coef))
            return "a coefficient";
        const double p = r->features[k].probability;
        if (!isnan(p) && !(p >= 0 && p <= 1))
            return "a probability";
    }
    for (int64_t k = 0; k < r->batches; k++)
        if (!isfinite(r->history[k].cut) || !isfinite(r->history[k].step))
            return "the history";
    if (!isfinite(r->intercept))
        return "the intercept";
    if (!isfinite(r->cut))
        return "the cut";
    const char *wrong = first_not_finite(r->clean, r->n, "a clean probability");
    wrong = wrong ? wrong : first_not_finite(r->quantile, r->quantiles, "a quantile");
    return wrong ? wrong : first_not_finite(r->residual, r->n, "a residual");
}

/* OK, or the status of the call that refused; *wrong = what is not finite. */
static roofs_status fit_and_check(const problem *p, const char **wrong, roofs_error *err)
{
    roofs_estimator *e = NULL;
    roofs_model *model = NULL;
    roofs_result view;
    double predicted[SAMPLES];
    const roofs_block block = dense_block(p->x, ROOFS_F64, FEATURES, SAMPLES);
    roofs_status status = roofs_create(&e, &p->set, p->y, SAMPLES, err);
    if (status == ROOFS_OK)
        status = roofs_consume(e, &block, err);
    if (status == ROOFS_OK)
        status = roofs_finish(e, err);
    if (status == ROOFS_OK)
        status = roofs_view(e, &view, err);
    if (status == ROOFS_OK)
        *wrong = not_finite_in(&view);
    if (status == ROOFS_OK)
        status = roofs_model_create(&model, e, err);
    if (status == ROOFS_OK && !*wrong) {
        roofs_model_view(model, &view);
        *wrong = not_finite_in(&view);
        status = roofs_predict(model, &block, predicted, err);
    }
    if (status == ROOFS_OK && !*wrong)
        *wrong = first_not_finite(predicted, SAMPLES, "a prediction");
    roofs_model_destroy(model);
    roofs_destroy(e);
    return status;
}

/* ---- the grid ---------------------------------------------------------- */

typedef struct tally {
    int tried, fine, refused, wrong;
} tally;

static void try_problem(const problem *p, const char *shape, double ym, double xm, tally *t)
{
    const char *wrong = NULL;
    roofs_error err = {0};
    const roofs_status status = fit_and_check(p, &wrong, &err);
    t->tried++;
    t->fine += status == ROOFS_OK && !wrong;
    t->refused += status != ROOFS_OK;
    if (wrong || (status != ROOFS_OK && (status != ROOFS_BAD_DATA || err.text[0] == '\0'))) {
        if (t->wrong++ < MOST_PRINTED)
            print_message("%s, y %s with m = %g, x of size %g, intercept %d, standardize %d: %s\n",
                          p->set.method, shape, ym, xm, (int)p->set.intercept,
                          (int)p->set.standardize, wrong ? wrong : err.text);
    }
}

static void try_settings(problem *p, int shape, double ym, double xm, tally *t)
{
    roofs_method_info info;
    for (int64_t m = 0; roofs_method_describe(m, &info); m++)
        for (int k = 0; k < 4; k++) {
            roofs_settings_init(&p->set);
            p->set.method = info.name;
            p->set.mu = 4;
            p->set.batch = 5;
            p->set.threads = 1;
            p->set.intercept = k % 2;
            p->set.standardize = k / 2;
            if (strcmp(info.name, "torrent") == 0)
                p->set.clean_ratio = 0.8;
            try_problem(p, shapes[shape], ym, xm, t);
        }
}

/* Every `stride`-th shape of the responses. */
static void try_grid(const double *feature_sizes, int count, int stride, tally *t)
{
    problem *p = calloc(1, sizeof *p);
    for (int shape = 0; shape < SHAPES; shape += stride)
        for (int s = 0; s < SIZES; s++)
            for (int k = 0; k < count; k++) {
                make_problem(p, shape, sizes[s], feature_sizes[k]);
                try_settings(p, shape, sizes[s], feature_sizes[k], t);
            }
    free(p);
}

static void test_results_are_finite_or_refused(void **state)
{
    static const double ordinary[] = {1};
    static const double extreme[] = {1e-310, 1e-150, 1e150, 1e300};
    tally t = {0};
    (void)state;
    try_grid(ordinary, 1, 1, &t);
    try_grid(extreme, 4, 2, &t);
    print_message("%d fits: %d finite, %d refused\n", t.tried, t.fine, t.refused);
    assert_int_equal(t.wrong, 0);
    assert_true(t.fine > t.tried / 2);
}

/* Responses that any method can fit are not refused. */
static void test_ordinary_sizes_are_not_refused(void **state)
{
    static const double used[] = {1e-100, 1, 1e100};
    problem *p = calloc(1, sizeof *p);
    tally t = {0};
    (void)state;
    for (int shape = 0; shape < SHAPES; shape++)
        for (int k = 0; k < 3; k++) {
            make_problem(p, shape, used[k], 1);
            try_settings(p, shape, used[k], 1, &t);
        }
    free(p);
    assert_int_equal(t.fine, t.tried);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_results_are_finite_or_refused),
        cmocka_unit_test(test_ordinary_sizes_are_not_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
