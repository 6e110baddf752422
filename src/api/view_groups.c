#include "api/view_groups.h"

#include "base/memory.h"
#include "base/student.h"
#include "model/selection.h"

#include <math.h>

/* ---- groups ------------------------------------------------------------ */

static roofs_group group_in_caller_units(const fit *f, const group *from)
{
    const double unit = from->count == 1 ? from->unit : NAN;
    const int exponent = f->y_exponent - from->exponent;
    roofs_group to = {
        .count = from->count,
        .mass = from->mass,
        .exists = from->exists,
        .fdr = from->fdr,
        .correlation = from->correlation,
        .effect = ldexp(from->effect, f->y_exponent),
        .error = ldexp(from->error, f->y_exponent),
        .coef = ldexp(from->effect * unit, exponent),
        .coef_error = ldexp(from->error * fabs(unit), exponent),
        .complete = from->is_complete,
    };
    if (!isfinite(to.coef) || !isfinite(to.coef_error))
        to.coef = to.coef_error = NAN;
    return to;
}

static void copy_members(const group *from, roofs_member *to)
{
    for (int64_t k = 0; k < from->count; k++)
        to[k] = (roofs_member){.index = from->members[k].feature,
                               .name = from->members[k].name,
                               .probability = from->members[k].probability};
}

static roofs_status fill_groups(roofs_estimator *e, roofs_result *out, roofs_error *err)
{
    const groups *found = &e->f->found;
    int64_t members = 0;
    if (e->phase != PHASE_FINISHED || !found->is_known)
        return ROOFS_OK;
    for (int64_t k = 0; k < found->count; k++)
        members += found->items[k].count;
    TRY(memory_grow(&e->view_groups, &e->view_groups_capacity, found->count, sizeof *e->view_groups,
                    "the result", err));
    TRY(memory_grow(&e->view_members, &e->view_members_capacity, members, sizeof *e->view_members,
                    "the result", err));
    roofs_member *to = e->view_members;
    for (int64_t k = 0; k < found->count; k++) {
        e->view_groups[k] = group_in_caller_units(e->f, &found->items[k]);
        e->view_groups[k].members = to;
        copy_members(&found->items[k], to);
        to += found->items[k].count;
    }
    out->groups_known = 1;
    out->groups = found->count;
    out->group = e->view_groups;
    return ROOFS_OK;
}

/* ---- errors ------------------------------------------------------------ */

static roofs_spread spread_in_caller_units(const fit *f, int64_t j)
{
    const device_column *place = &f->cols.places[j];
    const int exponent = f->cols.items[j].exponent;
    return (roofs_spread){
        .center = ldexp(place->center, exponent),
        .error = ldexp(f->coef_error[j] * fabs(place->factor), f->y_exponent - exponent)};
}

static roofs_noise noise_in_caller_units(const fit *f)
{
    const fit_noise *from = &f->noise;
    return (roofs_noise){.scale = ldexp(sqrt(from->s2), f->y_exponent),
                         .intercept = ldexp(sqrt(from->intercept), f->y_exponent),
                         .nu = from->nu,
                         .skew = from->skew,
                         .tail = from->tail};
}

static roofs_status fill_spread(roofs_estimator *e, roofs_result *out, roofs_error *err)
{
    const fit *f = e->f;
    int is_finite = 1;
    if (e->phase != PHASE_FINISHED || !f->coef_error || !student_is_known(f->noise.nu))
        return ROOFS_OK;
    TRY(memory_grow(&e->view_spread, &e->view_spread_capacity, out->selected + 1,
                    sizeof *e->view_spread, "the result",
                    err)); /* never empty: NULL has a meaning */
    for (int64_t j = 0; j < f->cols.count; j++) {
        const int64_t k = selection_find(out, f->cols.items[j].feature);
        const roofs_spread own = spread_in_caller_units(f, j);
        if (k < 0)
            continue;
        e->view_spread[k] = own;
        is_finite = is_finite && isfinite(own.center) && isfinite(own.error);
    }
    const roofs_noise noise = noise_in_caller_units(f);
    if (!is_finite || !isfinite(noise.scale) || !isfinite(noise.intercept))
        return ROOFS_OK;
    out->spread = e->view_spread;
    out->noise = noise;
    return ROOFS_OK;
}

/* ---- scales ------------------------------------------------------------ */

/* The factor of a standardised column is one over its scale. */
static roofs_status fill_scale(roofs_estimator *e, roofs_result *out, roofs_error *err)
{
    const fit *f = e->f;
    int is_finite = 1;
    if (!f->set.standardize)
        return ROOFS_OK;
    TRY(memory_grow(&e->view_scale, &e->view_scale_capacity, out->selected + 1,
                    sizeof *e->view_scale, "the result", err)); /* never empty, as above */
    for (int64_t j = 0; j < f->cols.count; j++) {
        const int64_t k = selection_find(out, f->cols.items[j].feature);
        if (k < 0)
            continue;
        e->view_scale[k] = ldexp(1 / fabs(f->cols.places[j].factor), f->cols.items[j].exponent);
        is_finite = is_finite && isfinite(e->view_scale[k]);
    }
    out->scale = is_finite ? e->view_scale : NULL;
    return ROOFS_OK;
}

/* ---- selection --------------------------------------------------------- */

static roofs_status fill_is_selected(roofs_estimator *e, roofs_result *out, roofs_error *err)
{
    TRY(memory_grow(&e->view_is_selected, &e->view_selected_capacity, out->selected,
                    sizeof *e->view_is_selected, "the result", err));
    selection_mark(out, e->view_is_selected);
    out->is_selected = e->view_is_selected;
    return ROOFS_OK;
}

roofs_status view_fill_groups(roofs_estimator *e, roofs_result *out, roofs_error *err)
{
    TRY(fill_groups(e, out, err));
    TRY(fill_spread(e, out, err));
    TRY(fill_scale(e, out, err));
    return fill_is_selected(e, out, err);
}
