/* The model's file: the same bytes when read and written again, refused by name when broken. */
#include "test_api_problem.h"

#include <jansson.h>
#include <math.h>

static char *contents(const char *path, size_t *size)
{
    FILE *file = fopen(path, "rb");
    assert_non_null(file);
    char *text = malloc(1 << 20);
    assert_non_null(text);
    *size = fread(text, 1, (1 << 20) - 1, file);
    text[*size] = 0;
    fclose(file);
    return text;
}

static void assert_same_files(const char *left, const char *right)
{
    size_t a, b;
    char *one = contents(left, &a), *two = contents(right, &b);
    assert_int_equal(a, b);
    assert_memory_equal(one, two, a);
    free(one);
    free(two);
}

static void write_fit(const problem *p, const char *const *names, const char *path)
{
    roofs_error err;
    roofs_estimator *e = fit_all(p, names);
    roofs_model *m = model_of(e);
    assert_fine(roofs_model_write(m, path, &err));
    roofs_model_destroy(m);
    roofs_destroy(e);
}

/* Names with everything JSON must escape, and values of all sizes. */
static void test_numbers_survive_to_the_last_bit(void **state)
{
    static const double units[] = {1, 1e150, 1e-150, 1.0 / 3};
    (void)state;
    for (int kind = 0; kind < 16; kind++) {
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
        for (int j = 1; j < FEATURES; j++)
            snprintf(p.names[j], sizeof p.names[j], "%d \"\\\t\n/ \xc2\xb0\xe6\xb8\xa9", j);
        p.pointers[0] = "";
        roofs_estimator *e = fit_all(&p, kind % 2 ? p.pointers : NULL);
        roofs_model *m = model_of(e);
        const roofs_result fitted = view_of(e);
        roofs_model_view(m, &stored);
        assert_same_result(&fitted, &stored);
        assert_null(stored.residual);
        assert_fine(roofs_model_write(m, "a.json", &err));
        assert_fine(roofs_model_read(&again, "a.json", &err));
        roofs_model_view(again, &read);
        assert_same_result(&stored, &read);
        assert_int_equal(read.quantiles, SAMPLES);
        assert_same_doubles(read.quantile, stored.quantile, SAMPLES);
        assert_fine(roofs_model_write(again, "b.json", &err));
        assert_same_files("a.json", "b.json");
        roofs_model_destroy(m);
        roofs_model_destroy(again);
        roofs_destroy(e);
    }
}

static void test_quantiles_are_stored(void **state)
{
    problem p;
    roofs_error err;
    roofs_result stored;
    double *y = malloc(1000 * sizeof *y), *x = malloc(1000 * sizeof *x);
    uint64_t random = 3;
    (void)state;
    make_problem(&p, 1);
    for (int i = 0; i < 1000; i++)
        y[i] = (x[i] = random_bell(&random)) + random_bell(&random);
    roofs_estimator *e = NULL;
    roofs_block b = dense_block(x, ROOFS_F64, 1, 1000);
    assert_fine(roofs_create(&e, &p.set, y, 1000, &err));
    assert_fine(roofs_consume(e, &b, &err));
    roofs_model *m = model_of(e);
    const roofs_result fitted = view_of(e);
    roofs_model_view(m, &stored);
    assert_int_equal(stored.quantiles, 257);
    for (int64_t k = 0; k < 257; k++) { /* the number of residuals at or below gives the position */
        int64_t at_most = 0;
        for (int i = 0; i < 1000; i++)
            at_most += fitted.residual[i] <= stored.quantile[k];
        assert_int_equal(at_most, k * 999 / 256 + 1);
    }
    roofs_model_destroy(m);
    roofs_destroy(e);
    free(x);
    free(y);
}

/* A fit of nothing is a model too. */
static void test_empty_model_is_read_back(void **state)
{
    problem p;
    roofs_error err;
    roofs_result view;
    roofs_model *again = NULL;
    double prediction[3], x[3] = {1, 2, 3};
    (void)state;
    make_problem(&p, 1);
    roofs_estimator *e = open_fit(&p);
    assert_fine(roofs_finish(e, &err));
    roofs_model *m = model_of(e);
    assert_fine(roofs_model_write(m, "empty.json", &err));
    assert_fine(roofs_model_read(&again, "empty.json", &err));
    assert_fine(roofs_model_write(again, "empty2.json", &err));
    assert_same_files("empty.json", "empty2.json");
    roofs_model_view(again, &view);
    assert_int_equal(view.selected, 0);
    assert_int_equal(view.batches, 0);
    assert_int_equal(view.stop, ROOFS_STOP_EMPTY);
    roofs_block b = dense_block(x, ROOFS_F64, 1, 3);
    assert_fine(roofs_predict(again, &b, prediction, &err));
    for (int i = 0; i < 3; i++)
        assert_true(prediction[i] == view.intercept);
    roofs_model_destroy(m);
    roofs_model_destroy(again);
    roofs_destroy(e);
}

