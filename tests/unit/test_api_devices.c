/* Fits on another device against the same fits on the CPU: the same features and samples, the same
 * coefficients to 1e-8, and the same bits run to run. Without a device's name only the errors of
 * devices that cannot be used are tested. */
#include "test_base_help.h"
#include "test_linalg_tested.h"

#include "method/method.h"

typedef struct problem {
    int64_t n, p, mu;
    const char *method;
    roofs_dtype dtype;
    int intercept, standardize, sparse, whole;
    double clean_ratio, reserve;
    int64_t passes, batch;
    int whole_responses; /* whole numbers: many residuals are equal */
    double *x, *y;       /* p features of n samples */
    float *narrow;
} problem;

/* Sparse values are stored by feature, as compressed columns. */
typedef struct pattern {
    int32_t *starts, *samples;
    double *values;
} pattern;

static void fill_problem(problem *q, uint64_t *random)
{
    q->x = calloc((size_t)(q->n * q->p), sizeof *q->x);
    q->narrow = calloc((size_t)(q->n * q->p), sizeof *q->narrow);
    q->y = calloc((size_t)q->n, sizeof *q->y);
    for (int64_t at = 0; at < q->n * q->p; at++) {
        int is_zero = q->sparse && random_below(random, 10) > 0;
        q->narrow[at] = is_zero ? 0.0f : (float)(random_bell(random) + (q->standardize ? 0.5 : 0));
        q->x[at] = (double)q->narrow[at];
        if (q->dtype == ROOFS_F64 && !is_zero)
            q->x[at] = random_bell(random) + (q->standardize ? 0.5 : 0);
    }
    for (int64_t j = 0; j < q->p; j += q->p / q->mu) {
        double coef = 0.5 + (double)random_below(random, 100) / 100;
        for (int64_t i = 0; i < q->n; i++)
            q->y[i] += coef * q->x[j * q->n + i];
    }
    for (int64_t i = 0; i < q->n; i++)
        q->y[i] +=
            0.3 * random_bell(random) + (random_below(random, 5) ? 0 : 20 * random_bell(random));
    for (int64_t i = 0; q->whole_responses && i < q->n; i++)
        q->y[i] = round(q->y[i]);
}

static void free_problem(problem *q)
{
    free(q->x);
    free(q->narrow);
    free(q->y);
}

static pattern compress(const problem *q)
{
    pattern s = {calloc((size_t)q->p + 1, sizeof *s.starts),
                 calloc((size_t)(q->n * q->p) + 1, sizeof *s.samples),
                 calloc((size_t)(q->n * q->p) + 1, sizeof *s.values)};
    int32_t at = 0;
    for (int64_t j = 0; j < q->p; j++) {
        for (int64_t i = 0; i < q->n; i++)
            if (q->x[j * q->n + i] != 0) {
                s.samples[at] = (int32_t)i;
                s.values[at++] = q->x[j * q->n + i];
            }
        s.starts[j + 1] = at;
    }
    return s;
}

static void feed(const problem *q, roofs_estimator *e)
{
    const int64_t size = q->dtype == ROOFS_F32 ? sizeof(float) : sizeof(double);
    const char *values = q->dtype == ROOFS_F32 ? (void *)q->narrow : (void *)q->x;
    pattern s = compress(q);
    roofs_error err;
    const int64_t step = q->whole ? q->p : 17; /* or blocks that no batch fits */
    for (int64_t first = 0; first < q->p; first += step) {
        int64_t count = q->p - first < step ? q->p - first : step;
        roofs_block b = dense_block(values + first * q->n * size, q->dtype, count, q->n);
        if (q->sparse)
            b = (roofs_block){.count = count,
                              .n = q->n,
                              .values = s.values,
                              .starts = s.starts + first,
                              .samples = s.samples,
                              .index = ROOFS_I32};
        assert_fine(roofs_consume(e, &b, &err));
    }
    free(s.starts);
    free(s.samples);
    free(s.values);
}

