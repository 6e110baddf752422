#include "robust/trust.h"

#include "base/memory.h"
#include "linalg/ordering.h"
#include "robust/mixture_formula.h"
#include "robust/scale.h"
#include "robust/trust_search.h"

#include <math.h>
#include <string.h>

/* Time per sample, see workers_sum. */
enum { MASK_COST = 4 };

/* The number of residuals that this rank sorts: those of all ranks or, if too many, its own. */
static int64_t sorted_count(const trust *t)
{
    int64_t total = comm_samples(t->comm, t->n);
    return comm_is_alone(t->comm) || total <= t->comm->gather_most ? total : t->n;
}

roofs_status trust_create(trust *t, comm *c, int64_t n, roofs_error *err)
{
    const char *what = "the trust set";
    *t = (trust){.n = n, .comm = c};
    const int64_t most = sorted_count(t);
    TRY(order_create(&t->ascending, most, err));
    TRY(memory_get(&t->mask, n, sizeof *t->mask, what, err));
    TRY(memory_reserve(&t->sorted, most, sizeof *t->sorted, what, err));
    TRY(memory_reserve(&t->squares, most, sizeof *t->squares, what, err));
    TRY(memory_reserve(&t->sums, most, sizeof *t->sums, what, err));
    trust_all(t);
    if (comm_is_alone(c))
        return ROOFS_OK;
    if (most == c->total)
        return memory_get(&t->all, most, sizeof *t->all, what, err);
    return trust_search_create(&t->search, c, err);
}

void trust_destroy(trust *t)
{
    order_destroy(&t->ascending);
    memory_free(t->mask);
    memory_free(t->sorted);
    memory_free(t->squares);
    memory_free(t->sums);
    memory_free(t->all);
    trust_search_destroy(t->search);
    *t = (trust){0};
}

int64_t trust_bytes(int64_t n)
{
    return memory_bytes(n, 4 * sizeof(double) + 2 * sizeof(order_item));
}

/* t->sorted = |r| in ascending order, the lower sample number first among equals. */
static void sort_residuals(trust *t, const double *r)
{
    const int64_t count = sorted_count(t);
    if (t->all) {
        comm_gather_samples(t->comm, t->n, r, sizeof *r, t->all);
        r = t->all;
    }
    ordering_sort(&t->ascending, r, count, t->workers, t->sorted);
}

/* The same place by place, where residuals are not finite and do not compare. */
static void mark_places(trust *t, int64_t tau)
{
    const int64_t first = comm_first(t->comm);
    memset(t->mask, 0, (size_t)t->n * sizeof *t->mask);
    for (int64_t k = 0; k < tau; k++) {
        int64_t place = t->ascending.items[k].place - first;
        if (place >= 0 && place < t->n)
            t->mask[place] = 1;
    }
}

typedef struct smallest {
    trust *t;
    const double *r;
    order_item last; /* of S, by size and then by place */
    int64_t first;   /* place of the first sample of this rank */
} smallest;

static void mask_piece(void *user, int64_t begin, int64_t end, double *sums)
{
    const smallest *s = user;
    (void)sums;
    for (int64_t i = begin; i < end; i++) {
        const double size = fabs(s->r[i]), cut = s->t->cut;
        s->t->mask[i] = size < cut || (size == cut && s->first + i <= s->last.place);
    }
}

/* S = the tau smallest |r| of the last sort; r of this rank. NaN are the largest. */
static void set_smallest(trust *t, const double *r, int64_t tau)
{
    if (tau < 1) /* if residuals are NaN */
        tau = 1;
    t->count = tau;
    t->cut = t->sorted[tau - 1];
    smallest s = {t, r, t->ascending.items[tau - 1], comm_first(t->comm)};
    if (t->cut < INFINITY)
        workers_sum(t->workers, t->n, MASK_COST, mask_piece, &s, 0, NULL);
    else
        mark_places(t, tau);
}

static void update_by_rule(trust *t, const double *r, double ratio, tau_rule rule)
{
    const int64_t n = comm_samples(t->comm, t->n);
    int64_t tau = ratio > 0 ? tau_of_ratio(ratio, n) : 0;
    sort_residuals(t, r);
    if (t->search) {
        trust_search_update(t, r, tau, rule);
        return;
    }
    set_smallest(t, r, tau > 0 ? tau : tau_largest(t->sorted, n, t->squares, t->sums, rule));
}

void trust_update(trust *t, const double *r, double ratio)
{
    update_by_rule(t, r, ratio, tau_above_half);
}

void trust_update_rlhh(trust *t, const double *r, double ratio)
{
    update_by_rule(t, r, ratio, tau_half_of);
}

void trust_by_scale(trust *t, const double *r, double least)
{
    int64_t tau = 0;
    sort_residuals(t, r);
    double cut = fmax(2.5 * NORMAL_PER_MEDIAN * t->sorted[(t->n - 1) / 2], least);
    while (tau < t->n && t->sorted[tau] <= cut)
        tau++;
    set_smallest(t, r, tau);
}

void trust_all(trust *t)
{
    t->count = comm_samples(t->comm, t->n);
    for (int64_t i = 0; i < t->n; i++)
        t->mask[i] = 1;
}

/* Checks that the mask has values from 0 to 1, and that the count is that of the mask. */
static void check_mask(trust *t, int graded, archive *a)
{
    int64_t count = 0;
    for (int64_t i = 0; i < t->n && a->status == ROOFS_OK; i++) {
        double share = t->mask[i];
        count += share > TRUSTED;
        if (!(share >= 0 && share <= 1) || (!graded && share != 0 && share != 1))
            archive_refuse(a, "the trust in a sample is not a number from 0 to 1");
    }
    a->status = comm_agree(t->comm, a->status, a->err); /* a rank may have failed before */
    if (a->status != ROOFS_OK)
        return;
    count = comm_count(t->comm, count);
    a->status = comm_status(t->comm, a->err);
    if (a->status == ROOFS_OK && count != t->count)
        archive_refuse(a, "the number of trusted samples is wrong");
}

void trust_transfer(trust *t, int graded, archive *a)
{
    archive_i64(a, &t->count, graded ? 0 : 1, comm_samples(t->comm, t->n));
    archive_f64(a, &t->cut);
    archive_mark(a, ARCHIVE_SAMPLES);
    archive_doubles(a, t->mask, t->n);
    if (a->loading)
        check_mask(t, graded, a);
}
