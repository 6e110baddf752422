/* Predictions: intercept first, then the selected features in the order of the
 * model, so that every way of asking gives the same bits. */
#include "base/block.h"

#include <string.h>

static void add_feature(const roofs_block *x, int64_t feature, double coef, double *prediction)
{
    const int64_t at = feature * x->feature_stride;
    for (int64_t i = 0; !block_is_sparse(x) && i < x->n; i++)
        prediction[i] += coef * block_value(x, at + i * x->sample_stride);
    if (!block_is_sparse(x))
        return;
    for (int64_t k = block_start(x, feature); k < block_start(x, feature + 1); k++)
        prediction[block_sample(x, k)] += coef * block_value(x, k);
}

static roofs_status take_block(const roofs_block *given, roofs_block *x, roofs_error *err)
{
    TRY(block_import(given, x, err));
    TRY(block_check(x, err));
    return block_is_sparse(x) ? block_check_pattern(x, 0, err) : ROOFS_OK;
}

static void set_level(double level, int64_t n, double *prediction)
{
    for (int64_t i = 0; i < n; i++)
        prediction[i] = level;
}

/* Where in the block is feature k of the model? -1: nowhere. */
static int64_t find(const roofs_block *x, const roofs_feature *f)
{
    if (!f->name || !x->names)
        return f->index < x->count ? f->index : -1;
    for (int64_t k = 0; k < x->count; k++)
        if (strcmp(x->names[k], f->name) == 0)
            return k;
    return -1;
}

roofs_status roofs_predict(const roofs_model *m, const roofs_block *x, double *prediction,
                           roofs_error *err)
{
    roofs_result view;
    roofs_block own;
    REQUIRE(m);
    REQUIRE(x);
    REQUIRE(prediction);
    TRY(take_block(x, &own, err));
    x = &own;
    roofs_model_view(m, &view);
    set_level(view.intercept, x->n, prediction);
    for (int64_t k = 0; k < view.selected; k++) {
        const roofs_feature *f = &view.features[k];
        int64_t at = find(x, f);
        if (at < 0) {
            fail(err, ROOFS_BAD_DATA, "feature %lld%s%s of the model is not among the %lld given",
                 (long long)f->index, f->name ? " " : "", f->name ? f->name : "",
                 (long long)x->count);
            return blame(err, f->index, ROOFS_BAD_DATA);
        }
        add_feature(x, at, f->coef, prediction);
    }
    return ROOFS_OK;
}

roofs_status roofs_predict_selected(const roofs_model *m, const roofs_block *x, double *prediction,
                                    roofs_error *err)
{
    roofs_result view;
    roofs_block own;
    REQUIRE(m);
    REQUIRE(x);
    REQUIRE(prediction);
    TRY(take_block(x, &own, err));
    x = &own;
    roofs_model_view(m, &view);
    if (x->count != view.selected)
        return fail(err, ROOFS_BAD_DATA, "the model has %lld features, the block %lld",
                    (long long)view.selected, (long long)x->count);
    set_level(view.intercept, x->n, prediction);
    for (int64_t k = 0; k < view.selected; k++)
        add_feature(x, k, view.features[k].coef, prediction);
    return ROOFS_OK;
}
