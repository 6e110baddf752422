/* Groups, errors and noise in views, models and files, and intervals of predictions. The numbers of
 * the fit are set by hand: tests of the method check how it finds them. */
#include "api/estimator.h"
#include "base/student.h"
#include "test_api_problem.h"

#include <jansson.h>

/* ---- a fit with groups -------------------------------------------------- */

enum { GROUPS = 3, MEMBERS = 6 };

typedef struct planted {
    problem p;
    roofs_estimator *e;
    group_feature members[MEMBERS];
    char names[MEMBERS][20];
    group items[GROUPS];
    double errors[FEATURES];
} planted;

/* Groups {2}, {11, 12, 13} and {25, 26}; the second is incomplete. The fit is given back its own
 * empty groups by planted_end. */
static void plant(planted *f, const problem *p, const char *const *names)
{
    static const int64_t counts[GROUPS] = {1, 3, 2}, indices[MEMBERS] = {2, 11, 12, 13, 25, 26};
    static const double shares[MEMBERS] = {1, 0.5, 0.3, 0.195, 0.75, 0.25};
    f->p = *p;
    f->e = fit_all(p, names);
    fit *of = f->e->f;
    group_feature *next = f->members;
    for (int k = 0; k < MEMBERS; k++) {
        snprintf(f->names[k], sizeof f->names[k], "feature %d", (int)indices[k]);
        f->members[k] = (group_feature){indices[k], names ? f->names[k] : NULL, shares[k]};
    }
    for (int k = 0; k < GROUPS; k++) {
        f->items[k] = (group){.count = counts[k],
                              .members = next,
                              .exists = 1 - 0.01 * k,
                              .fdr = 0.02 + 0.05 * k,
                              .correlation = 1 - 0.03 * k,
                              .effect = 3 - 2.5 * k,
                              .error = 0.25,
                              .unit = 0.5,
                              .exponent = 1,
                              .is_complete = k != 1};
        for (int64_t j = 0; j < counts[k]; j++)
            f->items[k].mass += next[j].probability;
        next += counts[k];
    }
    for (int k = 0; k < FEATURES; k++)
        f->errors[k] = 0.01 * (k + 1);
    of->found = (groups){1, GROUPS, f->items};
    of->coef_error = f->errors;
    of->noise = (fit_noise){.s2 = 0.0625, .intercept = 0.0001, .nu = 5, .skew = 2, .tail = 0.05};
}

static void planted_end(planted *f)
{
    f->e->f->found = (groups){0};
    f->e->f->coef_error = NULL;
    roofs_destroy(f->e);
}

static void make_planted(planted *f)
{
    problem p;
    make_problem(&p, 1);
    p.set.mu = 20; /* of 30 */
    plant(f, &p, p.pointers);
}

static void assert_same_groups(const roofs_result *a, const roofs_result *b)
{
    assert_int_equal(a->groups_known, b->groups_known);
    assert_int_equal(a->groups, b->groups);
    for (int64_t k = 0; k < a->groups; k++) {
        const roofs_group *g = &a->group[k], *h = &b->group[k];
        assert_int_equal(g->count, h->count);
        assert_int_equal(g->complete, h->complete);
        assert_memory_equal(&g->mass, &h->mass, 6 * sizeof(double));
        assert_true(isnan(g->coef) == isnan(h->coef));
        if (!isnan(g->coef))
            assert_memory_equal(&g->coef, &h->coef, 2 * sizeof(double));
        for (int64_t j = 0; j < g->count; j++) {
            assert_int_equal(g->members[j].index, h->members[j].index);
            assert_same_doubles(&g->members[j].probability, &h->members[j].probability, 1);
            assert_true(!g->members[j].name == !h->members[j].name);
            if (g->members[j].name)
                assert_string_equal(g->members[j].name, h->members[j].name);
        }
    }
    assert_true(!a->spread == !b->spread);
    if (a->spread && a->selected > 0)
        assert_memory_equal(a->spread, b->spread, (size_t)a->selected * sizeof *a->spread);
    assert_memory_equal(&a->noise, &b->noise, sizeof a->noise);
    assert_same_doubles(&a->fdr, &b->fdr, 1);
    assert_int_equal(a->by_probability, b->by_probability);
    if (a->selected > 0)
        assert_memory_equal(a->is_selected, b->is_selected, (size_t)a->selected);
}

