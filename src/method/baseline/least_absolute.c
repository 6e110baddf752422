#include "method/baseline/least_absolute.h"

#include "linalg/vector.h"

#include <string.h>

void least_absolute_threshold(fit *f)
{
    if (f->set.clean_ratio > 0)
        trust_update(&f->trusted, f->residual, f->set.clean_ratio);
    else
        trust_by_scale(&f->trusted, f->residual, 1e-9 * vector_largest(f->y, f->n));
}

void least_absolute_store(const batch_problem *p, const design *a, const double *x, double *scratch)
{
    memcpy(p->x, x, (size_t)p->count * sizeof *x);
    p->f->intercept = design_intercept(a, x);
    design_residual(a, x, scratch, p->f->residual);
    least_absolute_threshold(p->f);
}