static roofs_estimator *fit_on(const problem *q, const char *device_name, roofs_result *view)
{
    roofs_settings set;
    roofs_estimator *e;
    roofs_error err;
    roofs_settings_init(&set);
    set.mu = q->mu;
    set.method = q->method;
    set.batch = q->batch > 0 ? q->batch : 40;
    set.intercept = q->intercept;
    set.standardize = q->standardize;
    set.clean_ratio = q->clean_ratio;
    set.reserve = q->reserve;
    set.passes = q->passes > 0 ? q->passes : 1;
    set.device = choice_number("device", device_name);
    assert_fine(roofs_create(&e, &set, q->y, q->n, &err));
    for (int64_t pass = 1; pass <= set.passes; pass++) {
        if (pass > 1)
            assert_fine(roofs_next_pass(e, &err));
        feed(q, e);
    }
    assert_fine(roofs_finish(e, &err));
    assert_fine(roofs_view(e, view, &err));
    return e;
}

static void assert_same_fit(const problem *q, const roofs_result *a, const roofs_result *b)
{
    double largest = 0;
    assert_int_equal(a->selected, b->selected);
    assert_int_equal(a->rounds, b->rounds);
    assert_int_equal(a->trusted, b->trusted);
    for (int64_t k = 0; k < a->selected; k++)
        largest = fmax(largest, fabs(a->features[k].coef));
    for (int64_t k = 0; k < a->selected; k++) {
        assert_int_equal(a->features[k].index, b->features[k].index);
        assert_close(b->features[k].coef, a->features[k].coef, 1e-8 * largest);
    }
    assert_memory_equal(a->trust, b->trust, (size_t)q->n);
    assert_close(b->intercept, a->intercept, 1e-8 * (fabs(a->intercept) + largest));
    for (int64_t k = 0; k < a->batches; k++) {
        assert_int_equal(a->history[k].trusted, b->history[k].trusted);
        assert_int_equal(a->history[k].entered, b->history[k].entered);
        assert_close(b->history[k].cut, a->history[k].cut, 1e-7 * (a->history[k].cut + 1));
        assert_close(b->history[k].step, a->history[k].step, 1e-9 * (a->history[k].step + 1));
    }
}

static void compare_devices(problem q, uint64_t *random)
{
    roofs_result on_host, on_device, again;
    fill_problem(&q, random);
    roofs_estimator *a = fit_on(&q, "cpu", &on_host);
    roofs_estimator *b = fit_on(&q, tested->name, &on_device);
    roofs_estimator *c = fit_on(&q, tested->name, &again);
    printf("%s n=%lld p=%lld mu=%lld %s%s%s: %lld selected, %lld trusted, %lld rounds\n", q.method,
           (long long)q.n, (long long)q.p, (long long)q.mu, q.dtype == ROOFS_F32 ? "f32" : "f64",
           q.sparse ? " sparse" : "", q.standardize ? " standardised" : "",
           (long long)on_device.selected, (long long)on_device.trusted,
           (long long)on_device.rounds);
    assert_same_fit(&q, &on_host, &on_device);
    assert_int_equal(on_device.selected, again.selected);
    for (int64_t k = 0; k < on_device.selected; k++)
        assert_true(on_device.features[k].coef == again.features[k].coef);
    assert_same_doubles(on_device.residual, again.residual, q.n);
    roofs_destroy(a);
    roofs_destroy(b);
    roofs_destroy(c);
    free_problem(&q);
}