/* ---- the view ------------------------------------------------------------ */

static void test_view_is_in_the_units_of_the_caller(void **state)
{
    planted f;
    (void)state;
    make_planted(&f);
    const fit *of = f.e->f;
    const roofs_result v = view_of(f.e);
    const double unit = ldexp(1, of->y_exponent);
    assert_int_equal(v.groups_known, 1);
    assert_int_equal(v.groups, GROUPS);
    assert_true(v.group[0].effect == 3 * unit);
    assert_true(v.group[1].error == 0.25 * unit);
    assert_true(v.group[0].coef == 3 * 0.5 * unit / 2); /* x is used times 2^-1 */
    assert_true(v.group[0].coef_error == 0.25 * 0.5 * unit / 2);
    assert_true(isnan(v.group[1].coef) && isnan(v.group[2].coef_error));
    assert_int_equal(v.group[1].complete, 0);
    assert_string_equal(v.group[2].members[1].name, "feature 26");
    assert_true(v.noise.scale == 0.25 * unit);
    assert_true(v.noise.intercept == 0.01 * unit);
    for (int64_t k = 0; k < v.selected; k++) {
        int64_t j = 0;
        while (of->cols.items[j].feature != v.features[k].index)
            j++;
        const double factor = of->cols.places[j].factor;
        const int exponent = of->cols.items[j].exponent;
        assert_true(v.spread[k].center == ldexp(of->cols.places[j].center, exponent));
        assert_close(v.spread[k].error / fabs(v.features[k].coef),
                     f.errors[j] / fabs(of->cols.items[j].coef), 1e-12);
        assert_true(v.spread[k].error > 0 && factor > 0);
    }
    planted_end(&f);
}

/* Numbers of a fit that is not finished, and errors beyond the largest number, are not shown. */
static void test_view_has_only_what_is_known(void **state)
{
    planted f;
    (void)state;
    make_planted(&f);
    f.items[0].effect = 1e300;
    f.items[0].unit = 1e300;
    f.errors[1] = INFINITY;
    roofs_result v = view_of(f.e);
    assert_true(isnan(v.group[0].coef) && isnan(v.group[0].coef_error));
    assert_null(v.spread);
    assert_true(v.noise.scale == 0);
    f.e->phase = PHASE_OPEN;
    v = view_of(f.e);
    assert_int_equal(v.groups_known, 0);
    assert_int_equal(v.groups, 0);
    assert_null(v.spread);
    f.e->phase = PHASE_FINISHED;
    planted_end(&f);
}

/* True if a feature is in the first `count` groups. */
static int is_in_groups(const planted *f, int64_t index, int count)
{
    for (int k = 0; k < count; k++)
        for (int64_t j = 0; j < f->items[k].count; j++)
            if (f->items[k].members[j].feature == index)
                return 1;
    return 0;
}

/* Returns how many features are selected. */
static int64_t check_selection(planted *f, double fdr, int found)
{
    roofs_error err;
    roofs_result read;
    roofs_model *again = NULL;
    int64_t count = 0;
    f->e->f->set.fdr = fdr;
    const roofs_result v = view_of(f->e);
    assert_int_equal(v.by_probability, 2);
    for (int64_t k = 0; k < v.selected; k++) {
        assert_int_equal(v.is_selected[k], is_in_groups(f, v.features[k].index, found));
        count += v.is_selected[k];
    }
    roofs_model *m = model_of(f->e);
    assert_fine(roofs_model_write(m, "fdr.json", &err));
    assert_fine(roofs_model_read(&again, "fdr.json", &err));
    roofs_model_view(again, &read);
    assert_same_groups(&v, &read);
    roofs_model_destroy(m);
    roofs_model_destroy(again);
    return count;
}

