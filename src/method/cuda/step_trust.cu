/* What a round of method roofs does once the gradient and its image are there: the step, who stays,
 * the intercept, and whom to trust. */
#include "method/cuda/roofs_gpu.cuh"
#include "robust/cuda/tau.cuh"

#include <cmath>

struct round_task {
    int parts; /* of the round: ROUND_... */
    int64_t n, count, mu;
    double published, clean_ratio, tolerance;
    int turn, at; /* at: among the rounds given at once */
    const double *gradient, *image;
    const double *gradient_squares, *image_squares; /* parts of their sums */
    int64_t gradient_parts, image_parts;
    double *r, *mask, *masked, *before, *change;
    roofs_columns from, to, host;
    gpu_column *gone;
    double *gone_coef;
    gpu_order order;
    roofs_numbers *numbers;
    roofs_report *reports, *told; /* told: page-locked */
};

__device__ static bool in_range(double squares)
{
    return squares > 0x1p-900 && squares < 0x1p900;
}

/* |x| from its squares, or, where they left the range of numbers, from x itself. */
__device__ static double norm(double squares, const double *x, const double *mask, int64_t n,
                              double *room)
{
    if (in_range(squares))
        return sqrt(squares);
    double largest = 0, sum[1] = {0};
    for (int64_t i = threadIdx.x; i < n; i += blockDim.x)
        largest = fmax(largest, fabs(x[i] * (mask ? mask[i] : 1.0)));
    largest = block_max(largest, room);
    if (largest == 0)
        return 0;
    int exponent;
    frexp(largest, &exponent);
    for (int64_t i = threadIdx.x; i < n; i += blockDim.x) {
        const double scaled = ldexp(x[i] * (mask ? mask[i] : 1.0), -exponent);
        sum[0] += scaled * scaled;
    }
    block_sum(sum, room);
    return ldexp(sqrt(sum[0]), exponent);
}

/* ---- line 6 ----------------------------------------------------------------------------- */

/* |image|^2 / (size |gradient|^2), from these squares where they are within the range of numbers.
 */
__device__ static double ratio_of(const round_task &t, double gradient, double image, double size,
                                  order_room &room)
{
    if (in_range(gradient) && in_range(image))
        return image / (size * gradient);
    gradient = norm(gradient, t.gradient, nullptr, t.count, room.own);
    image = norm(image, t.image, t.mask, t.n, room.own) / sqrt(size);
    return gradient > 0 ? image / gradient * (image / gradient) : 0;
}

/* Every block finds the same step (robust/step.c). */
__device__ static double find_step(const round_task &t, double size, order_room &room)
{
    double sums[2] = {0, 0}, curvature = t.numbers->curvature[t.turn];
    for (int64_t k = threadIdx.x; k < t.gradient_parts; k += ORDER_THREADS)
        sums[0] += t.gradient_squares[k];
    for (int64_t k = threadIdx.x; k < t.image_parts; k += ORDER_THREADS)
        sums[1] += t.image_squares[k];
    block_sum(sums, room.own);
    const double ratio = ratio_of(t, sums[0], sums[1], size, room);
    curvature = ratio > curvature ? ratio : curvature;
    const double step = t.published * curvature > 2 ? 1 / curvature : t.published;
    if (order_thread() == 0) {
        t.numbers->curvature[1 - t.turn] = curvature;
        t.numbers->step = step;
    }
    return step;
}

/* What this thread will need of its first places: it comes while the step is found. */
__device__ static void fetch_own(const round_task &t)
{
    const int64_t i = order_thread();
    if (i < t.n) {
        prefetch(t.r + i);
        prefetch(t.image + i);
    }
    if (i < t.count) {
        prefetch(t.from.coef + i);
        prefetch(t.from.list + i);
        prefetch(t.gradient + i);
    }
}

__device__ static void move(const round_task &t, order_room &room)
{
    fetch_own(t);
    const double size = t.numbers->trusted, by = find_step(t, size, room) / size;
    ORDER_OWN(j, t.count)
    t.from.coef[j] += by * t.from.list[j].unit * t.gradient[j];
    ORDER_OWN(i, t.n)
    t.r[i] -= by * t.image[i];
}

/* ---- lines 7-10 --------------------------------------------------------------------------- */

/* The mu largest go to the other lists; r is to follow those that leave. */
__device__ static void part(const round_task &t, order_room &room, int &turn)
{
    order_meet(); /* all coefficients have moved */
    auto key_of = [&](int64_t j) {
        const double coef = __ldcg(&t.from.coef[j]);
        return order_key(t.from.exponent[j] ? ldexp(coef, -t.from.exponent[j]) : coef);
    };
    auto emit = [&](int64_t j, int stays, int64_t at) {
        if (stays) {
            t.to.list[at] = t.from.list[j];
            t.to.coef[at] = __ldcg(&t.from.coef[j]);
            t.to.exponent[at] = t.from.exponent[j];
            t.to.origin[at] = t.from.origin[j];
        } else {
            t.gone[at] = t.from.list[j];
            t.gone_coef[at] = __ldcg(&t.from.coef[j]);
        }
    };
    order_part(t.order, t.count, t.count - t.mu, room, turn, key_of, emit);
}