static void test_devices_fit_the_same_model(void **state)
{
    static const problem problems[] = {
        {.n = 500, .p = 400, .mu = 20, .method = "roofs", .whole = 1},
        {.n = 501, .p = 400, .mu = 50, .method = "roofs", .intercept = 1, .standardize = 1},
        {.n = 63, .p = 200, .mu = 5, .method = "roofs", .clean_ratio = 0.7, .whole = 1},
        {.n = 3001, .p = 700, .mu = 150, .method = "roofs", .dtype = ROOFS_F32, .whole = 1},
        {.n = 400, .p = 300, .mu = 30, .method = "roofs", .sparse = 1, .intercept = 1},
        {.n = 9000, .p = 300, .mu = 100, .method = "roofs", .whole = 1},
        {.n = 20000, .p = 160, .mu = 60, .method = "roofs", .whole = 1, .intercept = 1},
        {.n = 70000, .p = 100, .mu = 40, .method = "roofs", .whole = 1},
        {.n = 70000, .p = 100, .mu = 40, .method = "roofs", .whole = 1, .intercept = 1},
        {.n = 90000, .p = 60, .mu = 20, .method = "roofs", .whole = 1}, /* columns read twice */
        {.n = 200, .p = 3000, .mu = 2400, .method = "roofs", .whole = 1, .batch = 300},
        {.n = 70, .p = 22000, .mu = 20000, .method = "roofs", .whole = 1, .batch = 4000},
        {.n = 70, .p = 72000, .mu = 66000, .method = "roofs", .whole = 1, .batch = 9000},
        {.n = 5000, .p = 60, .mu = 8, .method = "roofs", .sparse = 1, .whole_responses = 1},
        {.n = 500, .p = 400, .mu = 20, .method = "roofs-bayes", .whole = 1},
        {.n = 501, .p = 400, .mu = 50, .method = "roofs-bayes", .intercept = 1, .standardize = 1},
        {.n = 2000, .p = 900, .mu = 300, .method = "roofs-bayes", .whole = 1, .passes = 2},
        {.n = 1003, .p = 500, .mu = 60, .method = "roofs-bayes", .reserve = 0.5, .intercept = 1},
        {.n = 800, .p = 300, .mu = 30, .method = "roofs-bayes", .dtype = ROOFS_F32, .whole = 1},
        {.n = 600, .p = 300, .mu = 30, .method = "roofs-bayes", .sparse = 1, .clean_ratio = 0.8},
        {.n = 9000, .p = 500, .mu = 200, .method = "roofs-bayes", .whole = 1},
        {.n = 10500, .p = 300, .mu = 150, .method = "roofs-bayes", .whole = 1}, /* many kernels */
        {.n = 12000, .p = 300, .mu = 150, .method = "roofs-bayes", .whole = 1},
        {.n = 300, .p = 2700, .mu = 2200, .method = "roofs-bayes", .whole = 1, .batch = 200},
    };
    uint64_t random = 11;
    (void)state;
    if (tested == &device_cpu)
        skip();
    for (size_t k = 0; k < sizeof problems / sizeof *problems; k++)
        compare_devices(problems[k], &random);
}

/* A fit that is too large is refused with the number of bytes, and may be tried again. */
static void test_too_little_memory_is_reported(void **state)
{
    double y[8] = {1, 2, 3, 4, 5, 6, 7, 8.5}, x[8] = {3, 1, 4, 1, 5, 9, 2, 6};
    roofs_block b = dense_block(x, ROOFS_F64, 1, 8);
    roofs_settings set;
    roofs_estimator *e;
    roofs_error err;
    (void)state;
    if (tested == &device_cpu)
        skip();
    roofs_settings_init(&set);
    set.mu = (int64_t)1 << 36;
    set.method = "roofs";
    set.device = choice_number("device", tested->name);
    assert_fine(roofs_create(&e, &set, y, 8, &err));
    for (int k = 0; k < 2; k++)
        assert_refused(roofs_consume(e, &b, &err), ROOFS_NO_MEMORY, "bytes on the GPU");
    roofs_destroy(e);
}

static void test_values_that_are_not_finite_are_named(void **state)
{
    double y[8] = {1, 2, 3, 4, 5, 6, 7, 8.5}, x[16] = {3, 1, 4, 1, 5, 9, 2, 6, 1, 2, 3, 4, 5, NAN};
    roofs_block b = dense_block(x, ROOFS_F64, 2, 8);
    roofs_settings set;
    roofs_estimator *e;
    roofs_error err;
    (void)state;
    roofs_settings_init(&set);
    set.mu = 1;
    set.device = choice_number("device", tested->name);
    assert_fine(roofs_create(&e, &set, y, 8, &err));
    assert_refused(roofs_consume(e, &b, &err), ROOFS_BAD_DATA, "sample 5");
    assert_int_equal(err.feature, 1);
    roofs_destroy(e);
}

