#include "method/baseline/least_absolute.h"

#include "base/memory.h"
#include "linalg/vector.h"

void least_absolute_threshold(fit *f)
{
    if (f->set.clean_ratio > 0)
        trust_update(&f->trusted, f->residual, f->set.clean_ratio);
    else
        trust_by_scale(&f->trusted, f->residual, 1e-9 * vector_largest(f->y, f->n));
}

roofs_status least_absolute_create(void **own, const batch_solver *solver, roofs_error *err)
{
    batchwise *front = NULL;
    TRY(memory_get(&front, 1, sizeof *front, "the method", err));
    *own = front;
    front->solver = solver;
    return ROOFS_OK;
}

void least_absolute_destroy(void *own)
{
    batchwise *front = own;
    if (front)
        batchwise_destroy(front);
    memory_free(front);
}

roofs_status least_absolute_consume(void *own, fit *f, roofs_error *err)
{
    return batchwise_consume(own, NULL, f, err);
}
