/* Eq. (5): the largest tau with |r|_(tau) <= 2 tau |r|_(tau_o) / tau_o. |r|_(tau), tau_o and
 * |r|_(tau_o) all grow with tau. So a tau between two others can satisfy eq. (5) only if |r|_(tau)
 * of the lower one is at most the bound with |r|_(tau_o) of the upper and tau_o of the lower one.
 * The search evaluates a grid of GRID values at once, from the top down, and descends into the gaps
 * where this condition holds. All order statistics are exact. Ranks exchange counts, sums and
 * single order statistics, not their residuals. */
#include "robust/trust_search.h"

#include "base/memory.h"
#include "base/sorted.h"
#include "robust/order_statistics.h"

#include <math.h>
#include <string.h>

enum { GRID = 64 };

struct trust_search {
    order_statistics statistics;
    int64_t wanted[2 * GRID], below[2 * GRID];
    double values[2 * GRID], sums[2 * GRID];
    double gathered[]; /* 2 GRID values of each rank */
};

roofs_status trust_search_create(trust_search **out, comm *c, roofs_error *err)
{
    const int64_t gathered = memory_bytes(c->with.size, 2 * GRID * sizeof(double));
    TRY(memory_get(out, memory_sum(sizeof **out, gathered), 1, "the trust set", err));
    return order_statistics_create(&(*out)->statistics, c, 2 * GRID, err);
}

void trust_search_destroy(trust_search *s)
{
    if (s)
        order_statistics_destroy(&s->statistics);
    memory_free(s);
}

static void select_values(trust *t, int64_t count)
{
    trust_search *s = t->search;
    order_statistics_select(&s->statistics, s->wanted, count, s->values, s->below);
}

static double residual_at(trust *t, int64_t place)
{
    t->search->wanted[0] = place;
    select_values(t, 1);
    return t->search->values[0];
}

/* ---- eq. (5) ----------------------------------------------------------- */

/* The search of one update. */
typedef struct tau_search {
    trust *t;
    tau_rule rule;
    int64_t n;
    tau_unit unit;
    double smallest; /* |r|_(1) */
    double cut;      /* |r|_(tau) of the tau found */
} tau_search;

/* The quantities of eq. (5) for a grid of tau. */
typedef struct tau_grid {
    int64_t count;
    int64_t tau[GRID], closest[GRID]; /* closest: tau_o */
    double at_tau[GRID], at_closest[GRID], mean[GRID];
} tau_grid;

/* Finds |r|_(tau) and the mean of the tau' smallest squares, for each tau of the grid. */
static void find_means(const tau_search *q, tau_grid *a)
{
    trust_search *s = q->t->search;
    for (int64_t k = 0; k < a->count; k++) {
        s->wanted[k] = a->tau[k] - 1;
        s->wanted[a->count + k] = q->rule(a->tau[k], q->n) - 1;
    }
    select_values(q->t, 2 * a->count);
    for (int64_t k = 0; k < a->count; k++) {
        int64_t before = sorted_first(q->t->sorted, q->t->n, s->values[a->count + k]);
        s->sums[k] = before > 0 ? q->t->sums[before - 1] : 0;
        a->at_tau[k] = s->values[k];
    }
    comm_sum(q->t->comm, s->sums, a->count);
    for (int64_t k = 0; k < a->count; k++) {
        const int64_t at = a->count + k, smallest = s->wanted[at] + 1;
        double equals = (double)(smallest - s->below[at]) * tau_square(q->unit, s->values[at]);
        a->mean[k] = (s->sums[k] + equals) / (double)smallest;
    }
}

/* s->sums[k] = the number of squares below limit[k], over all ranks. */
static void count_squares(const tau_search *q, const double *limit, int64_t count)
{
    trust_search *s = q->t->search;
    for (int64_t k = 0; k < count; k++)
        s->sums[k] = (double)sorted_first(q->t->squares, q->t->n, limit[k]);
    comm_sum(q->t->comm, s->sums, count);
}

/* s->values[k] = the largest residual whose square is below the mean (-1: none), and
 * s->values[count + k] = the smallest whose square is not (infinite: none), over all ranks. */
static void find_neighbours(const tau_search *q, const tau_grid *a)
{
    trust_search *s = q->t->search;
    const int64_t n = q->t->n, count = a->count;
    for (int64_t k = 0; k < count; k++) {
        int64_t above = sorted_first(q->t->squares, n, a->mean[k]);
        s->values[k] = above > 0 ? q->t->sorted[above - 1] : -1;
        s->values[count + k] = above < n ? q->t->sorted[above] : INFINITY;
    }
    comm_gather(q->t->comm, s->values, 2 * count * (int64_t)sizeof *s->values, s->gathered);
    for (int64_t p = 0; p < q->t->comm->with.size; p++)
        for (int64_t k = 0; k < count; k++) {
            const double *theirs = &s->gathered[p * 2 * count];
            s->values[k] = fmax(s->values[k], theirs[k]);
            s->values[count + k] = fmin(s->values[count + k], theirs[count + k]);
        }
}