static void test_other_methods_run_on_the_cpu(void **state)
{
    double y[8] = {1, 2, 3, 4, 5, 6, 7, 8.5};
    roofs_settings set;
    roofs_estimator *e = NULL;
    roofs_error err;
    (void)state;
    roofs_settings_init(&set);
    set.mu = 1;
    set.method = "rlhh";
    set.device = ROOFS_DEVICE_CUDA;
    assert_refused(roofs_create(&e, &set, y, 8, &err), ROOFS_BAD_SETTING,
                   "method rlhh cannot run on a GPU", "these can: roofs, roofs-bayes");
    assert_null(e);
    set.device = ROOFS_DEVICE_AUTO;
    assert_fine(roofs_create(&e, &set, y, 8, &err));
    roofs_destroy(e);
    set.device = 3;
    assert_refused(roofs_create(&e, &set, y, 8, &err), ROOFS_BAD_SETTING,
                   "unknown device \"3\"; choose one of: cpu, cuda, auto");
}

/* Without a GPU or its plug-in, auto is the CPU, and the error names the reason for cuda. */
static void test_weights_of_samples_need_the_cpu(void **state)
{
    enum { N = 40 };
    double y[N], weight[N];
    roofs_settings set;
    roofs_estimator *e = NULL;
    roofs_error err;
    (void)state;
    for (int i = 0; i < N; i++) {
        y[i] = i % 7;
        weight[i] = 1 + i % 2;
    }
    roofs_settings_init(&set);
    set.device = ROOFS_DEVICE_AUTO;
    assert_fine(roofs_create_weighted(&e, &set, y, weight, N, NULL, &err));
    assert_string_equal(roofs_device(e), "cpu");
    roofs_destroy(e);
    set.device = ROOFS_DEVICE_CUDA;
    assert_int_equal(roofs_create_weighted(&e, &set, y, weight, N, NULL, &err), ROOFS_BAD_SETTING);
    assert_non_null(strstr(err.text, "need the CPU"));
}

static void test_missing_device_is_reported(void **state)
{
    const device_ops *found = NULL;
    roofs_error err = {0};
    (void)state;
    assert_fine(device_find("auto", &found, &err));
    assert_non_null(found);
    if (device_find("cuda", &found, &err) == ROOFS_OK)
        assert_string_equal(found->name, "cuda");
    else
        assert_non_null(strstr(err.text, "device cuda: "));
}

/* The plug-in can be loaded without a GPU. */
static void test_engines_agree_with_the_methods(void **state)
{
    const device_ops *cuda = NULL;
    roofs_error err = {0};
    (void)state;
    assert_null(device_cpu.engine);
    if (device_lookup("cuda", &cuda, &err) != ROOFS_OK) {
        assert_non_null(strstr(err.text, "could not be loaded")); /* built without it */
        skip();
    }
    assert_null(cuda->products);
    for (int64_t k = 0; method_at(k); k++)
        assert_int_equal(cuda->engine(method_at(k)->name) != NULL, method_at(k)->has_engines);
    assert_null(cuda->engine("abacus"));
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_devices_fit_the_same_model),
        cmocka_unit_test(test_too_little_memory_is_reported),
        cmocka_unit_test(test_values_that_are_not_finite_are_named),
        cmocka_unit_test(test_other_methods_run_on_the_cpu),
        cmocka_unit_test(test_weights_of_samples_need_the_cpu),
        cmocka_unit_test(test_missing_device_is_reported),
        cmocka_unit_test(test_engines_agree_with_the_methods),
    };
    int missing = find_tested(argc, argv);
    return missing ? missing : cmocka_run_group_tests(tests, NULL, NULL);
}
