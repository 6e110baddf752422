#include "robust/trust.h"

#include "base/memory.h"
#include "robust/tau.h"

#include <math.h>
#include <string.h>

roofs_status trust_create(trust *t, int64_t n, roofs_error *err)
{
    const char *what = "the trust set";
    *t = (trust){.n = n, .count = n};
    TRY(order_create(&t->ranks, n, err));
    TRY(memory_get(&t->mask, n, sizeof *t->mask, what, err));
    TRY(memory_reserve(&t->sorted, n, sizeof *t->sorted, what, err));
    TRY(memory_reserve(&t->squares, n, sizeof *t->squares, what, err));
    TRY(memory_reserve(&t->sums, n, sizeof *t->sums, what, err));
    trust_all(t);
    return ROOFS_OK;
}

void trust_destroy(trust *t)
{
    order_destroy(&t->ranks);
    memory_free(t->mask);
    memory_free(t->sorted);
    memory_free(t->squares);
    memory_free(t->sums);
    *t = (trust){0};
}

int64_t trust_bytes(int64_t n)
{
    return memory_bytes(n, 4 * sizeof(double) + 2 * sizeof(order_item));
}

int64_t trust_size(double ratio, int64_t n)
{
    int64_t tau = (int64_t)llround(ratio * (double)n);
    return tau < 1 ? 1 : tau > n ? n : tau;
}

void trust_sort(trust *t, const double *r)
{
    order_sort(&t->ranks, r, t->n);
    for (int64_t k = 0; k < t->n; k++)
        t->sorted[k] = order_value(&t->ranks, k);
}

void trust_take(trust *t, int64_t tau)
{
    t->count = tau;
    t->cut = t->sorted[tau - 1];
    memset(t->mask, 0, (size_t)t->n * sizeof *t->mask);
    for (int64_t k = 0; k < tau; k++)
        t->mask[t->ranks.items[k].place] = 1;
}

void trust_update(trust *t, const double *r, double ratio)
{
    trust_sort(t, r);
    trust_take(t,
               ratio > 0 ? trust_size(ratio, t->n) : tau_eq5(t->sorted, t->n, t->squares, t->sums));
}

void trust_by_scale(trust *t, const double *r, double least)
{
    int64_t tau = 0;
    trust_sort(t, r);
    double cut = fmax(2.5 * 1.4826 * t->sorted[(t->n - 1) / 2], least);
    while (tau < t->n && t->sorted[tau] <= cut)
        tau++;
    trust_take(t, tau);
}

void trust_all(trust *t)
{
    t->count = t->n;
    for (int64_t i = 0; i < t->n; i++)
        t->mask[i] = 1;
}

/* Others rely on the count being that of the mask. */
static void check_mask(const trust *t, int graded, archive *a)
{
    int64_t count = 0;
    for (int64_t i = 0; i < t->n && a->status == ROOFS_OK; i++) {
        double share = t->mask[i];
        count += share > 0.5;
        if (!(share >= 0 && share <= 1) || (!graded && share != 0 && share != 1))
            archive_refuse(a, "the trust in a sample is no share");
    }
    if (count != t->count)
        archive_refuse(a, "the number of trusted samples is wrong");
}

void trust_transfer(trust *t, int graded, archive *a)
{
    archive_i64(a, &t->count, graded ? 0 : 1, t->n);
    archive_f64(a, &t->cut);
    archive_doubles(a, t->mask, t->n);
    if (a->loading)
        check_mask(t, graded, a);
}
