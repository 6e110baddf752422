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

int64_t tau_largest(const double *sorted, int64_t n, double *squares, double *sums, tau_rule rule)
{
    const int64_t half = (n + 1) / 2; /* ceil(n/2) */
    int64_t above = n;
    tau_squares(tau_unit_of(sorted[n / 2]), sorted, n, squares, sums);
    for (int64_t tau = n; tau > half; tau--) {
        int64_t smallest = rule(tau, n); /* tau' */
        double mean = sums[smallest - 1] / (double)smallest;
        int64_t tau_o = tau_is_tie(smallest) ? 1 : closest_position(squares, n, mean, &above);
        if (sorted[tau - 1] <= tau_bound((double)tau, sorted[tau_o - 1], (double)tau_o))
            return tau;
    }
    return half + 1 < n ? half + 1 : n;
}
