/* The columns of a fit: the type of their values, their memory, and their allocation. */
#include "api/estimator.h"

#include "base/memory.h"

storage_kind estimator_storage(const roofs_estimator *e, const roofs_block *block)
{
    const int is_auto = e->f->set.storage == ROOFS_STORAGE_AUTO;
    const roofs_dtype dtype = estimator_stored_type(&e->f->set, e->ops, block->dtype);
    const int sparse = block_is_sparse(block), is_packed = dtype_is_packed(dtype);
    return (storage_kind){.dtype = is_packed && sparse ? ROOFS_F64 : dtype,
                          .keeps_packed = is_auto && e->ops->packs,
                          .narrow = is_auto && dtype == ROOFS_F32,
                          .dense = !sparse && !is_packed};
}

static int64_t bytes_with(const roofs_estimator *e, const device_shape *shape, int64_t held)
{
    const roofs_settings set = estimator_settings(e->f);
    return memory_bytes(memory_sum(estimator_bytes_besides(&set, shape), held), e->side_by_side);
}

int64_t estimator_bytes(const roofs_estimator *e)
{
    const fit *f = e->f;
    const roofs_settings set = estimator_settings(f);
    const device_shape shape = estimator_shape(&set, f->n, f->cols.dtype);
    return bytes_with(e, &shape,
                      e->dense ? e->ops->bytes(&shape) : f->cols.ops->taken(f->cols.dev));
}

static roofs_status allocate_columns(roofs_estimator *e, device_shape *shape, roofs_error *err)
{
    fit *f = e->f;
    const roofs_settings set = estimator_settings(f);
    shape->dtype = shape->dtype == ROOFS_F32 ? ROOFS_F32 : ROOFS_F64;
    shape->besides = estimator_bytes_besides(&set, shape);
    shape->side_by_side = e->side_by_side;
    shape->workers = f->workers;
    TRY(columns_create(&f->cols, e->ops, shape, err));
    TRY(columns_split(&f->cols, &f->comm, err));
    f->cols.shares = f->reported ? &f->reported->cols : NULL;
    f->set.storage = shape->dtype == ROOFS_F32 ? ROOFS_STORAGE_F32 : ROOFS_STORAGE_F64;
    e->allocated = 1;
    return ROOFS_OK;
}

roofs_status estimator_begin(roofs_estimator *e, const storage_kind *kind, roofs_error *err)
{
    const roofs_settings set = estimator_settings(e->f);
    device_shape shape = estimator_shape(&set, e->f->n, kind->dtype);
    shape.keeps_packed = kind->keeps_packed;
    e->dense = kind->dense;
    e->narrow = kind->narrow;
    e->keeps_packed = kind->keeps_packed;
    if (kind->dense || dtype_is_packed(kind->dtype))
        TRY(memory_within(bytes_with(e, &shape, e->ops->bytes(&shape)), e->f->set.max_memory, err));
    return allocate_columns(e, &shape, err);
}

void estimator_release_columns(roofs_estimator *e, int64_t storage)
{
    columns_destroy(&e->f->cols);
    e->f->set.storage = storage;
    e->allocated = e->narrow = e->keeps_packed = 0;
}