static void test_rate_of_false_discoveries_selects_groups(void **state)
{
    planted f;
    (void)state;
    make_planted(&f);
    assert_int_equal(check_selection(&f, 0.01, 0), 0);
    check_selection(&f, 0.02, 1);
    check_selection(&f, 0.1, 2);
    assert_true(check_selection(&f, 0.5, 3) > 2);
    f.e->f->set.fdr = 0;
    const roofs_result all = view_of(f.e);
    assert_int_equal(all.by_probability, 0);
    for (int64_t k = 0; k < all.selected; k++)
        assert_int_equal(all.is_selected[k], 1);
    planted_end(&f);
}

static void test_settings_that_cannot_find_groups_refuse_fdr(void **state)
{
    problem p;
    roofs_error err;
    roofs_estimator *e;
    (void)state;
    make_problem(&p, 1);
    p.set.fdr = 0.1;
    assert_refused(roofs_create(&e, &p.set, p.y, SAMPLES, &err), ROOFS_BAD_SETTING, "fdr",
                   "roofs-bayes");
    p.set.method = "roofs-bayes";
    p.set.groups = ROOFS_GROUPS_OFF;
    assert_refused(roofs_create(&e, &p.set, p.y, SAMPLES, &err), ROOFS_BAD_SETTING, "fdr",
                   "groups");
}

/* ---- files ---------------------------------------------------------------- */

static void test_groups_survive_the_file(void **state)
{
    static const double units[] = {1, 1e150, 1e-150, 1.0 / 3};
    (void)state;
    for (int kind = 0; kind < 16; kind++) {
        planted f;
        problem p;
        roofs_error err;
        roofs_result stored, read;
        roofs_model *again = NULL;
        make_problem(&p, (uint64_t)kind);
        for (int j = 0; j < FEATURES; j++)
            for (int i = 0; i < SAMPLES; i++)
                p.x[j][i] *= units[kind % 4];
        for (int i = 0; i < SAMPLES; i++)
            p.y[i] *= units[kind / 4];
        plant(&f, &p, kind % 2 ? p.pointers : NULL);
        if (kind % 3 == 0)
            f.e->f->noise.nu = INFINITY;
        const roofs_result fitted = view_of(f.e);
        roofs_model *m = model_of(f.e);
        roofs_model_view(m, &stored);
        assert_same_groups(&fitted, &stored);
        assert_fine(roofs_model_write(m, "a.json", &err));
        assert_fine(roofs_model_read(&again, "a.json", &err));
        roofs_model_view(again, &read);
        assert_same_groups(&stored, &read);
        roofs_model_destroy(m);
        roofs_model_destroy(again);
        planted_end(&f);
    }
}

/* Groups that were searched for and not found differ from groups that were not searched for. */
static void test_no_groups_differ_from_unknown_groups(void **state)
{
    planted f;
    (void)state;
    make_planted(&f);
    for (int known = 0; known < 2; known++) {
        roofs_error err;
        roofs_result read;
        roofs_model *again = NULL;
        f.e->f->found = (groups){.is_known = known};
        roofs_model *m = model_of(f.e);
        assert_fine(roofs_model_write(m, "none.json", &err));
        assert_fine(roofs_model_read(&again, "none.json", &err));
        roofs_model_view(again, &read);
        assert_int_equal(read.groups_known, known);
        assert_int_equal(read.groups, 0);
        roofs_model_destroy(m);
        roofs_model_destroy(again);
    }
    planted_end(&f);
}

static json_t *good(void)
{
    json_t *root = json_load_file("good.json", 0, NULL);
    assert_non_null(root);
    return root;
}

