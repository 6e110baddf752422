/* Saves columns in a checkpoint and restores them. */
#include "base/memory.h"
#include "linalg/columns.h"

#include <math.h>

enum { EXPONENTS = 4096 }; /* more than any exponent of a double */

/* Least bytes of a column in the list. */
enum { ITEM_BYTES = 10 * 8 };

static void item_transfer(column *item, archive *a)
{
    const char *name = item->name;
    archive_i64(a, &item->feature, 0, ARCHIVE_MOST);
    archive_text(a, &name);
    archive_f64(a, &item->coef);
    archive_f64(a, &item->variance);
    archive_f64(a, &item->probability);
    archive_f64(a, &item->flatness);
    archive_int(a, &item->exponent, -EXPONENTS, EXPONENTS);
    if (!a->loading)
        return;
    item->name = NULL;
    if (name && a->status == ROOFS_OK)
        a->status = memory_copy_text(&item->name, name, a->err);
}

/* Files hold no slots: a loaded column j gets slot j. */
static void place_transfer(device_column *place, int64_t j, int64_t slots, archive *a)
{
    if (a->undo)
        archive_i64(a, &place->place, 0, slots - 1);
    else if (a->loading)
        place->place = j;
    archive_finite(a, &place->center, 1);
    archive_finite(a, &place->factor, 1);
    archive_finite(a, &place->unit, 1);
}

void columns_transfer(columns *c, int64_t slots, archive *a)
{
    int64_t count = c->count;
    archive_count(a, &count, slots, ITEM_BYTES);
    archive_int(a, &c->scaled, 0, 1);
    archive_int(a, &c->unit_exponent, -EXPONENTS, EXPONENTS);
    archive_i64(a, &c->constant, 0, ARCHIVE_MOST);
    if (a->undo)
        archive_i64(a, &c->free_count, 0, slots);
    if (a->loading) {
        columns_reset(c);
        if (a->status == ROOFS_OK)
            a->status = columns_reserve(c, count, a->err);
        c->slots_used = a->undo ? c->slots_used : count;
    }
    for (int64_t j = 0; j < count && a->status == ROOFS_OK; j++) {
        item_transfer(&c->items[j], a);
        place_transfer(&c->places[j], j, slots, a);
        if (a->loading)
            c->count = j + 1;
    }
}

/* ---- values ------------------------------------------------------------ */

/* What a file says of a column: a packed type, or one of these. */
enum { DENSE = 0, SPARSE = 1 };

static int kind_of(const device_values *v)
{
    if (dtype_is_packed(v->dtype))
        return (int)v->dtype;
    return v->samples ? SPARSE : DENSE;
}

/* Saves `size` bytes, or sets *bytes to a view of them. */
static void bytes_transfer(archive *a, const void **bytes, int64_t size)
{
    if (a->loading)
        *bytes = archive_view(a, size);
    else
        archive_put(a, *bytes, size);
}

/* Checks that values are finite and samples ascend, as devices require. */
static void check_values(const device_values *v, int64_t n, archive *a)
{
    const int is_complete = v->dtype != ROOFS_2BIT || v->levels;
    for (int64_t k = 0; k < v->count && is_complete && a->status == ROOFS_OK; k++)
        if (!isfinite(device_value(v, k)))
            archive_refuse(a, "a value of a feature is not finite");
    archive_check_samples(a, v->samples, v->count, n);
}

void column_values_transfer(device_values *v, int64_t n, archive *a)
{
    const void *levels = v->levels, *samples = v->samples;
    int kind = kind_of(v);
    archive_int(a, &kind, DENSE, ROOFS_2BIT);
    archive_i64(a, &v->count, 0, n);
    if (kind != SPARSE && v->count != n)
        archive_refuse(a, "a feature has too few values");
    if (kind > SPARSE)
        v->dtype = (roofs_dtype)kind;
    if (kind == ROOFS_2BIT)
        bytes_transfer(a, &levels, 4 * sizeof *v->levels);
    bytes_transfer(a, &v->values, dtype_bytes(v->dtype, v->count));
    if (kind == SPARSE)
        bytes_transfer(a, &samples, memory_bytes(v->count, sizeof *v->samples));
    v->levels = levels;
    v->samples = kind == SPARSE ? samples : NULL;
    if (a->loading)
        check_values(v, n, a);
}

void columns_transfer_values(columns *c, int64_t j, archive *a)
{
    device_values v = {.dtype = c->dtype};
    if (!a->loading && a->status == ROOFS_OK)
        a->status = c->ops->fetch(c->dev, c->places[j].place, &v, a->err);
    column_values_transfer(&v, c->n, a);
    c->has_sparse |= v.samples != NULL;
    if (!a->loading)
        return;
    c->items[j].bytes = memory_sum(dtype_bytes(v.dtype, v.count),
                                   v.samples ? v.count * (int64_t)sizeof *v.samples : 0);
    if (a->status == ROOFS_OK)
        a->status = c->ops->put(c->dev, c->places[j].place, &v, a->err);
}
