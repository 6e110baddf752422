/* Effects of one column each, and products of all kept columns: on the device that stores them,
 * with its threads. A column there is z; here it is (z - mean) / scale. The residual has the
 * weighted mean 0 (with an intercept). */
#include "linalg/lanes.h"
#include "linalg/vector.h"
#include "method/effects.h"

#include <math.h>

/* True if the device has the columns as they are here, but for mean and scale. */
static int is_swept(const effects *e)
{
    return e->forced == 0 && e->f->cols.ops->products;
}

/* Moves effect l, whose column has the product c with the residual without it. Returns the change
 * of its coefficient. */
static double move_single(effects *e, effect *l, double c, double *moved)
{
    const double before = l->coef[0];
    effects_decide(e, l, &c);
    const double change = l->coef[0] - before, second = l->mean[0] * l->mean[0] + l->variance;
    l->spread = fmax(0, l->a * second - l->coef[0] * l->coef[0]);
    *moved = fmax(*moved, fabs(change) * e->largest[l->near[0]]);
    return change;
}

static roofs_status fit_single(effects *e, effect *l, double *moved, roofs_error *err)
{
    double *z = e->z;
    if (e->all)
        z = e->all + l->near[0] * lanes_padded(e->f->n);
    else
        TRY(effects_column(e, l->near[0], z, err));
    const double c = effects_correlation(e, e->r, z) + l->coef[0];
    vector_add(e->r, -move_single(e, l, c, moved), z, e->f->n);
    return ROOFS_OK;
}

/* ---- a sweep ------------------------------------------------------------------ */

typedef struct single_sweep {
    effects *e;
    int64_t first; /* effect */
    double level;  /* the residual is that of the sweep plus this */
    double moved;
} single_sweep;

static void update_block(void *user, int64_t first, int64_t count, const double slope[DEVICE_BLOCK],
                         const double gram[DEVICE_BLOCK][DEVICE_BLOCK], double delta[DEVICE_BLOCK],
                         double spread[DEVICE_BLOCK])
{
    single_sweep *s = user;
    effects *e = s->e;
    for (int64_t q = 0; q < count; q++) {
        effect *l = &e->items[s->first + first + q];
        const double mean = e->mean[l->near[0]], scale = e->scale[l->near[0]];
        double product = slope[q] + s->level * mean * e->total;
        for (int64_t p = 0; p < q; p++)
            product -= gram[q][p] * delta[p];
        const double c = scale > 0 ? product / (scale * e->total) : 0;
        const double change = move_single(e, l, c + l->coef[0], &s->moved);
        delta[q] = scale > 0 ? change / scale : 0;
        spread[q] = 0;
        s->level += delta[q] * mean;
    }
}

roofs_status effects_fit_singles(effects *e, int64_t first, int64_t end, double *moved,
                                 roofs_error *err)
{
    if (!is_swept(e)) {
        for (int64_t l = first; l < end; l++)
            TRY(fit_single(e, &e->items[l], moved, err));
        return ROOFS_OK;
    }
    single_sweep s = {.e = e, .first = first, .moved = *moved};
    for (int64_t l = first; l < end; l++)
        e->swept[l - first] = e->items[l].near[0];
    const device_sweep how = {e->W, e->r, e->t, update_block, &s};
    columns_sweep(&e->f->cols, e->swept, end - first, &how);
    for (int64_t i = 0; i < e->f->n; i++)
        e->r[i] += s.level;
    *moved = s.moved;
    return comm_status(&e->f->comm, err);
}

/* ---- products ------------------------------------------------------------------- */

roofs_status effects_products(effects *e, double *c, roofs_error *err)
{
    if (e->kept == 0)
        return ROOFS_OK;
    if (!is_swept(e)) {
        for (int64_t k = 0; k < e->kept; k++) {
            TRY(effects_column(e, k, e->z, err));
            c[k] = effects_correlation(e, e->r, e->z);
        }
        return ROOFS_OK;
    }
    for (int64_t i = 0; i < e->f->n; i++)
        e->t[i] = e->W[i] * e->r[i];
    columns_products(&e->f->cols, NULL, e->kept, e->t, c);
    for (int64_t k = 0; k < e->kept; k++)
        c[k] = e->scale[k] > 0 ? c[k] / (e->scale[k] * e->total) : 0;
    return comm_status(&e->f->comm, err);
}
