/* Models under faults: every allocation of the library and of jansson fails once while a model is
 * made, written and read; every value of a model file is replaced by values of other kinds. The
 * linker replaces posix_memalign and free in base/memory.c (tests/CMakeLists.txt). */
#include "test_api_problem.h"
#include "test_base_failing.h"

#include <jansson.h>

static void *json_get(size_t size)
{
    if (++asked == failing)
        return NULL;
    held++;
    return malloc(size);
}

static void json_give_back(void *block)
{
    held -= block != NULL;
    __real_free(block);
}

/* ---- allocations ------------------------------------------------------- */

static problem p;
static roofs_estimator *fitted;
static roofs_error err;

/* Leaves nothing behind, whatever fails. Other statuses than NO_MEMORY are those of jansson, which
 * does not say why it failed. */
static roofs_status whole_life(void)
{
    roofs_model *made = NULL, *read = NULL;
    roofs_status status = roofs_model_create(&made, fitted, &err);
    if (status == ROOFS_OK)
        status = roofs_model_write(made, "faults.json", &err);
    if (status == ROOFS_OK)
        status = roofs_model_read(&read, "faults.json", &err);
    roofs_model_destroy(made);
    roofs_model_destroy(read);
    return status;
}

static void test_every_allocation_may_fail(void **state)
{
    int64_t failures = 0;
    roofs_status status;
    (void)state;
    json_set_alloc_funcs(json_get, json_give_back);
    failing = 0;
    assert_fine(whole_life());
    const int64_t before = held;
    for (failing = 1;; failing++) {
        memset(&err, 0, sizeof err);
        asked = 0;
        status = whole_life();
        assert_int_equal(held, before);
        if (asked < failing)
            break;
        if (status == ROOFS_OK)
            continue; /* jansson asks for less when it gets nothing */
        assert_true(err.text[0] != '\0');
        failures++;
    }
    json_set_alloc_funcs(malloc, free);
    failing = 0;
    assert_int_equal(status, ROOFS_OK);
    print_message("%d allocations failed\n", (int)failures);
    assert_true(failures > 100);
}

/* ---- values ------------------------------------------------------------ */

enum { KINDS = 12 };

static json_t *value_of_kind(int kind)
{
    switch (kind) {
    case 0:
        return json_null();
    case 1:
        return json_integer(-1);
    case 2:
        return json_integer(0);
    case 3:
        return json_integer(INT64_MAX);
    case 4:
        return json_integer(INT64_MIN);
    case 5:
        return json_real(0.5);
    case 6:
        return json_real(-1e300);
    case 7:
        return json_string("");
    case 8:
        return json_string("likely");
    case 9:
        return json_array();
    case 10:
        return json_object();
    default:
        return json_true();
    }
}

typedef struct tally {
    int64_t tried, read, refused;
} tally;

/* A model that is read is written and read again; one that is not has a reason. */
static void try_file(const json_t *root, tally *t)
{
    roofs_model *m = NULL, *again = NULL;
    memset(&err, 0, sizeof err);
    assert_int_equal(json_dump_file(root, "mutant.json", 0), 0);
    const roofs_status status = roofs_model_read(&m, "mutant.json", &err);
    t->tried++;
    if (status == ROOFS_OK) {
        t->read++;
        assert_fine(roofs_model_write(m, "again.json", &err));
        assert_fine(roofs_model_read(&again, "again.json", &err));
    } else {
        t->refused++;
        assert_int_equal(status, ROOFS_BAD_DATA);
        assert_non_null(strstr(err.text, "mutant.json"));
        assert_null(m);
    }
    roofs_model_destroy(m);
    roofs_model_destroy(again);
}

static void try_values(json_t *root, json_t *at, tally *t);

static void try_child(json_t *root, json_t *parent, const char *key, size_t index, json_t *child,
                      tally *t)
{
    json_incref(child);
    for (int kind = 0; kind <= KINDS; kind++) {
        if (kind == KINDS)
            key ? json_object_del(parent, key) : json_array_remove(parent, index);
        else if (key)
            json_object_set_new(parent, key, value_of_kind(kind));
        else
            json_array_set_new(parent, index, value_of_kind(kind));
        try_file(root, t);
    }
    if (key)
        json_object_set(parent, key, child);
    else
        json_array_insert(parent, index, child);
    try_values(root, child, t);
    json_decref(child);
}

/* Of a list the first and the last value. */
static void try_values(json_t *root, json_t *at, tally *t)
{
    void *next = NULL;
    if (json_is_object(at)) {
        char keys[64][64]; /* copies: a key that is set again moves */
        int count = 0;
        for (next = json_object_iter(at); next; next = json_object_iter_next(at, next))
            snprintf(keys[count++], sizeof keys[0], "%s", json_object_iter_key(next));
        for (int k = 0; k < count; k++)
            try_child(root, at, keys[k], 0, json_object_get(at, keys[k]), t);
    } else if (json_is_array(at) && json_array_size(at) > 0) {
        const size_t last = json_array_size(at) - 1;
        try_child(root, at, NULL, 0, json_array_get(at, 0), t);
        if (last > 0)
            try_child(root, at, NULL, last, json_array_get(at, last), t);
    }
}

static void test_every_value_may_be_of_another_kind(void **state)
{
    tally t = {0};
    roofs_model *m = NULL;
    (void)state;
    assert_fine(roofs_model_create(&m, fitted, &err));
    assert_fine(roofs_model_set_index_base(m, 1, &err));
    assert_fine(roofs_model_write(m, "whole.json", &err));
    roofs_model_destroy(m);
    json_t *root = json_load_file("whole.json", 0, NULL);
    assert_non_null(json_object_get(root, "clean_probability"));
    assert_non_null(json_object_get(root, "hypothesis"));
    try_values(root, root, &t);
    json_decref(root);
    print_message("%d mutants: %d read, %d refused\n", (int)t.tried, (int)t.read, (int)t.refused);
    assert_true(t.refused > t.tried / 3 && t.read > 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_allocation_may_fail),
        cmocka_unit_test(test_every_value_may_be_of_another_kind),
    };
    make_problem(&p, 1);
    p.set.method = "roofs-bayes";
    p.set.mu = 3;
    fitted = fit_all(&p, p.pointers);
    const int failed = cmocka_run_group_tests(tests, NULL, NULL);
    roofs_destroy(fitted);
    return failed;
}
