/* What a round of method roofs does once the gradient and its image are there: the step, who stays,
 * the intercept, and whom to trust. */
#include "method/cuda/roofs_gpu.cuh"
#include "robust/cuda/tau.cuh"

#include <cmath>

struct round_task {
    int parts; /* of the round: ROUND_... */
    int64_t n, count, mu;
    double published, clean_ratio, tolerance;
    int at; /* among the rounds given at once */
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

/* ---- what a thread begins with ------------------------------------------------------------ */

/* All of it is on its way before any is needed. */
struct fetched {
    double r[ORDER_EACH], image[ORDER_EACH]; /* of the samples, where they are few enough */
    double gradient_squares, image_squares;  /* parts of their sums */
    int settled;
};

/* The last threads begin: the first ones have samples to see to. */
__device__ static int64_t first_column()
{
    return order_threads() - 1 - order_thread();
}

__device__ static void fetch_for_move(const round_task &t, fetched &own)
{
    if (order_holds(t.n))
        order_held(t.n, [&](int e, int64_t i) { own.image[e] = t.image[i]; });
    own.gradient_squares = own.image_squares = 0;
    for (int64_t k = threadIdx.x; k < t.gradient_parts; k += ORDER_THREADS)
        own.gradient_squares += t.gradient_squares[k];
    for (int64_t k = threadIdx.x; k < t.image_parts; k += ORDER_THREADS)
        own.image_squares += t.image_squares[k];
    const int64_t j = first_column();
    if (j < t.count) {
        prefetch(t.from.coef + j);
        prefetch(t.from.list + j);
        prefetch(t.gradient + j);
    }
}

/* `now` is known to the block when it has met. */
__device__ static void fetch(const round_task &t, fetched &own, roofs_numbers &now)
{
    own.settled = t.numbers->settled;
    if (order_holds(t.n))
        order_held(t.n, [&](int e, int64_t i) { own.r[e] = t.r[i]; });
    if (t.parts & ROUND_MOVE)
        fetch_for_move(t, own);
    if (threadIdx.x == 0)
        now = *t.numbers;
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

/* Every thread finds the same step (robust/step.c). */
__device__ static double find_step(const round_task &t, const fetched &own, roofs_numbers &now,
                                   order_room &room)
{
    double sums[2] = {own.gradient_squares, own.image_squares};
    block_sum(sums, room.own);
    const double ratio = ratio_of(t, sums[0], sums[1], now.trusted, room);
    const double curvature = ratio > now.curvature ? ratio : now.curvature;
    const double step = t.published * curvature > 2 ? 1 / curvature : t.published;
    __syncthreads();
    if (threadIdx.x == 0) {
        now.curvature = curvature;
        now.step = step;
    }
    return step;
}

__device__ static void move_columns(const round_task &t, double by)
{
    for (int64_t j = first_column(); j < t.count; j += order_threads())
        t.from.coef[j] += by * t.from.list[j].unit * t.gradient[j];
}

__device__ static void move(const round_task &t, fetched &own, roofs_numbers &now, order_room &room)
{
    const double by = find_step(t, own, now, room) / now.trusted;
    if (order_holds(t.n))
        order_held(t.n, [&](int e, int64_t i) { t.r[i] = own.r[e] -= by * own.image[e]; });
    else
        ORDER_OWN(i, t.n)
    t.r[i] -= by * t.image[i];
    move_columns(t, by);
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

__device__ static void recentre(const round_task &t, fetched &own, roofs_numbers &now,
                                order_room &room, int &turn)
{
    const bool holds = order_holds(t.n);
    double sum[1] = {0};
    if (holds)
        order_held(t.n, [&](int e, int64_t i) { sum[0] += t.mask[i] * own.r[e]; });
    else
        ORDER_OWN(i, t.n)
    sum[0] += t.mask[i] * t.r[i];
    block_sum(sum, room.own);
    const double shift = order_sum(sum[0], room, turn) / now.trusted;
    if (holds)
        order_held(t.n, [&](int e, int64_t i) { t.r[i] = own.r[e] -= shift; });
    else
        ORDER_OWN(i, t.n)
    t.r[i] -= shift;
    if (threadIdx.x == 0)
        now.shift += shift;
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

__device__ static void report(const round_task &t, const roofs_numbers &now, double movement,
                              double cut)
{
    *t.numbers = now;
    t.reports[t.at] = {now, movement, cut, (int64_t)now.trusted};
}

/* Sample i in the light of tau; how far it moved if it is trusted. */
__device__ static double judge(const round_task &t, int64_t i, double r, int trusted)
{
    const double change = trusted ? fabs(r) - t.before[i] : 0;
    t.mask[i] = trusted;
    t.masked[i] = trusted ? r : 0;
    t.before[i] = fabs(r);
    t.change[i] = change;
    return change;
}

/* The tau smallest are trusted; the squares of how far they moved, of this thread. */
__device__ static double trust_held(const round_task &t, const fetched &own, order_room &room,
                                    int &turn, int64_t &tau)
{
    uint32_t rank[ORDER_EACH];
    double square = 0;
    order_rank(
        t.order, t.n, room, [&](int e, int64_t) { return order_key(own.r[e]); },
        [&](int e, int64_t, uint32_t found) { rank[e] = found; });
    order_held(t.n, [&](int, int64_t i) { prefetch(&t.before[i]); });
    tau = find_tau(t, room, turn);
    order_held(t.n, [&](int e, int64_t i) {
        const double change = judge(t, i, own.r[e], rank[e] < tau);
        square += change * change;
    });
    return square;
}

/* The same where they have been sorted already. */
__device__ static double trust_many(const round_task &t, order_room &room, int &turn, int64_t &tau)
{
    double square = 0;
    tau = find_tau(t, room, turn);
    ORDER_OWN(i, t.n)
    {
        const double change = judge(t, i, t.r[i], t.order.rank[i] < tau);
        square += change * change;
    }
    return square;
}

__device__ static void trust(const round_task &t, const fetched &own, roofs_numbers &now,
                             order_room &room, int &turn)
{
    int64_t tau;
    double square[1] = {order_holds(t.n) ? trust_held(t, own, room, turn, tau)
                                         : trust_many(t, room, turn, tau)};
    const double cut = order_value(__ldcg(&t.order.sorted[tau - 1]));
    block_sum(square, room.own);
    const double squares = order_sum(square[0], room, turn);
    tell_columns(t); /* not before: a meeting would wait until it has got there */
    if (blockIdx.x > 0)
        return;
    const double movement = norm(squares, t.change, nullptr, t.n, room.own) / (double)tau;
    if (threadIdx.x == 0) {
        now.trusted = (double)tau;
        now.settled = movement <= t.tolerance;
        report(t, now, movement, cut);
    }
    __syncthreads();
    tell_reports(t);
}

/* For the rest of the round, when all have read what was known. */
__device__ static void remember(const round_task &t, const roofs_numbers &now)
{
    order_meet();
    if (order_thread() == 0)
        *t.numbers = now;
}

__global__ void __launch_bounds__(ORDER_THREADS) round_kernel(round_task t)
{
    __shared__ order_room room;
    __shared__ roofs_numbers now;
    fetched own;
    int turn = 0;
    order_begin();
    fetch(t, own, now);
    if (own.settled) {
        tell_columns(t);
        tell_reports(t);
        return;
    }
    if (t.parts & ROUND_MOVE)
        move(t, own, now, room);
    if (t.parts & ROUND_PART)
        part(t, room, turn);
    if (t.parts & ROUND_RECENTRE)
        recentre(t, own, now, room, turn);
    if (t.parts & ROUND_TRUST)
        trust(t, own, now, room, turn);
    else
        remember(t, now);
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
