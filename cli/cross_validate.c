#include "cli/cross_validate.h"

#include "base/block.h"
#include "base/memory.h"
#include "base/order.h"
#include "cli/folds.h"
#include "cli/interrupt.h"
#include "cli/progress.h"

#include <math.h>

typedef struct validation {
    const cv_question *q;
    folds folds;
    double *errors; /* n: y less the prediction of the fit that has not seen the sample */
    double *y;      /* the responses of a fold */
    double *weight; /* of its samples; NULL = none are given */
    progress bar;
    int64_t features_read; /* in all passes */
    roofs_estimator *fits[FOLDS];
    int reads[FOLDS]; /* the fit takes part in the current pass */
    roofs_result view[FOLDS];
} validation;

typedef roofs_status (*block_use)(validation *v, const roofs_block *block, int64_t first,
                                  roofs_error *err);

/* Calls `use` with every block of the stream. */
static roofs_status read_stream(validation *v, block_use use, roofs_error *err)
{
    source *s = NULL;
    roofs_block block = {0};
    int64_t first = 0;
    TRY(v->q->open(v->q->user, &s, err));
    roofs_status status;
    do {
        status = source_next(s, v->q->settings.batch, &block, err);
        if (status == ROOFS_OK && interrupt_signal())
            status = ROOFS_CANCELLED;
        if (status == ROOFS_OK && block.count > 0)
            status = use(v, &block, first, err);
        first += block.count;
        v->features_read += block.count;
        progress_show(&v->bar, v->features_read, "5 folds");
    } while (status == ROOFS_OK && block.count > 0);
    source_close(s);
    return status;
}

/* Predictions do not depend on groups. */
static roofs_status create_folds(validation *v, roofs_error *err)
{
    roofs_settings set = v->q->settings;
    set.groups = ROOFS_GROUPS_OFF;
    set.fdr = 0;
    for (int fold = 0; fold < FOLDS; fold++) {
        folds_choose(&v->folds, fold);
        for (int64_t i = 0; i < v->folds.train; i++)
            v->y[i] = v->q->y[v->folds.fitted[i]];
        for (int64_t i = 0; v->weight && i < v->folds.train; i++)
            v->weight[i] = v->q->weight[v->folds.fitted[i]];
        v->reads[fold] = 1;
        TRY(roofs_create_weighted(&v->fits[fold], &set, v->y, v->weight, v->folds.train, NULL,
                                  err));
    }
    return ROOFS_OK;
}

static roofs_status fit_block(validation *v, const roofs_block *block, int64_t first,
                              roofs_error *err)
{
    (void)first;
    for (int fold = 0; fold < FOLDS; fold++) {
        roofs_block subset = {0};
        if (!v->reads[fold])
            continue;
        folds_choose(&v->folds, fold);
        TRY(folds_subset(&v->folds, block, &subset, err));
        TRY(roofs_consume(v->fits[fold], &subset, err));
    }
    return ROOFS_OK;
}

/* *readers = the number of fits that another pass can improve. */
static roofs_status begin_next_pass(validation *v, int *readers, roofs_error *err)
{
    *readers = 0;
    for (int fold = 0; fold < FOLDS; fold++) {
        v->reads[fold] = v->reads[fold] && roofs_wants_pass(v->fits[fold]);
        if (v->reads[fold])
            TRY(roofs_next_pass(v->fits[fold], err));
        *readers += v->reads[fold];
    }
    if (*readers > 0 && v->q->settings.passes == 0)
        v->bar.total += v->q->features; /* the number of passes was not known */
    return ROOFS_OK;
}

static roofs_status fit_folds(validation *v, roofs_error *err)
{
    int readers = 1;
    TRY(create_folds(v, err));
    while (readers > 0) {
        TRY(read_stream(v, fit_block, err));
        TRY(begin_next_pass(v, &readers, err));
    }
    for (int fold = 0; fold < FOLDS; fold++) {
        TRY(roofs_finish(v->fits[fold], err));
        TRY(roofs_view(v->fits[fold], &v->view[fold], err));
    }
    return ROOFS_OK;
}