/* ---- the intercept, lines 11-14 -------------------------------------------------------------- */

__device__ static void recentre(const round_task &t, order_room &room, int &turn)
{
    double sum[1] = {0};
    ORDER_OWN(i, t.n)
    sum[0] += t.mask[i] * t.r[i];
    block_sum(sum, room.own);
    const double shift = order_sum(sum[0], gridDim.x, room, turn) / t.numbers->trusted;
    ORDER_OWN(i, t.n)
    t.r[i] -= shift;
    if (order_thread() == 0)
        t.numbers->shift += shift;
}

__device__ static int64_t find_tau(const round_task &t, order_room &room, int &turn)
{
    if (t.clean_ratio <= 0)
        return order_tau(t.order, t.n, room, turn);
    const int64_t wanted = llround(t.clean_ratio * (double)t.n);
    return wanted < 1 ? 1 : wanted > t.n ? t.n : wanted;
}

/* The host has them when it learns that this was the last round. */
__device__ static void tell_columns(const round_task &t)
{
    if (!(t.parts & ROUND_TELL))
        return;
    ORDER_OWN(j, t.count)
    {
        t.host.coef[j] = t.from.coef[j];
        t.host.origin[j] = t.from.origin[j];
    }
}

__device__ static void tell_reports(const round_task &t)
{
    enum { WORDS = sizeof(roofs_report) / sizeof(int64_t) };
    if (blockIdx.x == 0 && (t.parts & ROUND_TELL) && (int)threadIdx.x < (t.at + 1) * WORDS)
        ((int64_t *)t.told)[threadIdx.x] = __ldcg((const int64_t *)t.reports + threadIdx.x);
}

__device__ static void report(const round_task &t, int64_t tau, double moved)
{
    roofs_report *out = &t.reports[t.at];
    t.numbers->trusted = (double)tau;
    t.numbers->settled = moved / (double)tau <= t.tolerance;
    out->numbers = *t.numbers;
    out->movement = moved / (double)tau;
    out->cut = order_value(__ldcg(&t.order.sorted[tau - 1]));
    out->tau = tau;
}

/* The tau smallest are trusted; how far they moved. */
__device__ static void trust(const round_task &t, order_room &room, int &turn)
{
    tell_columns(t);
    order_rank(t.order, t.n, room, [&](int64_t i) { return order_key(t.r[i]); });
    const int64_t tau = find_tau(t, room, turn);
    double square[1] = {0};
    ORDER_OWN(i, t.n)
    {
        const double trusted = __ldcg(&t.order.rank[i]) < tau, r = t.r[i], size = fabs(r);
        const double change = (size - t.before[i]) * trusted;
        t.mask[i] = trusted;
        t.masked[i] = r * trusted;
        t.before[i] = size;
        t.change[i] = change;
        square[0] += change * change;
    }
    block_sum(square, room.own);
    const double squares = order_sum(square[0], gridDim.x, room, turn);
    if (blockIdx.x > 0)
        return;
    const double moved = norm(squares, t.change, nullptr, t.n, room.own);
    if (threadIdx.x == 0)
        report(t, tau, moved);
    __syncthreads();
    tell_reports(t);
}

__global__ void __launch_bounds__(ORDER_THREADS) round_kernel(round_task t)
{
    __shared__ order_room room;
    int turn = 0;
    wait_for_last();
    if (t.numbers->settled) {
        tell_columns(t);
        tell_reports(t);
        return;
    }
    if (t.parts & ROUND_MOVE)
        move(t, room);
    if (t.parts & ROUND_PART)
        part(t, room, turn);
    if (t.parts & ROUND_RECENTRE)
        recentre(t, room, turn);
    if (t.parts & ROUND_TRUST)
        trust(t, room, turn);
    order_leave();
}

roofs_status roofs_admit(roofs_gpu *s, roofs_error *err)
{
    return order_admit(&s->order, round_kernel, err);
}

roofs_status roofs_go_on(device *d, roofs_gpu *s, const roofs_job *job, int64_t images, int parts,
                         roofs_error *err)
{
    const int64_t n = d->shape.n;
    round_task t = {};
    t.parts = parts;
    t.n = n;
    t.count = s->count;
    t.mu = job->mu;
    t.published = job->published;
    t.clean_ratio = job->clean_ratio;
    t.tolerance = job->tolerance;
    t.turn = (int)(s->given % 2);
    t.at = (int)(s->given - s->first);
    t.gradient = s->gradient;
    t.image = s->image;
    t.gradient_squares = d->squares;
    t.gradient_parts = images;
    t.image_squares = s->partial;
    t.image_parts = ceil_div(n, JOIN_ROWS);
    t.r = s->r;
    t.mask = s->mask;
    t.masked = s->masked;
    t.before = s->before;
    t.change = s->change;
    t.from = s->columns[s->side];
    t.to = s->columns[1 - s->side];
    t.host = s->host;
    t.gone = s->gone;
    t.gone_coef = s->gone_coef;
    t.order = s->order;
    t.numbers = s->numbers;
    t.reports = s->reports;
    t.told = s->told;
    CUDA_TRY(launch_order(&s->order, round_kernel, d->stream, t));
    return ROOFS_OK;
}
