/* The radix sort against qsort. */
#include "test_base_help.h"

#include "base/memory.h"
#include "base/order.h"
#include "base/sorted.h"

#include <float.h>

typedef struct plain {
    double magnitude;
    int64_t place;
} plain;

static int by_magnitude_then_place(const void *left, const void *right)
{
    const plain *a = left, *b = right;
    if (a->magnitude != b->magnitude)
        return a->magnitude < b->magnitude ? -1 : 1;
    return (a->place > b->place) - (a->place < b->place);
}

static void assert_sorted_like_qsort(order *o, const double *values, int64_t n)
{
    static plain wanted[5000];
    for (int64_t i = 0; i < n; i++)
        wanted[i] = (plain){fabs(values[i]), i};
    qsort(wanted, (size_t)n, sizeof *wanted, by_magnitude_then_place);
    order_sort(o, values, n);
    assert_int_equal(o->n, n);
    for (int64_t k = 0; k < n; k++) {
        double got = order_value(o, k);
        assert_memory_equal(&got, &wanted[k].magnitude, sizeof got);
        assert_int_equal(o->items[k].place, wanted[k].place); /* equals keep their order */
    }
}

/* Kinds of values: bells, few different ones, all equal, every size there is. */
static double value_of_kind(int kind, uint64_t *random)
{
    static const double special[] = {0.0,      -0.0,      DBL_TRUE_MIN, -DBL_MIN, DBL_MAX,
                                     -DBL_MAX, 0x1p-1040, 1.0,          -1.0,     1e-300};
    switch (kind) {
    case 0:
        return random_bell(random);
    case 1:
        return (double)(random_below(random, 7) - 3);
    case 2:
        return -2.5;
    case 3:
        return ldexp(random_signed(random), (int)random_below(random, 2090) - 1070);
    case 4:
        return special[random_below(random, 10)];
    default:
        return ldexp(random_signed(random), -1060); /* subnormal */
    }
}

static void test_order_agrees_with_qsort(void **state)
{
    static double values[5000];
    uint64_t random = 11;
    roofs_error err;
    order o;
    (void)state;
    assert_fine(order_create(&o, 5000, &err));
    for (int kind = 0; kind < 6; kind++)
        for (int64_t n = 0; n <= 5000; n += n < 70 ? 1 : n < 1000 ? 233 : 1003) {
            for (int64_t i = 0; i < n; i++)
                values[i] = value_of_kind(kind, &random);
            assert_sorted_like_qsort(&o, values, n);
        }
    for (int64_t i = 0; i < 5000; i++)
        values[i] = (double)i;
    assert_sorted_like_qsort(&o, values, 5000);
    for (int64_t i = 0; i < 5000; i++)
        values[i] = (double)(5000 - i / 3);
    assert_sorted_like_qsort(&o, values, 5000);
    order_destroy(&o);
}

/* With their signs, too. */
static void test_sorted_copies_are_sorted(void **state)
{
    static double values[5000], wanted[5000];
    uint64_t random = 12;
    roofs_error err;
    (void)state;
    for (int kind = 0; kind < 6; kind++)
        for (int64_t n = 1; n <= 5000; n = 3 * n + 1) {
            double *got = NULL;
            for (int64_t i = 0; i < n; i++)
                wanted[i] = values[i] = value_of_kind(kind, &random);
            qsort(wanted, (size_t)n, sizeof *wanted, ascending);
            assert_fine(sorted_copy(&got, values, n, &err));
            for (int64_t i = 0; i < n; i++)
                assert_true(got[i] == wanted[i]);
            memory_free(got);
        }
}

static void test_small_sizes_are_sorted(void **state)
{
    roofs_error err;
    order o, none = {0};
    (void)state;
    for (int64_t n = 0; n < 40; n++) { /* capacity for exactly n: the sanitizer checks it */
        double values[40];
        for (int64_t i = 0; i < n; i++)
            values[i] = (double)((i * 7) % 5);
        assert_fine(order_create(&o, n, &err));
        assert_sorted_like_qsort(&o, values, n);
        order_destroy(&o);
    }
    order_destroy(&none);
    assert_refused(order_create(&o, -1, &err), ROOFS_NO_MEMORY, "sorting");
    order_destroy(&o);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_order_agrees_with_qsort),
        cmocka_unit_test(test_sorted_copies_are_sorted),
        cmocka_unit_test(test_small_sizes_are_sorted),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