/* Subtracts what the features of this block contribute to the predictions of held-out samples. */
static roofs_status score_block(validation *v, const roofs_block *block, int64_t first,
                                roofs_error *err)
{
    (void)err;
    for (int fold = 0; fold < FOLDS; fold++)
        for (int64_t k = 0; k < v->view[fold].selected; k++) {
            const roofs_feature *f = &v->view[fold].features[k];
            if (f->index < first || f->index >= first + block->count)
                continue;
            for (int64_t i = fold; i < v->folds.n; i += FOLDS) {
                const int64_t sample = v->folds.order[i];
                v->errors[sample] -= f->coef * block_at(block, f->index - first, sample);
            }
        }
    return ROOFS_OK;
}

static roofs_status score_folds(validation *v, roofs_error *err)
{
    for (int64_t i = 0; i < v->folds.n; i++)
        v->errors[i] = v->q->y[i] - v->view[fold_of(&v->folds, i)].intercept;
    return read_stream(v, score_block, err);
}

/* How much the error of a sample counts: the probability that its response is clean, as often as
 * the sample counts. */
static double weight_of(const validation *v, const roofs_result *model, int64_t sample)
{
    const double clean = model->clean ? model->clean[sample] : model->trust[sample];
    return v->q->weight ? v->q->weight[sample] * clean : clean;
}

/* Weighted quantiles of the absolute errors. A new sample has weight 1 and may have any error:
 * levels that would need it have no interval. */
static roofs_status store_half_widths(const validation *v, roofs_model *model, roofs_error *err)
{
    double half[ROOFS_HALF_WIDTH_STEPS], total = 1, below = 0;
    int64_t count = 0;
    roofs_result result;
    order sorted;
    roofs_model_view(model, &result);
    TRY(order_create(&sorted, v->folds.n, err));
    order_sort(&sorted, v->errors, v->folds.n);
    for (int64_t i = 0; i < v->folds.n; i++)
        total += weight_of(v, &result, i);
    for (int64_t i = 0; i < v->folds.n; i++) {
        below += weight_of(v, &result, sorted.items[i].place);
        while (count + 1 < ROOFS_HALF_WIDTH_STEPS &&
               below >= total * (double)(count + 1) / ROOFS_HALF_WIDTH_STEPS)
            half[count++] = order_value(&sorted, i);
    }
    order_destroy(&sorted);
    return count > 0 ? roofs_model_set_half_widths(model, count, half, err)
                     : fail(err, ROOFS_BAD_DATA, "no sample is clean: no interval can be found");
}

roofs_status cross_validate(const cv_question *q, roofs_model *model, roofs_error *err)
{
    validation v = {.q = q};
    const int64_t passes = q->settings.passes > 0 ? q->settings.passes : 1;
    progress_begin(&v.bar, "intervals", q->features * (passes + 1), q->quiet);
    roofs_status status = folds_create(&v.folds, q->n, "--intervals cv", err);
    if (status == ROOFS_OK)
        status = memory_get(&v.errors, q->n, sizeof *v.errors, "the errors", err);
    if (status == ROOFS_OK)
        status = memory_get(&v.y, q->n, sizeof *v.y, "the responses", err);
    if (status == ROOFS_OK && q->weight)
        status = memory_get(&v.weight, q->n, sizeof *v.weight, "the weights", err);
    if (status == ROOFS_OK)
        status = fit_folds(&v, err);
    if (status == ROOFS_OK)
        status = score_folds(&v, err);
    if (status == ROOFS_OK)
        status = store_half_widths(&v, model, err);
    progress_end(&v.bar);
    for (int fold = 0; fold < FOLDS; fold++)
        roofs_destroy(v.fits[fold]);
    folds_free(&v.folds);
    memory_free(v.errors);
    memory_free(v.y);
    memory_free(v.weight);
    return status;
}