/* Releases the root. */
static void assert_broken(json_t *root, const char *field)
{
    char quoted[60];
    roofs_error err;
    roofs_model *m = NULL;
    snprintf(quoted, sizeof quoted, "'%s'", field);
    assert_int_equal(json_dump_file(root, "bad.json", JSON_REAL_PRECISION(17)), 0);
    assert_refused(roofs_model_read(&m, "bad.json", &err), ROOFS_BAD_DATA, "bad.json", quoted);
    assert_null(m);
    json_decref(root);
}

static json_t *group_in(json_t *root, size_t k)
{
    return json_array_get(json_object_get(root, "groups"), k);
}

static json_t *member_in(json_t *root, size_t k)
{
    return json_array_get(json_object_get(group_in(root, 1), "members"), k);
}

static json_t *object_in(json_t *root, int which)
{
    return which == 0   ? group_in(root, 0)
           : which == 1 ? member_in(root, 0)
           : which == 2 ? json_object_get(root, "noise")
                        : json_array_get(json_object_get(root, "features"), 0);
}

/* Every key, removed and of a wrong type. */
static void test_every_key_of_groups_matters(void **state)
{
    (void)state;
    for (int which = 0; which < 4; which++) {
        json_t *pattern = good();
        int keys = 0;
        for (void *at = json_object_iter(object_in(pattern, which)); at;
             at = json_object_iter_next(object_in(pattern, which), at), keys++) {
            const char *key = json_object_iter_key(at);
            const int may_miss = strcmp(key, "coef") == 0 || strcmp(key, "nu") == 0;
            for (int how = may_miss && which != 3; how < 2; how++) {
                json_t *root = good();
                if (how == 0)
                    json_object_del(object_in(root, which), key);
                else
                    json_object_set_new(object_in(root, which), key, json_object());
                assert_broken(root, key);
            }
        }
        assert_true(keys >= 3);
        json_decref(pattern);
    }
}

static void assert_group_broken(size_t k, const char *key, json_t *value, const char *blamed)
{
    json_t *root = good();
    json_object_set_new(group_in(root, k), key, value);
    assert_broken(root, blamed);
}

static void assert_member_broken(size_t k, const char *key, json_t *value, const char *blamed)
{
    json_t *root = good();
    json_object_set_new(member_in(root, k), key, value);
    assert_broken(root, blamed);
}

static void assert_noise_broken(const char *key, double value)
{
    json_t *root = good();
    json_object_set_new(json_object_get(root, "noise"), key, json_real(value));
    assert_broken(root, key);
}

static void test_numbers_out_of_range_are_refused(void **state)
{
    (void)state;
    assert_group_broken(0, "exists", json_real(1.5), "exists");
    assert_group_broken(0, "exists", json_real(-0.1), "exists");
    assert_group_broken(0, "fdr", json_real(2), "fdr");
    assert_group_broken(0, "error", json_real(-1), "error");
    assert_group_broken(0, "coef_error", json_real(-1), "coef_error");
    assert_group_broken(0, "correlation", json_real(-1), "correlation");
    assert_group_broken(0, "complete", json_integer(1), "complete");
    assert_group_broken(0, "mass", json_real(0.5), "mass");
    assert_group_broken(0, "mass", json_real(1e300), "mass");
    assert_group_broken(1, "members", json_array(), "members");
    assert_group_broken(1, "members", json_object(), "members");
    assert_group_broken(1, "coef", json_real(1), "coef");
    assert_member_broken(0, "index", json_integer(-1), "index");
    assert_member_broken(0, "index", json_integer(FEATURES), "index");
    assert_member_broken(0, "index", json_integer(INT64_MAX), "index");
    assert_member_broken(0, "index", json_integer(12), "groups"); /* twice in a group */
    assert_member_broken(0, "index", json_integer(2), "groups");  /* in two groups */
    assert_member_broken(0, "probability", json_real(-0.5), "probability");
    assert_member_broken(0, "probability", json_real(0.75), "mass");
    assert_member_broken(1, "probability", json_real(0.75), "members"); /* order */
    assert_noise_broken("scale", -1);
    assert_noise_broken("intercept", -1);
    assert_noise_broken("nu", 0);
    assert_noise_broken("nu", 2.5);
    assert_noise_broken("nu", 1e300);
    assert_noise_broken("skew", 5);
    assert_noise_broken("skew", -1e9);
    assert_noise_broken("tail", 1);
    assert_noise_broken("tail", -0.1);
    json_t *root = good();
    json_object_set_new(root, "groups", json_object());
    assert_broken(root, "groups");
    root = good();
    json_object_set_new(json_object_get(root, "settings"), "fdr", json_real(2));
    assert_broken(root, "fdr");
    root = good();
    json_array_insert_new(json_object_get(root, "groups"), 0, json_integer(7));
    assert_broken(root, "members");
}