static int64_t flags_in(const char *path)
{
    roofs_error err;
    roofs_result view;
    roofs_model *m = NULL;
    assert_fine(roofs_model_read(&m, path, &err));
    roofs_model_view(m, &view);
    assert_fine(roofs_model_write(m, "again.json", &err));
    roofs_model_destroy(m);
    return view.warnings;
}

/* Every flag has its word in the file. A word of a later version is no reason to refuse the file.
 */
static void test_warnings_are_read_back(void **state)
{
    json_t *root = json_load_file("good.json", 0, NULL), *words = json_array();
    const char *word;
    int64_t all = 0;
    (void)state;
    assert_null(json_object_get(root, "warnings"));
    assert_int_equal(flags_in("good.json"), 0);
    for (int64_t k = 0; (word = roofs_warning_name(k)) != NULL; k++) {
        json_array_append_new(words, json_string(word));
        all |= (int64_t)1 << k;
    }
    json_object_set_new(root, "warnings", words);
    assert_int_equal(json_dump_file(root, "some.json", JSON_REAL_PRECISION(17)), 0);
    assert_int_equal(flags_in("some.json"), all);
    json_t *again = json_load_file("again.json", 0, NULL);
    assert_true(json_equal(json_object_get(again, "warnings"), words));
    json_array_append_new(words, json_string("a word of a later version"));
    assert_int_equal(json_dump_file(root, "some.json", JSON_REAL_PRECISION(17)), 0);
    assert_int_equal(flags_in("some.json"), all);
    json_decref(again);
    json_decref(root);
}

/* ---- broken files ---------------------------------------------------------------- */

static void assert_broken(const char *path, const char *word)
{
    roofs_error err;
    roofs_model *m = (roofs_model *)&err;
    assert_refused(roofs_model_read(&m, path, &err), ROOFS_BAD_DATA, path, word);
    assert_null(m);
    assert_int_equal(roofs_model_read(&m, path, NULL), ROOFS_BAD_DATA);
}

static json_t *good(void)
{
    json_t *root = json_load_file("good.json", 0, NULL);
    assert_non_null(root);
    return root;
}

static void assert_json_broken(json_t *root, const char *field)
{
    char quoted[60];
    snprintf(quoted, sizeof quoted, "'%s'", field);
    assert_int_equal(json_dump_file(root, "bad.json", JSON_REAL_PRECISION(17)), 0);
    assert_broken("bad.json", quoted);
}

static json_t *inside(json_t *root, const char *name)
{
    json_t *value = name ? json_object_get(root, name) : root;
    return json_is_array(value) ? json_array_get(value, 0) : value;
}

/* Every key of object `name` (NULL = the file itself), removed and of a wrong type. */
static void assert_every_key_matters(const char *name)
{
    json_t *pattern = good();
    int keys = 0;
    for (void *at = json_object_iter(inside(pattern, name)); at;
         at = json_object_iter_next(inside(pattern, name), at), keys++) {
        const char *key = json_object_iter_key(at);
        for (int how = strcmp(key, "quality") == 0; how < 3; how++) { /* which may be absent */
            json_t *root = good(), *object = inside(root, name);
            if (how == 0)
                json_object_del(object, key);
            else if (how == 1)
                json_object_set_new(object, key, json_true());
            else if (strcmp(key, "name") != 0) /* which may be null */
                json_object_set_new(object, key, json_null());
            else
                json_object_set_new(object, key, json_pack("[s]", "a"));
            assert_json_broken(root, key);
            json_decref(root);
        }
    }
    assert_true(keys >= 2);
    json_decref(pattern);
}

/* How the selection depends on the order of the features is optional in the file. */
static void test_orders_are_read_back(void **state)
{
    (void)state;
    static problem p;
    roofs_error err;
    roofs_result stored, read;
    roofs_model *again = NULL;
    make_problem(&p, 5);
    roofs_estimator *e = fit_all(&p, NULL);
    roofs_model *m = model_of(e);
    roofs_model_view(m, &stored);
    assert_int_equal(stored.orders, 0);
    assert_null(stored.frequency);
    double frequency[4] = {1, 0.25, 0, 1.0 / 3};
    assert_int_equal(stored.selected, 4);
    assert_fine(roofs_model_set_orders(m, 8, frequency, 0.75, 1.5, &err));
    frequency[0] = 0.5; /* the model has a copy */
    assert_fine(roofs_model_write(m, "orders.json", &err));
    assert_fine(roofs_model_read(&again, "orders.json", &err));
    roofs_model_view(again, &read);
    assert_int_equal(read.orders, 8);
    assert_same_doubles((const double[]){1, 0.25, 0, 1.0 / 3}, read.frequency, 4);
    assert_same_doubles((const double[]){0.75, 1.5}, (const double[]){read.jaccard, read.change},
                        2);
    assert_fine(roofs_model_write(again, "orders-again.json", &err));
    assert_same_files("orders.json", "orders-again.json");
    roofs_model_destroy(again);
    roofs_model_destroy(m);
    roofs_destroy(e);
}

