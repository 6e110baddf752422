/* Predictions: the intercept, then the selected features in the order of the model. Both calls add
 * in this order, so they give the same bits. */
#include "base/block.h"

#include <math.h>
#include <string.h>

static void predict_add_feature(const roofs_block *x, int64_t feature, double coef,
                                double *prediction)
{
    const block_range values = block_values(x, feature);
    for (int64_t i = 0, at = values.first; i < values.count; i++, at += values.step)
        prediction[block_sample_of(x, at, i)] += coef * block_value(x, at);
}

/* The position of a feature of the model in the block; -1 if it is missing. */
static int64_t predict_find_feature(const roofs_block *x, const roofs_feature *f)
{
    if (!f->name || !x->names)
        return f->index < x->count ? f->index : -1;
    for (int64_t k = 0; k < x->count; k++)
        if (strcmp(x->names[k], f->name) == 0)
            return k;
    return -1;
}

static roofs_status predict_missing(const roofs_feature *f, int64_t count, roofs_error *err)
{
    return blame(
        err, f->index,
        fail(err, ROOFS_BAD_DATA, "feature %lld%s%s of the model is not among the %lld given",
             (long long)f->index, f->name ? " " : "", f->name ? f->name : "", (long long)count));
}

static roofs_status predict_check(const double *prediction, int64_t n, roofs_error *err)
{
    for (int64_t i = 0; i < n; i++)
        if (!isfinite(prediction[i]))
            return fail(err, ROOFS_BAD_DATA,
                        "the prediction of sample %lld (counted from 0) is not a finite number: a "
                        "value is missing, infinite or too large",
                        (long long)i);
    return ROOFS_OK;
}

/* `only_selected`: the block holds the features of the model, in its order, and no others. */
static roofs_status predict(const roofs_model *m, const roofs_block *given, int only_selected,
                            double *prediction, roofs_error *err)
{
    roofs_result view;
    roofs_block x;
    TRY(block_import(given, &x, err));
    TRY(block_check(&x, err));
    if (block_is_sparse(&x))
        TRY(block_check_pattern(&x, 0, err));
    roofs_model_view(m, &view);
    if (only_selected && x.count != view.selected)
        return fail(err, ROOFS_BAD_DATA, "the model has %lld features, the block %lld",
                    (long long)view.selected, (long long)x.count);
    for (int64_t i = 0; i < x.n; i++)
        prediction[i] = view.intercept;
    for (int64_t k = 0; k < view.selected; k++) {
        const roofs_feature *f = &view.features[k];
        int64_t at = only_selected ? k : predict_find_feature(&x, f);
        if (at < 0)
            return predict_missing(f, x.count, err);
        predict_add_feature(&x, at, f->coef, prediction);
    }
    return predict_check(prediction, x.n, err);
}

roofs_status roofs_predict(const roofs_model *m, const roofs_block *x, double *prediction,
                           roofs_error *err)
{
    REQUIRE(m);
    REQUIRE(x);
    REQUIRE(prediction);
    return predict(m, x, 0, prediction, err);
}

roofs_status roofs_predict_selected(const roofs_model *m, const roofs_block *x, double *prediction,
                                    roofs_error *err)
{
    REQUIRE(m);
    REQUIRE(x);
    REQUIRE(prediction);
    return predict(m, x, 1, prediction, err);
}