/* A mass above 1 is refused even if the members have it. */
static void test_probabilities_sum_to_one_at_most(void **state)
{
    json_t *root = good();
    (void)state;
    json_object_set_new(member_in(root, 0), "probability", json_real(0.9));
    json_object_set_new(group_in(root, 1), "mass", json_real(0.9 + 0.3 + 0.195));
    assert_broken(root, "mass");
}

static void test_half_widths_survive_the_file(void **state)
{
    static const double widths[] = {0, 0.5, 0.5, 1.0 / 3 + 1};
    const double *const wrong[] = {(const double[]){1, 0.5}, (const double[]){-1, 1},
                                   (const double[]){0, NAN}, (const double[]){0, INFINITY}};
    double many[ROOFS_HALF_WIDTH_STEPS] = {0};
    roofs_error err;
    roofs_result v;
    roofs_model *m = NULL, *again = NULL;
    (void)state;
    assert_fine(roofs_model_read(&m, "good.json", &err));
    roofs_model_view(m, &v);
    assert_int_equal(v.half_widths, 0);
    for (int k = 0; k < 4; k++)
        assert_refused(roofs_model_set_half_widths(m, 2, wrong[k], &err), ROOFS_BAD_CALL, "ascend");
    assert_refused(roofs_model_set_half_widths(m, 0, widths, &err), ROOFS_BAD_CALL, "1 to 199");
    assert_refused(roofs_model_set_half_widths(m, 200, many, &err), ROOFS_BAD_CALL, "1 to 199");
    assert_fine(roofs_model_set_half_widths(m, 2, widths, &err));
    assert_fine(roofs_model_set_half_widths(m, 4, widths, &err)); /* replaces them */
    assert_fine(roofs_model_write(m, "widths.json", &err));
    assert_fine(roofs_model_read(&again, "widths.json", &err));
    roofs_model_view(again, &v);
    assert_int_equal(v.half_widths, 4);
    assert_same_doubles(v.half_width, widths, 4);
    roofs_model_destroy(m);
    roofs_model_destroy(again);
}

static void test_bad_half_widths_are_refused(void **state)
{
    (void)state;
    for (int how = 0; how < 5; how++) {
        json_t *root = good(), *list = json_array();
        for (int k = 0; how == 0 && k < ROOFS_HALF_WIDTH_STEPS; k++)
            json_array_append_new(list, json_real(k));
        json_object_set_new(root, "half_widths",
                            how < 2    ? json_incref(list)
                            : how == 2 ? json_pack("[f, f]", 1.0, 0.5)
                            : how == 3 ? json_pack("[s]", "1")
                                       : json_object());
        json_decref(list);
        assert_broken(root, "half_widths");
    }
}

/* ---- intervals -------------------------------------------------------------- */

static roofs_model *read_good(void)
{
    roofs_error err;
    roofs_model *m = NULL;
    assert_fine(roofs_model_read(&m, "good.json", &err));
    return m;
}

