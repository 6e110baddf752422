/* The columns of a fit: the type of their values, their memory, and their allocation. */
#include "api/estimator.h"

#include "base/memory.h"

roofs_dtype estimator_storage(const roofs_estimator *e, roofs_dtype arrived)
{
    const int64_t storage = e->f->set.storage;
    const int is_narrow =
        storage == ROOFS_STORAGE_AUTO ? arrived == ROOFS_F32 : storage == ROOFS_STORAGE_F32;
    return is_narrow ? ROOFS_F32 : ROOFS_F64;
}

int64_t estimator_bytes(const roofs_estimator *e, roofs_dtype dtype)
{
    const fit *f = e->f;
    const roofs_settings set = estimator_settings(f);
    device_shape shape = estimator_shape(&set, f->n, dtype);
    int64_t held = e->dense ? e->ops->bytes(&shape) : f->cols.ops->taken(f->cols.dev);
    return memory_bytes(memory_sum(estimator_bytes_besides(&set, &shape), held), e->side_by_side);
}

/* Called with the first block, which decides the type of the columns. */
static roofs_status allocate_columns(roofs_estimator *e, roofs_dtype dtype, roofs_error *err)
{
    fit *f = e->f;
    const roofs_settings set = estimator_settings(f);
    device_shape shape = estimator_shape(&set, f->n, dtype);
    shape.besides = estimator_bytes_besides(&set, &shape);
    shape.side_by_side = e->side_by_side;
    shape.workers = f->workers;
    roofs_status status = columns_create(&f->cols, e->ops, &shape, err);
    if (status == ROOFS_OK)
        status = columns_split(&f->cols, &f->comm, err);
    if (status != ROOFS_OK)
        return status;
    f->cols.shares = f->reported ? &f->reported->cols : NULL;
    f->set.storage = dtype == ROOFS_F32 ? ROOFS_STORAGE_F32 : ROOFS_STORAGE_F64;
    e->allocated = 1;
    return ROOFS_OK;
}

/* If the first block is dense, all may be: checks the memory for that. */
roofs_status estimator_begin(roofs_estimator *e, roofs_dtype dtype, int dense, roofs_error *err)
{
    e->dense = dense;
    if (dense)
        TRY(memory_within(estimator_bytes(e, dtype), e->f->set.max_memory, err));
    return allocate_columns(e, dtype, err);
}

void estimator_release_columns(roofs_estimator *e, int64_t storage)
{
    columns_destroy(&e->f->cols);
    e->f->set.storage = storage;
    e->allocated = e->narrow = 0;
}
