/* A small corrupted problem for the tests of method, model and api. */
#ifndef TEST_API_PROBLEM_H
#define TEST_API_PROBLEM_H

#include "test_base_help.h"

enum { SAMPLES = 60, FEATURES = 30 };

typedef struct problem {
    double x[FEATURES][SAMPLES];
    double y[SAMPLES]; /* 3 x_2 - 2 x_11 + x_25 + 1, every sixth sample corrupted */
    char names[FEATURES][20];
    const char *pointers[FEATURES];
    roofs_settings set;
} problem;

static inline void make_problem(problem *p, uint64_t seed)
{
    uint64_t random = seed * 2654435761u + 1;
    for (int j = 0; j < FEATURES; j++) {
        snprintf(p->names[j], sizeof p->names[j], "feature %d", j);
        p->pointers[j] = p->names[j];
        for (int i = 0; i < SAMPLES; i++)
            p->x[j][i] = random_bell(&random);
    }
    for (int i = 0; i < SAMPLES; i++)
        p->y[i] = 3 * p->x[2][i] - 2 * p->x[11][i] + p->x[25][i] + 1 + 0.05 * random_bell(&random) +
                  (i % 6 == 0 ? 25 : 0);
    roofs_settings_init(&p->set);
    p->set.method = "roofs";
    p->set.mu = 4;
    p->set.batch = 7;
    p->set.threads = 1;
}

static inline roofs_block block_of(const problem *p, int64_t first, int64_t count)
{
    return dense_block(p->x[first], ROOFS_F64, count, SAMPLES);
}

static inline roofs_estimator *open_fit(const problem *p)
{
    roofs_error err;
    roofs_estimator *e = NULL;
    assert_fine(roofs_create(&e, &p->set, p->y, SAMPLES, &err));
    assert_non_null(e);
    return e;
}

/* The whole stream in one block, finished. */
static inline roofs_estimator *fit_all(const problem *p, const char *const *names)
{
    roofs_error err;
    roofs_estimator *e = open_fit(p);
    roofs_block all = block_of(p, 0, FEATURES);
    all.names = names;
    assert_fine(roofs_consume(e, &all, &err));
    assert_fine(roofs_finish(e, &err));
    return e;
}

static inline roofs_result view_of(roofs_estimator *e)
{
    roofs_error err;
    roofs_result view;
    assert_fine(roofs_view(e, &view, &err));
    return view;
}

static inline roofs_model *model_of(roofs_estimator *e)
{
    roofs_error err;
    roofs_model *m = NULL;
    assert_fine(roofs_model_create(&m, e, &err));
    return m;
}

/* Equal to the bit. Models have no residuals: they are compared where both results have them. */
static inline void assert_same_result(const roofs_result *a, const roofs_result *b)
{
    assert_int_equal(a->n, b->n);
    assert_int_equal(a->features_seen, b->features_seen);
    assert_int_equal(a->constant, b->constant);
    assert_int_equal(a->trusted, b->trusted);
    assert_int_equal(a->rounds, b->rounds);
    assert_int_equal(a->stop, b->stop);
    assert_int_equal(a->warnings, b->warnings);
    assert_string_equal(a->method, b->method);
    assert_same_doubles(&a->intercept, &b->intercept, 1);
    assert_same_doubles(&a->cut, &b->cut, 1);
    assert_memory_equal(a->trust, b->trust, (size_t)a->n);
    assert_int_equal(a->selected, b->selected);
    for (int64_t k = 0; k < a->selected; k++) {
        assert_int_equal(a->features[k].index, b->features[k].index);
        assert_same_doubles(&a->features[k].coef, &b->features[k].coef, 1);
        assert_true(!a->features[k].name == !b->features[k].name);
        if (a->features[k].name)
            assert_string_equal(a->features[k].name, b->features[k].name);
    }
    assert_int_equal(a->batches, b->batches);
    for (int64_t k = 0; k < a->batches; k++)
        assert_memory_equal(&a->history[k], &b->history[k], sizeof *a->history);
    if (a->residual && b->residual)
        assert_same_doubles(a->residual, b->residual, a->n);
}

static inline void assert_same_fits(roofs_estimator *e, roofs_estimator *f)
{
    const roofs_result a = view_of(e), b = view_of(f);
    assert_same_result(&a, &b);
}

#endif
