/* Effects beside forced columns: what these explain is taken out of the responses and of all other
 * columns. */
#include "base/memory.h"
#include "linalg/lanes.h"
#include "linalg/vector.h"
#include "method/effects.h"

#include <math.h>

void effects_remove_forced(effects *e, double *x)
{
    const int64_t n = e->f->n, padded = lanes_padded(n);
    for (int64_t q = 0; q < e->forced; q++) {
        const double *along = e->basis + q * padded;
        double *scratch = e->basis + e->forced_most * padded;
        const double part = comm_weighted_dot(&e->f->comm, e->W, x, along, n, scratch);
        vector_add(x, -part / e->total, along, n);
    }
}

/* Adds a forced column to the basis, with mean 0 (with an intercept) and scale 1, unless it is a
 * combination of those before it. */
static roofs_status extend_basis(effects *e, int64_t j, roofs_error *err)
{
    const double least = 1e-6; /* of its own length: the rest is rounding */
    const int64_t n = e->f->n;
    double *x = e->basis + e->forced * lanes_padded(n);
    TRY(columns_fetch(&e->f->cols, j, x, err));
    const double mean = e->f->set.intercept ? comm_dot(&e->f->comm, e->W, x, n) / e->total : 0;
    for (int64_t i = 0; i < n; i++)
        x[i] -= mean;
    const double before = sqrt(effects_correlation(e, x, x));
    effects_remove_forced(e, x);
    effects_remove_forced(e, x); /* once more, against rounding */
    const double length = sqrt(effects_correlation(e, x, x));
    if (!(length > least * before))
        return ROOFS_OK;
    for (int64_t i = 0; i < n; i++)
        x[i] /= length;
    e->forced++;
    return ROOFS_OK;
}

roofs_status effects_find_basis(effects *e, roofs_error *err)
{
    e->forced_most = fit_forced(e->f);
    if (e->forced_most == 0)
        return ROOFS_OK;
    const int64_t numbers = memory_bytes(e->forced_most + 1, lanes_padded(e->f->n));
    const roofs_status own =
        memory_get(&e->basis, numbers, sizeof *e->basis, "the groups of features", err);
    TRY(comm_agree(&e->f->comm, own, err));
    for (int64_t j = 0; j < e->kept; j++)
        if (fit_is_forced(e->f, j))
            TRY(extend_basis(e, j, err));
    return ROOFS_OK;
}
