#include "robust/tau.h"

#include "base/sorted.h"

void tau_squares(tau_unit unit, const double *sorted, int64_t n, double *squares, double *sums)
{
    double sum = 0;
    for (int64_t k = 0; k < n; k++) {
        squares[k] = tau_square(unit, sorted[k]);
        sums[k] = sum += squares[k];
    }
}

/* tau_o, from 1: the lowest position whose squared residual is closest to `mean`. *above is the
 * first index with a square of at least `mean`. Means of fewer residuals are smaller, so the search
 * begins at the last *above and descends. */
static int64_t closest_position(const double *squares, int64_t n, double mean, int64_t *above)
{
    while (*above > 0 && squares[*above - 1] >= mean)
        --*above;
    while (*above < n && squares[*above] < mean) /* if rounding increased the mean */
        ++*above;
    if (*above == 0)
        return 1;
    double below = squares[*above - 1];
    if (*above < n && tau_takes_upper(below, mean, squares[*above]))
        return *above + 1;
    if (*above == 1 || squares[*above - 2] < below)
        return *above;
    return sorted_first(squares, *above, below) + 1;
}

int64_t tau_above_half(int64_t tau, int64_t n)
{
    return tau - (n + 1) / 2;
}

int64_t tau_half_of(int64_t tau, int64_t n)
{
    (void)n;
    return tau / 2;
}

/* What eq. (5) is evaluated with. */
typedef struct tau_list {
    const double *sorted, *squares, *sums;
    int64_t n;
    tau_rule rule;
    int64_t above; /* see closest_position */
} tau_list;

static int64_t tau_o_of(tau_list *l, int64_t tau)
{
    const int64_t smallest = l->rule(tau, l->n); /* tau' */
    const double mean = l->sums[smallest - 1] / (double)smallest;
    return tau_is_tie(smallest) ? 1 : closest_position(l->squares, l->n, mean, &l->above);
}

/* |r|_(tau), tau_o and |r|_(tau_o) grow with tau. So if |r|_(low) is above the bound with
 * |r|_(tau_o) of `high` and tau_o of `low`, no tau within low..high satisfies eq. (5). */
static int may_hold(const tau_list *l, int64_t low, int64_t low_o, int64_t high, int64_t high_o)
{
    const double rounding = 1 + 1e-9;
    const double most = tau_bound((double)high, l->sorted[high_o - 1], (double)low_o);
    return !(l->sorted[low - 1] > most * rounding);
}

int64_t tau_largest(const double *sorted, int64_t n, double *squares, double *sums, tau_rule rule)
{
    enum { STRIDE = 64 }; /* values of tau that are left out together where none can hold */
    const int64_t half = (n + 1) / 2; /* ceil(n/2) */
    tau_list l = {sorted, squares, sums, n, rule, n};
    tau_squares(tau_unit_of(sorted[n / 2]), sorted, n, squares, sums);
    for (int64_t high = n, low; high > half; high = low - 1) {
        const int64_t high_o = tau_o_of(&l, high), high_above = l.above;
        low = high - STRIDE;
        if (low > half && l.rule(low, n) > 2) {
            if (!may_hold(&l, low, tau_o_of(&l, low), high, high_o))
                continue;
            l.above = high_above;
        } else {
            low = low > half ? low : half + 1;
        }
        for (int64_t tau = high; tau >= low; tau--) {
            const int64_t tau_o = tau_o_of(&l, tau);
            if (sorted[tau - 1] <= tau_bound((double)tau, sorted[tau_o - 1], (double)tau_o))
                return tau;
        }
    }
    return half + 1 < n ? half + 1 : n;
}
