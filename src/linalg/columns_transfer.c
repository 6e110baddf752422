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

static double value_at(const device_values *v, int64_t k)
{
    return v->dtype == ROOFS_F32 ? (double)((const float *)v->values)[k]
                                 : ((const double *)v->values)[k];
}

/* Checks that values are finite and samples ascend, as devices require. */
static void check_values(const device_values *v, int64_t n, archive *a)
{
    for (int64_t k = 0; k < v->count && a->status == ROOFS_OK; k++)
        if (!isfinite(value_at(v, k)))
            archive_refuse(a, "a value of a feature is not finite");
    archive_check_samples(a, v->samples, v->count, n);
}

static void load_values(columns *c, int64_t j, device_values *v, int sparse, archive *a)
{
    if (!sparse && v->count != c->n)
        archive_refuse(a, "a feature has too few values");
    v->values = archive_view(a, memory_bytes(v->count, dtype_size(v->dtype)));
    v->samples = sparse ? archive_view(a, memory_bytes(v->count, sizeof *v->samples)) : NULL;
    c->items[j].bytes =
        v->count * (dtype_size(v->dtype) + (sparse ? (int64_t)sizeof *v->samples : 0));
    check_values(v, c->n, a);
    if (a->status == ROOFS_OK)
        a->status = c->ops->put(c->dev, c->places[j].place, v, a->err);
}

void columns_transfer_values(columns *c, int64_t j, archive *a)
{
    device_values v = {.dtype = c->dtype};
    if (!a->loading && a->status == ROOFS_OK)
        a->status = c->ops->fetch(c->dev, c->places[j].place, &v, a->err);
    int sparse = v.samples != NULL;
    archive_int(a, &sparse, 0, 1);
    c->has_sparse |= sparse;
    archive_i64(a, &v.count, 0, c->n);
    if (a->loading) {
        load_values(c, j, &v, sparse, a);
        return;
    }
    archive_put(a, v.values, memory_bytes(v.count, dtype_size(v.dtype)));
    if (sparse)
        archive_put(a, v.samples, memory_bytes(v.count, sizeof *v.samples));
}
