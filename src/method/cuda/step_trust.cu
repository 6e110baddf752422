/* A round of method roofs: the step where no columns leave, the intercept, and the trust set. */
#include "method/cuda/round.cuh"
#include "robust/cuda/tau.cuh"

/* ---- the intercept -------------------------------------------------------------------------- */

template <int EACH>
__device__ static void recentre_residuals(const round_task &t, fetched<EACH> &own,
                                          roofs_numbers &now, order_shared &shared, int &turn)
{
    double sum[1] = {0};
    order_held<EACH>(t.n, [&](int e, int i) { sum[0] += t.mask[i] * own.r[e]; });
    if (EACH == 0)
        order_own(t.n, [&](int i) { sum[0] += t.mask[i] * t.r[i]; });
    block_sum(sum, shared.own);
    const double shift = order_sum(sum[0], shared, turn) / now.trusted;
    order_held<EACH>(t.n, [&](int e, int i) { t.r[i] = own.r[e] -= shift; });
    if (EACH == 0)
        order_own(t.n, [&](int i) { t.r[i] -= shift; });
    if (threadIdx.x == 0)
        now.shift += shift;
}

/* ---- lines 12 to 14 ------------------------------------------------------------ */

__device__ static int round_tau(const round_task &t, order_shared &shared, int &turn)
{
    return t.clean_ratio > 0 ? (int)tau_of_ratio(t.clean_ratio, t.n)
                             : order_tau(t.order, t.n, shared, turn);
}

/* Stores whether sample i is trusted. Returns the change of |r_i| if it is, else 0. */
__device__ static double store_trust(const round_task &t, int i, double r, bool trusted)
{
    const double change = trusted ? fabs(r) - t.before[i] : 0;
    t.mask[i] = trusted;
    t.masked[i] = trusted ? r : 0;
    t.before[i] = fabs(r);
    t.change[i] = change;
    return change;
}

/* Trusts the tau smallest |r|. Returns the thread's partial sum of the squared changes of |r|.
 * Where threads hold no samples (EACH = 0), the samples have been sorted already. */
template <int EACH>
__device__ static double trust_smallest(const round_task &t, const fetched<EACH> &own,
                                        order_shared &shared, int &turn, int &tau)
{
    uint32_t rank[EACH > 0 ? EACH : 1] = {};
    double square = 0;
    if constexpr (EACH > 0)
        order_positions<EACH>(
            t.order, t.n, shared, [&](int e, int) { return fabs(own.r[e]); },
            [&](int e, int, uint32_t found) { rank[e] = found; });
    order_held<EACH>(t.n, [&](int, int i) { prefetch(&t.before[i]); });
    tau = round_tau(t, shared, turn);
    order_held<EACH>(t.n, [&](int e, int i) {
        const double change = store_trust(t, i, own.r[e], rank[e] < tau);
        square += change * change;
    });
    if (EACH == 0)
        order_own(t.n, [&](int i) {
            const double change = store_trust(t, i, t.r[i], t.order.position[i] < tau);
            square += change * change;
        });
    return square;
}

/* ---- results for the host -------------------------------------------------------------------- */

/* Copies the coefficients to the host, which needs them if this is the last round. */
__device__ static void report_columns(const round_task &t)
{
    if (t.steps & ROUND_REPORT)
        own_columns(t.count, [&](int j) {
            t.host.coef[j] = t.from.coef[j];
            t.host.origin[j] = t.from.origin[j];
        });
}

__device__ static void report_rounds(const round_task &t)
{
    enum { WORDS = sizeof(roofs_report) / sizeof(int64_t) };
    if (blockIdx.x == 0 && (t.steps & ROUND_REPORT) && (int)threadIdx.x < (t.at + 1) * WORDS)
        ((int64_t *)t.host_reports)[threadIdx.x] = __ldcg((const int64_t *)t.reports + threadIdx.x);
}

template <int EACH>
__device__ static void update_trust(const round_task &t, const fetched<EACH> &own,
                                    roofs_numbers &now, order_shared &shared, int &turn)
{
    int tau;
    double square[1] = {trust_smallest(t, own, shared, turn, tau)};
    const double cut = __ldcg(&t.order.sorted[tau - 1]);
    block_sum(square, shared.own);
    const double squares = order_sum(square[0], shared, turn);
    report_columns(t); /* after the last barrier, which would wait for the copy */
    if (blockIdx.x > 0)
        return;
    const double moved =
        in_range(squares) ? sqrt(squares) : scaled_norm(t.change, nullptr, t.n, shared.own);
    if (threadIdx.x == 0) {
        now.trusted = (double)tau;
        now.settled = moved / (double)tau <= t.tolerance;
        *t.numbers = now;
        t.reports[t.at] = {now, moved / (double)tau, cut, tau};
    }
    __syncthreads();
    report_rounds(t);
}

/* EACH: samples that a thread holds. */
template <int EACH> __global__ void __launch_bounds__(ORDER_THREADS) trust_kernel(round_task t)
{
    __shared__ order_shared shared;
    __shared__ roofs_numbers now;
    fetched<EACH> own;
    int turn = 0;
    order_begin(t.order, shared);
    load_state(t, own, now);
    if (own.settled) {
        report_columns(t);
        report_rounds(t);
        return;
    }
    if (t.steps & ROUND_MOVE)
        move(t, own, now, shared);
    if (t.steps & ROUND_RECENTRE)
        recentre_residuals(t, own, now, shared, turn);
    if (t.steps & ROUND_TRUST)
        update_trust(t, own, now, shared, turn);
    else
        store_numbers(t, now);
}

const order_kernels<round_task> trust_kernels = {
    {trust_kernel<1>, trust_kernel<ORDER_EACH>, trust_kernel<0>}};

/* ---- launches -------------------------------------------------------------------------------- */

roofs_status roofs_configure(roofs_gpu *s, roofs_error *err)
{
    TRY(order_configure(&s->order, leave_kernels, err));
    return order_configure(&s->order, trust_kernels, err);
}

roofs_status roofs_launch_steps(roofs_gpu *s, const roofs_job *job, int64_t images, int steps,
                                roofs_error *err)
{
    const device *d = s->d;
    const roofs_settings *set = &job->f->set;
    const int64_t n = d->shape.n;
    round_task t = {};
    t.steps = steps;
    t.n = (int)n;
    t.count = (int)s->count;
    t.mu = (int)set->mu;
    t.published = job->published_step;
    t.clean_ratio = set->clean_ratio;
    t.tolerance = job->tolerance;
    t.at = (int)(s->launched - s->first);
    t.gradient = s->gradient;
    t.image = s->image;
    t.gradient_squares = d->squares;
    t.gradient_partials = (int)images;
    t.image_squares = s->partial;
    t.image_partials = (int)ceil_div(n, JOIN_ROWS);
    t.r = s->r;
    t.mask = s->mask;
    t.masked = s->masked;
    t.before = s->before;
    t.change = s->change;
    t.from = s->columns[s->side];
    t.to = s->columns[1 - s->side];
    t.host = s->host;
    t.dropped = s->dropped;
    t.dropped_coef = s->dropped_coef;
    t.order = s->order;
    t.numbers = s->numbers;
    t.reports = s->reports;
    t.host_reports = s->host_reports;
    if (steps & (ROUND_RECENTRE | ROUND_TRUST))
        CUDA_TRY(launch_order(&s->order, trust_kernels, n, ORDER_THREADS_LEAST, d->stream, t));
    else
        CUDA_TRY(launch_order(&s->order, leave_kernels, s->count, ORDER_THREADS, d->stream, t));
    return ROOFS_OK;
}
