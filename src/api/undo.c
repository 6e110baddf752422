/* Undo of a batch: saves the state before it like a checkpoint, but without the values of columns,
 * which stay in their slots until the batch ends. */
#include "api/estimator.h"
#include "api/hypotheses.h"
#include "base/memory.h"

enum { FIXED = 256 }; /* bytes of single numbers */

int64_t undo_bytes(const roofs_settings *set, const device_shape *shape)
{
    const method *m = method_named(set->method);
    const int64_t each = sizeof(column) + sizeof(device_column);
    int64_t samples = memory_bytes(shape->n, 2 * sizeof(double)); /* residual, trust */
    int64_t bytes = memory_sum(samples, memory_bytes(shape->slots, each));
    if (m->transfer_bytes)
        bytes = memory_sum(bytes, m->transfer_bytes(set, shape->n));
    return memory_sum(bytes, memory_sum(bytes / 8, FIXED)); /* see archive_reserve */
}

void roofs_set_undo(roofs_estimator *e, int32_t on)
{
    for (int64_t k = 0; e && hypotheses_at(e, k); k++)
        hypotheses_at(e, k)->f->undo = on != 0;
}

roofs_status undo_save(roofs_estimator *e, roofs_error *err)
{
    e->f->undo_requested = 0;
    if (!e->f->undo || !e->f->monitor)
        return ROOFS_OK;
    const device_shape shape = {.n = e->f->n, .slots = e->f->cols.count};
    e->undo.undo = 1;
    TRY(archive_reserve(&e->undo, undo_bytes(&e->f->set, &shape), err));
    archive_begin_saving(&e->undo, err);
    estimator_transfer(e, &e->undo);
    return archive_end(&e->undo);
}

roofs_status undo_restore(roofs_estimator *e, const roofs_block *batch, roofs_error *err)
{
    if (batch && batch->names && e->f->grows)
        for (int64_t k = batch->count; k > 0; k--)
            nameset_remove_last(&e->names, batch->names[k - 1]);
    roofs_error why = {0};
    archive_begin_loading(&e->undo, &why);
    estimator_transfer(e, &e->undo);
    roofs_status status = archive_end(&e->undo);
    if (status == ROOFS_OK)
        return ROOFS_CANCELLED; /* err already holds the round */
    return fail(err, status, "%s", why.text);
}
