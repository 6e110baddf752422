#include "linalg/comm.h"

#include "linalg/vector.h"

double comm_total(comm *c, const double *x, int64_t n)
{
    return comm_sum_of(c, vector_sum(x, n));
}

double comm_dot(comm *c, const double *x, const double *y, int64_t n)
{
    return comm_sum_of(c, vector_dot(x, y, n));
}

double comm_norm(comm *c, const double *x, int64_t n)
{
    double own = vector_norm(x, n);
    if (comm_is_alone(c))
        return own;
    comm_gather(c, &own, sizeof own, c->each);
    return vector_norm(c->each, c->with.size);
}