/* tau_o: the lowest position whose squared residual is closest to the mean. */
static void find_closest(const tau_search *q, tau_grid *a)
{
    trust_search *s = q->t->search;
    double below[GRID];
    count_squares(q, a->mean, a->count);
    for (int64_t k = 0; k < a->count; k++)
        a->closest[k] = (int64_t)s->sums[k]; /* first the number of squares below the mean */
    find_neighbours(q, a);
    for (int64_t k = 0; k < a->count; k++)
        below[k] = tau_square(q->unit, s->values[k]);
    count_squares(q, below, a->count);
    for (int64_t k = 0; k < a->count; k++) {
        const int64_t above = a->closest[k];
        const double high = s->values[a->count + k];
        int is_next = above == 0 || (above < q->n && tau_takes_upper(below[k], a->mean[k],
                                                                     tau_square(q->unit, high)));
        a->closest[k] = is_next ? above + 1 : (int64_t)s->sums[k] + 1;
        a->at_closest[k] = is_next ? high : s->values[k];
        if (tau_is_tie(q->rule(a->tau[k], q->n))) {
            a->closest[k] = 1;
            a->at_closest[k] = q->smallest;
        }
    }
}

static int satisfies_eq5(const tau_grid *a, int64_t k)
{
    return a->at_tau[k] <= tau_bound((double)a->tau[k], a->at_closest[k], (double)a->closest[k]);
}

/* True if a tau between those at k - 1 and k may satisfy eq. (5). */
static int may_contain(const tau_grid *a, int64_t k)
{
    const double rounding = 1 + 1e-9;
    double most = tau_bound((double)a->tau[k], a->at_closest[k], (double)a->closest[k - 1]);
    return a->tau[k] - a->tau[k - 1] > 1 && a->at_tau[k - 1] <= most * rounding;
}

/* The largest tau within low..high that satisfies eq. (5); 0 if none does. */
static int64_t search_interval(tau_search *q, int64_t low, int64_t high)
{
    tau_grid a = {.count = high - low + 1 < GRID ? high - low + 1 : GRID};
    for (int64_t k = 0; k < a.count; k++)
        a.tau[k] = a.count == 1 ? low : low + (high - low) * k / (a.count - 1);
    find_means(q, &a);
    find_closest(q, &a);
    for (int64_t k = a.count - 1; k >= 0 && !q->t->comm->broken; k--) {
        if (satisfies_eq5(&a, k)) {
            q->cut = a.at_tau[k];
            return a.tau[k];
        }
        int64_t inner =
            k > 0 && may_contain(&a, k) ? search_interval(q, a.tau[k - 1] + 1, a.tau[k] - 1) : 0;
        if (inner > 0)
            return inner;
    }
    return 0;
}

/* Returns tau of eq. (5) and sets t->cut. */
static int64_t find_tau(trust *t, tau_rule rule)
{
    const int64_t n = t->comm->total, half = (n + 1) / 2;
    tau_search q = {.t = t, .rule = rule, .n = n};
    t->search->wanted[0] = 0;
    t->search->wanted[1] = n / 2;
    t->search->wanted[2] = n - 1; /* bounds later searches */
    select_values(t, 3);
    q.smallest = t->search->values[0];
    q.unit = tau_unit_of(t->search->values[1]);
    tau_squares(q.unit, t->sorted, t->n, t->squares, t->sums);
    int64_t tau = search_interval(&q, half + 1, n);
    t->cut = tau > 0 ? q.cut : residual_at(t, half);
    return tau > 0 ? tau : half + 1;
}

/* ---- S ----------------------------------------------------------------- */

/* The number of this rank's residuals equal to the cut that belong to S, of `wanted` on all ranks.
 * Lower ranks come first. */
static int64_t equals_to_trust(trust *t, int64_t wanted)
{
    int64_t own = 0, before = 0;
    for (int64_t k = sorted_first(t->sorted, t->n, t->cut); k < t->n && t->sorted[k] == t->cut; k++)
        own++;
    comm_gather(t->comm, &own, sizeof own, t->comm->each);
    for (int64_t p = 0; p < t->comm->with.rank; p++) {
        int64_t theirs;
        memcpy(&theirs, &t->comm->each[p], sizeof theirs);
        before += theirs;
    }
    int64_t left = wanted > before ? wanted - before : 0;
    return left < own ? left : own;
}

void trust_search_update(trust *t, const double *r, int64_t tau, tau_rule rule)
{
    order_statistics_begin(&t->search->statistics, t->sorted, t->n);
    if (tau > 0)
        t->cut = residual_at(t, tau - 1);
    else
        tau = find_tau(t, rule);
    t->count = tau;
    int64_t below = comm_count(t->comm, sorted_first(t->sorted, t->n, t->cut));
    int64_t equals = equals_to_trust(t, tau - below);
    for (int64_t i = 0; i < t->n; i++) {
        double size = fabs(r[i]);
        int is_trusted = size < t->cut || (size == t->cut && equals > 0);
        equals -= is_trusted && size == t->cut;
        t->mask[i] = is_trusted;
    }
}
