/* Eq. (5) asks for the largest tau with |r|_(tau) <= 2 tau |r|_(tau_o) / tau_o. All three grow
 * with tau. So of the tau between two that have been looked at, one can be right only where the
 * |r|_(tau) of the lower is within the bound made of the upper |r|_(tau_o) and the lower tau_o.
 * From the top down, a few hundred tau are looked at together; where one between two of them may
 * be right, so are those between. Every decision is made on exact order statistics; ranks tell
 * each other counts and sums, never residuals. */
#include "robust/trust_search.h"

#include "base/memory.h"
#include "base/sorted.h"
#include "robust/ranking.h"

#include <math.h>
#include <string.h>

enum { GRID = 64 };

struct trust_search {
    ranking ranks;
    int64_t wanted[2 * GRID], below[2 * GRID];
    double values[2 * GRID], sums[2 * GRID];
    double gathered[]; /* 2 GRID of each rank */
};

roofs_status trust_search_create(trust_search **out, comm *c, roofs_error *err)
{
    const int64_t gathered = memory_bytes(c->with.size, 2 * GRID * sizeof(double));
    TRY(memory_get(out, memory_sum(sizeof **out, gathered), 1, "the trust set", err));
    return ranking_create(&(*out)->ranks, c, 2 * GRID, err);
}

void trust_search_destroy(trust_search *s)
{
    if (s)
        ranking_destroy(&s->ranks);
    memory_free(s);
}

static void select_values(trust *t, int64_t count)
{
    trust_search *s = t->search;
    ranking_select(&s->ranks, s->wanted, count, s->values, s->below);
}

static double value_at(trust *t, int64_t place)
{
    t->search->wanted[0] = place;
    select_values(t, 1);
    return t->search->values[0];
}

/* ---- eq. (5) ----------------------------------------------------------- */

typedef struct question {
    trust *t;
    tau_rule rule;
    int64_t n;
    tau_unit unit;
    double smallest; /* |r|_(1) */
    double cut;      /* |r|_(tau) of the one that was found */
} question;

/* What eq. (5) needs of some tau. */
typedef struct answers {
    int64_t count;
    int64_t tau[GRID], closest[GRID]; /* closest: tau_o */
    double at_tau[GRID], at_closest[GRID], mean[GRID];
} answers;

/* |r|_(tau), and the mean of the tau' smallest squares. */
static void find_means(const question *q, answers *a)
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

/* s->sums[k] = how many squares are below limit[k]. */
static void count_squares(const question *q, const double *limit, int64_t count)
{
    trust_search *s = q->t->search;
    for (int64_t k = 0; k < count; k++)
        s->sums[k] = (double)sorted_first(q->t->squares, q->t->n, limit[k]);
    comm_sum(q->t->comm, s->sums, count);
}

/* Of all residuals the largest whose square is below the mean, and the smallest whose is not:
 * s->values[k] (-1: none) and s->values[count + k] (infinite: none). */
static void find_neighbours(const question *q, const answers *a)
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

/* tau_o: the lowest place whose squared residual is closest to the mean. */
static void find_closest(const question *q, answers *a)
{
    trust_search *s = q->t->search;
    double below[GRID];
    count_squares(q, a->mean, a->count);
    for (int64_t k = 0; k < a->count; k++)
        a->closest[k] = (int64_t)s->sums[k]; /* those below the mean, for now */
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

static int is_right(const answers *a, int64_t k)
{
    return a->at_tau[k] <= tau_bound((double)a->tau[k], a->at_closest[k], (double)a->closest[k]);
}

/* Whether a tau between those at k - 1 and k may be right. */
static int may_hide(const answers *a, int64_t k)
{
    const double rounding = 1 + 1e-9;
    double most = tau_bound((double)a->tau[k], a->at_closest[k], (double)a->closest[k - 1]);
    return a->tau[k] - a->tau[k - 1] > 1 && a->at_tau[k - 1] <= most * rounding;
}

/* The largest right tau from low to high; 0 where there is none. */
static int64_t search(question *q, int64_t low, int64_t high)
{
    answers a = {.count = high - low + 1 < GRID ? high - low + 1 : GRID};
    for (int64_t k = 0; k < a.count; k++)
        a.tau[k] = a.count == 1 ? low : low + (high - low) * k / (a.count - 1);
    find_means(q, &a);
    find_closest(q, &a);
    for (int64_t k = a.count - 1; k >= 0 && !q->t->comm->broken; k--) {
        if (is_right(&a, k)) {
            q->cut = a.at_tau[k];
            return a.tau[k];
        }
        int64_t hidden = k > 0 && may_hide(&a, k) ? search(q, a.tau[k - 1] + 1, a.tau[k] - 1) : 0;
        if (hidden > 0)
            return hidden;
    }
    return 0;
}

/* Sets t->cut, too. */
static int64_t find_tau(trust *t, tau_rule rule)
{
    const int64_t n = t->comm->total, half = (n + 1) / 2;
    question q = {.t = t, .rule = rule, .n = n};
    t->search->wanted[0] = 0;
    t->search->wanted[1] = n / 2;
    t->search->wanted[2] = n - 1; /* bounds those that follow */
    select_values(t, 3);
    q.smallest = t->search->values[0];
    q.unit = tau_unit_of(t->search->values[1]);
    tau_squares(q.unit, t->sorted, t->n, t->squares, t->sums);
    int64_t tau = search(&q, half + 1, n);
    t->cut = tau > 0 ? q.cut : value_at(t, half);
    return tau > 0 ? tau : half + 1;
}

/* ---- S ----------------------------------------------------------------- */

/* Of those equal to the cut, the ranks before this one take theirs first. */
static int64_t equals_to_take(trust *t, int64_t wanted)
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
    ranking_begin(&t->search->ranks, t->sorted, t->n);
    if (tau > 0)
        t->cut = value_at(t, tau - 1);
    else
        tau = find_tau(t, rule);
    t->count = tau;
    int64_t below = comm_count(t->comm, sorted_first(t->sorted, t->n, t->cut));
    int64_t equals = equals_to_take(t, tau - below);
    for (int64_t i = 0; i < t->n; i++) {
        double size = fabs(r[i]);
        int takes = size < t->cut || (size == t->cut && equals > 0);
        equals -= takes && size == t->cut;
        t->mask[i] = takes;
    }
}
