/* Lines 6 to 10 of a round in which columns leave. */
#include "method/cuda/round.cuh"

/* Copies the mu largest to the other lists, the others to t.dropped. A later kernel updates r. */
template <int EACH>
__device__ static void drop_columns(const round_task &t, order_shared &shared, int &turn)
{
    order_barrier(); /* all coefficients have moved */
    auto key_of = [&](int j) {
        const double coef = __ldcg(&t.from.coef[j]);
        return fabs(t.from.exponent[j] ? ldexp(coef, -t.from.exponent[j]) : coef);
    };
    auto emit = [&](int j, int stays, int at) {
        if (stays) {
            t.to.list[at] = t.from.list[j];
            t.to.coef[at] = __ldcg(&t.from.coef[j]);
            t.to.exponent[at] = t.from.exponent[j];
            t.to.origin[at] = t.from.origin[j];
        } else {
            t.dropped[at] = t.from.list[j];
            t.dropped_coef[at] = __ldcg(&t.from.coef[j]);
        }
    };
    order_divide<EACH>(t.order, t.count, t.count - t.mu, shared, turn, key_of, emit);
}

/* EACH: columns that a thread holds. */
template <int EACH> __global__ void __launch_bounds__(ORDER_THREADS) leave_kernel(round_task t)
{
    __shared__ order_shared shared;
    __shared__ roofs_numbers now;
    fetched<0> own;
    int turn = 0;
    order_begin(t.order, shared);
    load_state(t, own, now);
    if (own.settled)
        return;
    if (t.steps & ROUND_MOVE)
        move(t, own, now, shared);
    if (t.steps & ROUND_DROP)
        drop_columns<EACH>(t, shared, turn);
    store_numbers(t, now);
}

const order_kernels<round_task> leave_kernels = {
    {leave_kernel<1>, leave_kernel<ORDER_EACH>, leave_kernel<0>}};