static void test_orders_out_of_range_are_refused(void **state)
{
    (void)state;
    static problem p;
    roofs_error err;
    const double fine[4] = {1, 1, 1, 1}, above[4] = {1, 1, 1, 2}, no_number[4] = {NAN, 1, 1, 1};
    make_problem(&p, 5);
    roofs_estimator *e = fit_all(&p, NULL);
    roofs_model *m = model_of(e);
    assert_int_equal(roofs_model_set_orders(m, 1, fine, 1, 0, &err), ROOFS_BAD_CALL);
    assert_int_equal(roofs_model_set_orders(m, 2, above, 1, 0, &err), ROOFS_BAD_CALL);
    assert_int_equal(roofs_model_set_orders(m, 2, no_number, 1, 0, &err), ROOFS_BAD_CALL);
    assert_int_equal(roofs_model_set_orders(m, 2, fine, -1, 0, &err), ROOFS_BAD_CALL);
    assert_int_equal(roofs_model_set_orders(m, 2, fine, 1, INFINITY, &err), ROOFS_BAD_CALL);
    assert_fine(roofs_model_set_orders(m, 2, fine, 1, 0, &err));
    roofs_model_destroy(m);
    roofs_destroy(e);
}

static void test_every_key_matters(void **state)
{
    (void)state;
    assert_every_key_matters(NULL);
    assert_every_key_matters("features");
    assert_every_key_matters("history");
    assert_every_key_matters("residuals");
}

/* Sets one value of the file; the error must name the field `blamed`. */
static void assert_value_broken(const char *name, const char *key, json_t *value,
                                const char *blamed)
{
    json_t *root = good();
    json_object_set_new(inside(root, name), key, value);
    assert_json_broken(root, blamed);
    json_decref(root);
}

static void test_numbers_out_of_range_are_refused(void **state)
{
    (void)state;
    assert_value_broken(NULL, "format", json_string("other"), "format");
    assert_value_broken(NULL, "n", json_integer(-1), "n");
    assert_value_broken(NULL, "n", json_integer(INT64_MAX), "n");
    assert_value_broken(NULL, "n", json_real(60), "n");
    assert_value_broken(NULL, "n", json_integer(3), "trusted");
    assert_value_broken(NULL, "n", json_integer(SAMPLES + 1), "trusted");
    assert_value_broken(NULL, "trusted", json_integer(SAMPLES + 1), "trusted");
    assert_value_broken(NULL, "trusted", json_integer(1), "trusted");
    assert_value_broken(NULL, "features_seen", json_integer(-1), "features_seen");
    assert_value_broken(NULL, "features_seen", json_integer(2), "index");
    assert_value_broken(NULL, "constant_features", json_integer(FEATURES + 1), "constant_features");
    assert_value_broken(NULL, "rounds", json_integer(-1), "rounds");
    assert_value_broken(NULL, "stop", json_string("tired"), "stop");
    assert_value_broken(NULL, "warnings", json_string("few-trusted"), "warnings");
    assert_value_broken(NULL, "warnings", json_pack("[i]", 2), "warnings");
    assert_value_broken("features", "index", json_integer(-1), "index");
    assert_value_broken("features", "index", json_integer(FEATURES), "index");
    assert_value_broken("features", "index", json_real(2.5), "index");
    assert_value_broken("features", "index", json_integer(FEATURES - 1), "features"); /* order */
    assert_value_broken("history", "trusted", json_integer(SAMPLES + 1), "trusted");
    assert_value_broken("history", "rounds", json_integer(-3), "rounds");
    assert_value_broken("residuals", "quantiles", json_pack("[f,s]", 1.0, "x"), "quantiles");
}

static void test_bad_outliers_are_refused(void **state)
{
    (void)state;
    assert_value_broken(NULL, "outliers", json_pack("[i,i]", 0, 0), "outliers");
    assert_value_broken(NULL, "outliers", json_pack("[i]", SAMPLES), "outliers");
    assert_value_broken(NULL, "outliers", json_pack("[i]", -1), "outliers");
    assert_value_broken(NULL, "outliers", json_pack("[f]", 1.0), "outliers");
    assert_value_broken(NULL, "outliers", json_pack("[s]", "1"), "outliers");
    assert_value_broken(NULL, "outliers", json_array(), "trusted");
}

