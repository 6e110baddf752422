/* The result of a fit, in the units of the caller. */
#include "api/estimator.h"
#include "api/hypotheses.h"
#include "api/settings.h"
#include "api/view_groups.h"
#include "base/memory.h"
#include "base/sized.h"
#include "model/model.h"
#include "model/selection.h"
#include "robust/mixture_formula.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

/* The fit uses z = (x 2^-exponent - center) factor and y 2^-y_exponent. */
static double coef_in_caller_units(const fit *f, int64_t j)
{
    const column *c = &f->cols.items[j];
    return ldexp(c->coef * f->cols.places[j].factor, f->y_exponent - c->exponent);
}

static double intercept_in_caller_units(const fit *f)
{
    double level = f->intercept;
    for (int64_t j = 0; j < f->cols.count; j++) {
        const device_column *place = &f->cols.places[j];
        level -= f->cols.items[j].coef * place->factor * place->center;
    }
    return ldexp(level, f->y_exponent);
}

static roofs_status view_reserve(roofs_estimator *e, roofs_error *err)
{
    TRY(memory_grow(&e->view_features, &e->view_capacity, e->f->cols.count,
                    sizeof *e->view_features, "the result", err));
    if (!e->view_trust)
        TRY(memory_get(&e->view_trust, e->f->n, sizeof *e->view_trust, "the result", err));
    if (!e->view_residual)
        TRY(memory_get(&e->view_residual, e->f->n, sizeof *e->view_residual, "the result", err));
    return ROOFS_OK;
}

/* Fills view_features with the selected features, by index. Returns their number. */
static int64_t view_fill_features(roofs_estimator *e)
{
    int64_t selected = 0;
    for (int64_t j = 0; j < e->f->cols.count; j++) {
        const column *c = &e->f->cols.items[j];
        if (c->coef == 0)
            continue;
        e->view_features[selected++] =
            (roofs_feature){.index = c->feature,
                            .name = c->name,
                            .coef = coef_in_caller_units(e->f, j),
                            .probability = e->m->has_probability ? c->probability : NAN};
    }
    if (selected > 0)
        qsort(e->view_features, (size_t)selected, sizeof *e->view_features, selection_compare);
    return selected;
}

static int64_t selected_by(const roofs_settings *set)
{
    return set->fdr > 0                         ? SELECTED_BY_GROUP
           : set->select == ROOFS_SELECT_LIKELY ? SELECTED_LIKELY
                                                : SELECTED_ALL;
}

static roofs_stop stop_of(const fit *f)
{
    if (f->cols.count == 0)
        return ROOFS_STOP_EMPTY;
    return warnings_of(f) & ROOFS_WARNING_NOT_SETTLED ? ROOFS_STOP_MAX_ITER : ROOFS_STOP_SETTLED;
}

static roofs_status refuse_number(const char *what, int64_t which, roofs_error *err)
{
    char index[24] = "";
    if (which >= 0)
        snprintf(index, sizeof index, " %lld", (long long)which);
    return fail(err, ROOFS_BAD_DATA,
                "%s%s is beyond the largest number; use another unit for the features or the "
                "response",
                what, index);
}

/* BAD_DATA if a number does not exist in the units of the caller. `first`: the first sample. */
static roofs_status check_finite(const roofs_result *r, int64_t first, roofs_error *err)
{
    for (int64_t k = 0; k < r->selected; k++)
        if (!isfinite(r->features[k].coef))
            return refuse_number("the coefficient of feature", r->features[k].index, err);
    if (!isfinite(r->intercept))
        return refuse_number("the intercept", -1, err);
    for (int64_t i = 0; i < r->n; i++)
        if (!isfinite(r->residual[i]))
            return refuse_number("the residual of sample", first + i, err);
    if (!isfinite(r->cut))
        return refuse_number("the largest residual of the trusted samples", -1, err);
    return ROOFS_OK;
}

static roofs_status view_fill(roofs_estimator *e, roofs_result *out, roofs_error *err)
{
    const fit *f = e->f;
    if (e->phase == PHASE_BROKEN)
        return fail(err, ROOFS_BAD_CALL,
                    "roofs_view: the estimator has failed and can only be destroyed");
    TRY(view_reserve(e, err));
    for (int64_t i = 0; i < f->n; i++) {
        e->view_trust[i] = f->trusted.mask[i] > TRUSTED;
        e->view_residual[i] = ldexp(f->residual[i], f->y_exponent);
    }
    int64_t selected = view_fill_features(e);
    *out = (roofs_result){
        .method = e->m->name,
        .n = f->n,
        .features_seen = f->features_seen,
        .constant = f->cols.constant,
        .selected = selected,
        .features = e->view_features,
        .intercept = intercept_in_caller_units(f),
        .trusted = f->trusted.count,
        .trust = e->view_trust,
        .clean = e->m->has_probability ? f->trusted.mask : NULL,
        .residual = e->view_residual,
        .cut = ldexp(f->trusted.cut, f->y_exponent),
        .rounds = f->rounds,
        .batches = f->batches,
        .history = e->history,
        .stop = stop_of(f),
        .by_probability = selected_by(&f->set),
        .hypotheses = hypotheses_compared(e),
        .hypothesis = f->start,
        .warnings = warnings_of(f),
        .fdr = f->set.fdr,
    };
    TRY(view_fill_groups(e, out, err));
    return check_finite(out, comm_first(&f->comm), err);
}

roofs_status roofs_view_sized(roofs_estimator *e, roofs_result *out, size_t size, roofs_error *err)
{
    roofs_result view;
    REQUIRE(e);
    REQUIRE(out);
    TRY(view_fill(e, &view, err));
    sized_export(&result_type, out, size, &view);
    return ROOFS_OK;
}

roofs_status roofs_model_create(roofs_model **out, roofs_estimator *e, roofs_error *err)
{
    roofs_result view;
    REQUIRE(out);
    *out = NULL;
    REQUIRE(e);
    const roofs_status own = view_fill(e, &view, err);
    json_t *settings = own == ROOFS_OK ? settings_to_json(&e->f->set) : NULL;
    const model_samples samples = {.y = e->f->y,
                                   .residual = e->f->residual,
                                   .case_weight = e->f->case_weight,
                                   .pivot = e->f->intercept,
                                   .exponent = e->f->y_exponent};
    return model_build(out, own, &view, &samples, &e->f->comm, settings, err);
}
