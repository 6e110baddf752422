/* Predictions: the intercept, then the selected features in the order of the model. All calls add
 * in this order, so they give the same bits. */
#include "base/block.h"
#include "base/interval.h"

#include <math.h>
#include <string.h>

/* What a call adds up, one number per sample. */
typedef struct sums {
    double *prediction;
    double *variance;         /* NULL = not wanted */
    const interval *interval; /* for variance */
} sums;

static void predict_add_feature(const roofs_block *x, int64_t feature, double coef,
                                double *prediction)
{
    const block_range values = block_values(x, feature);
    for (int64_t i = 0, at = values.first; i < values.count; i++, at += values.step)
        prediction[block_sample_of(x, at, i)] += coef * block_value(x, at);
}

/* Values that a sparse block does not list are 0. Its samples ascend. */
static void predict_add_variance(const roofs_block *x, int64_t feature, const roofs_spread *spread,
                                 const sums *to)
{
    const block_range values = block_values(x, feature);
    int64_t at = values.first, next = 0;
    for (int64_t i = 0; i < x->n; i++) {
        double value = 0;
        if (next < values.count && block_sample_of(x, at, next) == i) {
            value = block_value(x, at);
            at += values.step;
            next++;
        }
        to->variance[i] += interval_term(to->interval, spread, value);
    }
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

/* `only_selected`: the block holds the features of the model, in its order, and no others. x is the
 * block of the caller, checked. */
static roofs_status predict_import(const roofs_result *model, const roofs_block *given,
                                   int only_selected, roofs_block *x, roofs_error *err)
{
    TRY(block_import(given, x, err));
    TRY(block_check(x, err));
    if (block_is_sparse(x))
        TRY(block_check_pattern(x, 0, err));
    if (only_selected && x->count != model->selected)
        return fail(err, ROOFS_BAD_DATA, "the model has %lld features, the block %lld",
                    (long long)model->selected, (long long)x->count);
    return ROOFS_OK;
}

static roofs_status predict_sum(const roofs_result *model, const roofs_block *x, int only_selected,
                                const sums *to, roofs_error *err)
{
    for (int64_t i = 0; i < x->n; i++) {
        to->prediction[i] = model->intercept;
        if (to->variance)
            to->variance[i] = to->interval->variance;
    }
    for (int64_t k = 0; k < model->selected; k++) {
        const roofs_feature *f = &model->features[k];
        int64_t at = only_selected ? k : predict_find_feature(x, f);
        if (at < 0)
            return predict_missing(f, x->count, err);
        predict_add_feature(x, at, f->coef, to->prediction);
        if (to->variance)
            predict_add_variance(x, at, &model->spread[k], to);
    }
    return ROOFS_OK;
}

static roofs_status predict(const roofs_model *m, const roofs_block *given, int only_selected,
                            double *prediction, roofs_error *err)
{
    roofs_result model;
    roofs_block x;
    roofs_model_view(m, &model);
    TRY(predict_import(&model, given, only_selected, &x, err));
    TRY(predict_sum(&model, &x, only_selected, &(sums){.prediction = prediction}, err));
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

/* `low` holds predictions and `high` variances until they become the ends. */
roofs_status roofs_predict_interval(const roofs_model *m, const roofs_block *x, int only_selected,
                                    double level, double *prediction, double *low, double *high,
                                    roofs_error *err)
{
    roofs_result model;
    roofs_block own;
    interval v;
    REQUIRE(m);
    REQUIRE(x);
    REQUIRE(low);
    REQUIRE(high);
    roofs_model_view(m, &model);
    TRY(interval_begin(&v, &model, level, "roofs_predict_interval", err));
    TRY(predict_import(&model, x, only_selected, &own, err));
    TRY(predict_sum(&model, &own, only_selected, &(sums){low, high, &v}, err));
    for (int64_t i = 0; i < own.n; i++) {
        const double middle = low[i];
        if (prediction)
            prediction[i] = middle;
        interval_ends(&v, middle, high[i], &low[i], &high[i]);
    }
    return ROOFS_OK;
}