/* The formula of docs/uncertainty.md, plainly. */
static void test_intervals_follow_the_formula(void **state)
{
    problem p;
    roofs_error err;
    roofs_result v;
    roofs_model *m = read_good();
    double yhat[SAMPLES], plain[SAMPLES], low[SAMPLES], high[SAMPLES];
    (void)state;
    make_problem(&p, 9);
    roofs_block x = block_of(&p, 0, FEATURES);
    roofs_model_view(m, &v);
    assert_fine(roofs_predict(m, &x, plain, &err));
    for (double level = 0.1; level < 1; level += 0.2) {
        assert_fine(roofs_predict_interval(m, &x, 0, level, yhat, low, high, &err));
        const double inside = fmin(level / (1 - v.noise.tail), (1 + level) / 2);
        const double middle = skewed_quantile(v.noise.nu, v.noise.skew, 0.5);
        const double below = skewed_quantile(v.noise.nu, v.noise.skew, (1 - inside) / 2) - middle;
        const double above = skewed_quantile(v.noise.nu, v.noise.skew, (1 + inside) / 2) - middle;
        for (int i = 0; i < SAMPLES; i++) {
            double variance = v.noise.scale * v.noise.scale + v.noise.intercept * v.noise.intercept;
            for (int64_t k = 0; k < v.selected; k++)
                variance +=
                    pow(v.spread[k].error * (p.x[v.features[k].index][i] - v.spread[k].center), 2);
            const double width = 1.02 * sqrt(variance);
            assert_close(low[i], plain[i] + width * below, 1e-12 * width);
            assert_close(high[i], plain[i] + width * above, 1e-12 * width);
            assert_true(low[i] < yhat[i] && yhat[i] < high[i]);
        }
        assert_same_doubles(yhat, plain, SAMPLES);
    }
    roofs_model_destroy(m);
}

/* Half of the values are 0 and not listed; both kinds of blocks, with all or only the selected
 * features, give the same bits. */
static void test_sparse_intervals_have_the_bits_of_dense_ones(void **state)
{
    problem p;
    roofs_error err;
    roofs_result v;
    roofs_model *m = read_good();
    static double kept[FEATURES][SAMPLES], values[FEATURES * SAMPLES];
    int64_t starts[FEATURES + 1] = {0}, samples[FEATURES * SAMPLES], used = 0;
    double a[SAMPLES], b[SAMPLES], c[SAMPLES], d[SAMPLES];
    (void)state;
    make_problem(&p, 9);
    roofs_model_view(m, &v);
    for (int j = 0; j < FEATURES; j++) {
        for (int i = 0; i < SAMPLES; i++)
            if ((i + j) % 2)
                p.x[j][i] = 0;
            else {
                values[used] = p.x[j][i];
                samples[used++] = i;
            }
        starts[j + 1] = used;
    }
    for (int64_t k = 0; k < v.selected; k++)
        memcpy(kept[k], p.x[v.features[k].index], sizeof kept[k]);
    const roofs_block dense = block_of(&p, 0, FEATURES),
                      only = dense_block(kept, ROOFS_F64, v.selected, SAMPLES),
                      sparse = {.count = FEATURES,
                                .n = SAMPLES,
                                .values = values,
                                .starts = starts,
                                .samples = samples};
    assert_fine(roofs_predict_interval(m, &dense, 0, 0.9, NULL, a, b, &err));
    assert_fine(roofs_predict_interval(m, &sparse, 0, 0.9, NULL, c, d, &err));
    assert_same_doubles(a, c, SAMPLES);
    assert_same_doubles(b, d, SAMPLES);
    assert_fine(roofs_predict_interval(m, &only, 1, 0.9, NULL, c, d, &err));
    assert_same_doubles(a, c, SAMPLES);
    assert_same_doubles(b, d, SAMPLES);
    roofs_model_destroy(m);
}

