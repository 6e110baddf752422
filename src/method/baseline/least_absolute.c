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
    batchwise *frame = NULL;
    TRY(memory_get(&frame, 1, sizeof *frame, "the method", err));
    *own = frame;
    frame->solver = solver;
    return ROOFS_OK;
}

void least_absolute_destroy(void *own)
{
    batchwise *frame = own;
    if (frame)
        batchwise_destroy(frame);
    memory_free(frame);
}

roofs_status least_absolute_consume(void *own, fit *f, roofs_error *err)
{
    return batchwise_consume(own, NULL, f, err);
}