static void test_lists_of_something_else_are_refused(void **state)
{
    static const char *const lists[] = {"features", "history"};
    (void)state;
    for (int k = 0; k < 2; k++) {
        json_t *root = good();
        json_array_insert_new(json_object_get(root, lists[k]), 0, json_integer(7));
        json_dump_file(root, "bad.json", 0);
        assert_broken("bad.json", "should be");
        json_decref(root);
    }
    json_t *root = good(); /* the same feature twice */
    json_t *features = json_object_get(root, "features");
    json_array_insert(features, 1, json_array_get(features, 0));
    assert_json_broken(root, "features");
    json_decref(root);
}

static void test_other_versions_are_refused(void **state)
{
    static const json_int_t versions[] = {0, 2, 99};
    (void)state;
    for (int k = 0; k < 3; k++) {
        json_t *root = good();
        json_object_set_new(root, "version", json_integer(versions[k]));
        json_dump_file(root, "bad.json", 0);
        assert_broken("bad.json", "reads version 1");
        json_decref(root);
    }
}

static void test_half_a_file_is_refused(void **state)
{
    size_t size;
    char *text = contents("good.json", &size);
    (void)state;
    for (size_t length = 0; length < size - 2; length += length < 300 ? 1 : 13) {
        put_bytes("half.json", text, length);
        assert_broken("half.json", "line ");
    }
    put_bytes("half.json", text, size - 1); /* the last line's end only */
    roofs_error err;
    roofs_model *m = NULL;
    assert_fine(roofs_model_read(&m, "half.json", &err));
    roofs_model_destroy(m);
    free(text);
}

static void test_other_files_are_refused(void **state)
{
    static const char *const texts[] = {"",
                                        "\n",
                                        "hello",
                                        "[]x",
                                        "{\"format\": NaN}",
                                        "\x00x",
                                        "\xff",
                                        "{} {}",
                                        "{\"a\":1,\"a\":2}"};
    size_t size;
    char *text = contents("good.json", &size);
    (void)state;
    for (int k = 0; k < 9; k++) {
        put_text("text.json", texts[k]);
        assert_broken("text.json", "not a roofs model");
    }
    put_text("text.json", "{}");
    assert_broken("text.json", "'format'");
    put_text("text.json", "[]");
    assert_broken("text.json", "'format'");
    assert_broken("nowhere.json", "No such file");
    assert_broken(".", "not a roofs model");
    char *number = strstr(text, "\"intercept\": ") + strlen("\"intercept\": ");
    memcpy(number, "1e999", 5); /* no double */
    put_bytes("text.json", text, size);
    assert_broken("text.json", "line ");
    strcat(text, "}");
    put_text("text.json", text);
    assert_broken("text.json", "line ");
    free(text);
}

/* What JSON cannot hold is refused, not left out. */
static void test_values_that_json_cannot_hold_are_refused(void **state)
{
    problem p;
    roofs_error err;
    (void)state;
    make_problem(&p, 1);
    for (int j = 0; j < FEATURES; j++)
        snprintf(p.names[j], sizeof p.names[j], "caf\xe9 %d", j); /* Latin-1 */
    roofs_estimator *e = fit_all(&p, p.pointers);
    roofs_model *m = model_of(e);
    assert_refused(roofs_model_write(m, "latin.json", &err), ROOFS_FAILED, "UTF-8");
    assert_int_not_equal(access("latin.json", F_OK), 0);
    roofs_model_destroy(m);
    roofs_destroy(e);
}

static int prepare(void **state)
{
    static problem p;
    if (enter_folder(state) != 0)
        return -1;
    make_problem(&p, 1);
    write_fit(&p, p.pointers, "good.json");
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_numbers_survive_to_the_last_bit),
        cmocka_unit_test(test_quantiles_are_stored),
        cmocka_unit_test(test_empty_model_is_read_back),
        cmocka_unit_test(test_warnings_are_read_back),
        cmocka_unit_test(test_orders_are_read_back),
        cmocka_unit_test(test_orders_out_of_range_are_refused),
        cmocka_unit_test(test_every_key_matters),
        cmocka_unit_test(test_numbers_out_of_range_are_refused),
        cmocka_unit_test(test_bad_outliers_are_refused),
        cmocka_unit_test(test_lists_of_something_else_are_refused),
        cmocka_unit_test(test_other_versions_are_refused),
        cmocka_unit_test(test_half_a_file_is_refused),
        cmocka_unit_test(test_other_files_are_refused),
        cmocka_unit_test(test_values_that_json_cannot_hold_are_refused),
    };
    return cmocka_run_group_tests(tests, prepare, leave_folder);
}
