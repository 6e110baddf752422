/* What a method reports while it runs, and what is left when it is stopped. */
#include "test_api_problem.h"

#include "api/estimator.h"

typedef struct progress_log {
    roofs_progress seen[3000];
    int64_t count, stop_after; /* 0 = never */
} progress_log;

static int log_progress(void *user, const roofs_progress *now)
{
    progress_log *log = user;
    assert_true(log->count < 3000);
    log->seen[log->count++] = *now;
    return log->count == log->stop_after;
}

static void test_progress_agrees_with_history(void **state)
{
    static progress_log log;
    problem p;
    roofs_error err;
    roofs_result view;
    (void)state;
    make_problem(&p, 1);
    roofs_estimator *e = open_fit(&p);
    roofs_set_monitor(e, log_progress, &log);
    roofs_block all = block_of(&p, 0, FEATURES);
    assert_fine(roofs_consume(e, &all, &err));
    assert_fine(roofs_view(e, &view, &err));
    assert_int_equal(view.batches, 5);
    assert_int_equal(view.rounds, log.count);
    int64_t at = 0, seen = 0, before = 0;
    for (int64_t b = 0; b < view.batches; b++) {
        const roofs_batch *h = &view.history[b];
        seen += h->features;
        assert_int_equal(h->features, b < 4 ? 7 : 2);
        for (int64_t round = 1; round <= h->rounds; round++, at++) {
            assert_int_equal(log.seen[at].batch, b + 1);
            assert_int_equal(log.seen[at].round, round);
            assert_int_equal(log.seen[at].features_seen, seen);
            assert_in_range(log.seen[at].selected, 1, p.set.mu);
            assert_in_range(log.seen[at].trusted, SAMPLES / 2 + 1, SAMPLES);
        }
        assert_int_equal(h->selected, log.seen[at - 1].selected);
        assert_int_equal(h->trusted, log.seen[at - 1].trusted);
        assert_true(h->entered >= h->selected - before && h->entered <= h->selected);
        assert_true(h->step > 0 && h->step <= p.set.eta && h->cut > 0);
        before = h->selected;
    }
    assert_int_equal(at, log.count);
    roofs_destroy(e);
}

/* One column, every sample trusted: curvature C = |x|^2 / n, and where eta C > 2 the step 1 / C
 * goes to the least squares solution at once. */
static void test_step_is_reported(void **state)
{
    static const double sizes[] = {1, 4, 5, 30, 1e5};
    (void)state;
    for (int k = 0; k < 5; k++) {
        problem p;
        roofs_error err;
        roofs_result view;
        double xx = 0, xy = 0;
        make_problem(&p, 2);
        for (int i = 0; i < SAMPLES; i++) {
            p.x[0][i] *= sizes[k];
            xx += p.x[0][i] * p.x[0][i];
            xy += p.x[0][i] * p.y[i];
        }
        p.set.standardize = p.set.intercept = 0;
        p.set.clean_ratio = 1;
        p.set.max_iter = 1;
        roofs_estimator *e = open_fit(&p);
        roofs_block one = block_of(&p, 0, 1);
        assert_fine(roofs_consume(e, &one, &err));
        assert_fine(roofs_view(e, &view, &err));
        double curvature = xx / SAMPLES;
        double step = p.set.eta * curvature > 2 ? 1 / curvature : p.set.eta;
        assert_true((step < p.set.eta) == (k >= 2)); /* both happen */
        assert_close(view.history[0].step, step, 1e-13 * step);
        assert_close(view.features[0].coef, step / SAMPLES * xy, fabs(1e-12 * step * xy));
        assert_int_equal(view.stop, ROOFS_STOP_MAX_ITER);
        roofs_destroy(e);
    }
}

/* Later rounds may have to step shorter: the shortest step is reported. */
static void test_shortest_step_is_reported(void **state)
{
    int shorter = 0;
    (void)state;
    for (uint64_t seed = 1; seed <= 20; seed++) {
        double step[2];
        for (int k = 0; k < 2; k++) {
            problem p;
            roofs_error err;
            roofs_result view;
            make_problem(&p, seed);
            for (int i = 0; i < SAMPLES * 7; i++)
                p.x[i / SAMPLES][i % SAMPLES] *= 5;
            p.set.standardize = 0;
            p.set.max_iter = k ? 30 : 1;
            roofs_estimator *e = open_fit(&p);
            roofs_block b = block_of(&p, 0, 7);
            assert_fine(roofs_consume(e, &b, &err));
            assert_fine(roofs_view(e, &view, &err));
            step[k] = view.history[0].step;
            roofs_destroy(e);
        }
        assert_true(step[1] <= step[0]);
        shorter += step[1] < step[0];
    }
    assert_true(shorter > 5);
}

/* The numbers of the batch start anew with each. */
static void test_progress_starts_anew_per_batch(void **state)
{
    problem p;
    roofs_error err;
    (void)state;
    make_problem(&p, 3);
    roofs_estimator *e = open_fit(&p);
    for (int64_t first = 0; first < 14; first += 7) {
        roofs_block b = block_of(&p, first, 7);
        assert_fine(roofs_consume(e, &b, &err));
        assert_int_equal(e->f->now.features, 7);
        assert_true(e->f->now.rounds >= 1 && e->f->now.rounds <= e->f->rounds);
        assert_memory_equal(&e->f->now, &e->history[e->f->batches - 1], sizeof e->f->now);
    }
    assert_int_equal(e->f->rounds, e->history[0].rounds + e->history[1].rounds);
    roofs_destroy(e);
}