static void test_intervals_that_cannot_be_given_are_refused(void **state)
{
    static const double levels[] = {0, 1, -0.5, 1.5, NAN};
    problem p;
    roofs_error err;
    roofs_model *m = read_good(), *bare = NULL;
    double low[SAMPLES], high[SAMPLES];
    json_t *root = good();
    (void)state;
    make_problem(&p, 9);
    roofs_block x = block_of(&p, 0, FEATURES), few = block_of(&p, 0, 3);
    for (int k = 0; k < 5; k++)
        assert_refused(roofs_predict_interval(m, &x, 0, levels[k], NULL, low, high, &err),
                       ROOFS_BAD_CALL, "level");
    assert_refused(roofs_predict_interval(m, &few, 0, 0.9, NULL, low, high, &err), ROOFS_BAD_DATA,
                   "not among the 3");
    assert_refused(roofs_predict_interval(m, &few, 1, 0.9, NULL, low, high, &err), ROOFS_BAD_DATA,
                   "the block 3");
    json_object_del(root, "noise"); /* as in a model of an earlier version */
    assert_int_equal(json_dump_file(root, "bare.json", JSON_REAL_PRECISION(17)), 0);
    assert_fine(roofs_model_read(&bare, "bare.json", &err));
    assert_refused(roofs_predict_interval(bare, &x, 0, 0.9, NULL, low, high, &err), ROOFS_BAD_CALL,
                   "roofs-bayes");
    json_decref(root);
    roofs_model_destroy(bare);
    roofs_model_destroy(m);
}

/* Squares of such numbers are no doubles. */
static void test_intervals_scale_with_the_unit(void **state)
{
    double low[3][SAMPLES], high[3][SAMPLES];
    static const double units[] = {1, 0x1p+700, 0x1p-700};
    (void)state;
    for (int kind = 0; kind < 3; kind++) {
        problem p;
        planted f;
        roofs_error err;
        make_problem(&p, 1);
        for (int i = 0; i < SAMPLES; i++)
            p.y[i] *= units[kind];
        plant(&f, &p, NULL);
        roofs_model *m = model_of(f.e);
        roofs_block x = block_of(&p, 0, FEATURES);
        assert_fine(roofs_predict_interval(m, &x, 0, 0.9, NULL, low[kind], high[kind], &err));
        for (int i = 0; i < SAMPLES; i++) {
            assert_close(low[kind][i] / units[kind], low[0][i], 1e-9);
            assert_close(high[kind][i] / units[kind], high[0][i], 1e-9);
        }
        roofs_model_destroy(m);
        planted_end(&f);
    }
}

static int prepare(void **state)
{
    planted f;
    roofs_error err;
    if (enter_folder(state) != 0)
        return -1;
    make_planted(&f);
    roofs_model *m = model_of(f.e);
    assert_fine(roofs_model_write(m, "good.json", &err));
    roofs_model_destroy(m);
    planted_end(&f);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_view_is_in_the_units_of_the_caller),
        cmocka_unit_test(test_view_has_only_what_is_known),
        cmocka_unit_test(test_rate_of_false_discoveries_selects_groups),
        cmocka_unit_test(test_settings_that_cannot_find_groups_refuse_fdr),
        cmocka_unit_test(test_groups_survive_the_file),
        cmocka_unit_test(test_no_groups_differ_from_unknown_groups),
        cmocka_unit_test(test_every_key_of_groups_matters),
        cmocka_unit_test(test_numbers_out_of_range_are_refused),
        cmocka_unit_test(test_probabilities_sum_to_one_at_most),
        cmocka_unit_test(test_half_widths_survive_the_file),
        cmocka_unit_test(test_bad_half_widths_are_refused),
        cmocka_unit_test(test_intervals_follow_the_formula),
        cmocka_unit_test(test_sparse_intervals_have_the_bits_of_dense_ones),
        cmocka_unit_test(test_intervals_that_cannot_be_given_are_refused),
        cmocka_unit_test(test_intervals_scale_with_the_unit),
    };
    return cmocka_run_group_tests(tests, prepare, leave_folder);
}