/* Residual, coefficients, intercept and trust set belong together. */
static void assert_consistent(const problem *p, const roofs_result *view)
{
    double cut = 0;
    int64_t trusted = 0;
    for (int i = 0; i < SAMPLES; i++) {
        double left = p->y[i] - view->intercept;
        for (int64_t k = 0; k < view->selected; k++)
            left -= view->features[k].coef * p->x[view->features[k].index][i];
        assert_close(view->residual[i], left, 1e-10);
        trusted += view->trust[i];
        cut = view->trust[i] ? fmax(cut, fabs(view->residual[i])) : cut;
    }
    for (int i = 0; i < SAMPLES; i++)
        assert_true(view->trust[i] || fabs(view->residual[i]) >= cut);
    assert_int_equal(trusted, view->trusted);
    assert_true(view->cut == cut);
    assert_true(view->selected <= p->set.mu);
}

static void test_cancelled_fit_can_be_used(void **state)
{
    (void)state;
    for (int64_t after = 1; after <= 60; after += 3)
        for (int resumes = 0; resumes < 2; resumes++) {
            static progress_log log;
            problem p;
            roofs_error err;
            roofs_result view;
            log = (progress_log){.stop_after = after};
            make_problem(&p, 4);
            p.set.tol = 0; /* all rounds are made */
            p.set.max_iter = 20;
            roofs_estimator *e = open_fit(&p);
            roofs_block all = block_of(&p, 0, FEATURES);
            roofs_set_monitor(e, log_progress, &log);
            assert_refused(roofs_consume(e, &all, &err), ROOFS_CANCELLED, "stopped in round",
                           "of batch");
            assert_fine(roofs_view(e, &view, &err));
            assert_int_equal(view.rounds, after);
            assert_int_equal(view.batches, (after + 19) / 20);
            assert_int_equal(view.features_seen, 7 * view.batches);
            assert_consistent(&p, &view);
            if (resumes) { /* with the features that were not consumed */
                roofs_block rest = block_of(&p, view.features_seen, FEATURES - view.features_seen);
                roofs_set_monitor(e, NULL, NULL);
                assert_fine(roofs_consume(e, &rest, &err));
            }
            assert_fine(roofs_finish(e, &err));
            assert_fine(roofs_view(e, &view, &err));
            assert_consistent(&p, &view);
            roofs_model_destroy(model_of(e));
            roofs_destroy(e);
        }
}

/* A monitor that always continues changes nothing; the planted features are found. */
static void test_planted_features_are_found(void **state)
{
    static progress_log log;
    problem p;
    roofs_error err;
    roofs_result plain;
    (void)state;
    make_problem(&p, 5);
    p.set.tol = 1e-9;
    p.set.max_iter = 1000;
    roofs_estimator *e = fit_all(&p, NULL), *other = open_fit(&p);
    roofs_block all = block_of(&p, 0, FEATURES);
    log = (progress_log){0};
    roofs_set_monitor(other, log_progress, &log);
    assert_fine(roofs_consume(other, &all, &err));
    assert_same_fits(e, other);
    plain = view_of(e);
    assert_consistent(&p, &plain);
    int found = 0;
    for (int64_t k = 0; k < plain.selected; k++) {
        int64_t index = plain.features[k].index;
        double wanted = index == 2 ? 3 : index == 11 ? -2 : index == 25 ? 1 : 0;
        assert_close(plain.features[k].coef, wanted, 0.1);
        found += wanted != 0;
    }
    assert_int_equal(found, 3);
    for (int i = 0; i < SAMPLES; i += 6)
        assert_int_equal(plain.trust[i], 0);
    roofs_destroy(e);
    roofs_destroy(other);
}

/* Extreme units, and responses that are 0: no result is NaN. */
static void test_nothing_becomes_nan(void **state)
{
    static const double units[] = {1e300, 1e-300, 1e-310, 1};
    (void)state;
    for (int kind = 0; kind < 32; kind++) {
        problem p;
        roofs_error err;
        roofs_result view;
        make_problem(&p, 6);
        p.set.standardize = kind & 1;
        p.set.intercept = kind >> 1 & 1;
        for (int i = 0; i < SAMPLES; i++)
            p.y[i] = kind & 4 ? 0 : p.y[i];
        for (int64_t i = 0; i < FEATURES * SAMPLES; i++)
            p.x[i / SAMPLES][i % SAMPLES] *= units[kind >> 3];
        roofs_estimator *e = fit_all(&p, NULL);
        roofs_status status = roofs_view(e, &view, &err);
        if (status != ROOFS_OK) { /* a coefficient of 1e310 has no number; nothing else may fail */
            assert_int_equal(status, ROOFS_BAD_DATA);
            assert_true(units[kind >> 3] == 1e-310 &&
                        strstr(err.text, "beyond the largest number"));
            roofs_destroy(e);
            continue;
        }
        assert_true(isfinite(view.intercept) && isfinite(view.cut));
        for (int64_t k = 0; k < view.selected; k++)
            assert_true(isfinite(view.features[k].coef));
        for (int i = 0; i < SAMPLES; i++)
            assert_true(fabs(view.residual[i]) < INFINITY);
        for (int64_t b = 0; b < view.batches; b++)
            assert_true(view.history[b].step == view.history[b].step);
        roofs_destroy(e);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_progress_agrees_with_history),
        cmocka_unit_test(test_step_is_reported),
        cmocka_unit_test(test_shortest_step_is_reported),
        cmocka_unit_test(test_progress_starts_anew_per_batch),
        cmocka_unit_test(test_cancelled_fit_can_be_used),
        cmocka_unit_test(test_planted_features_are_found),
        cmocka_unit_test(test_nothing_becomes_nan),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
