/* Cross-validation with five folds: every candidate for mu is fitted on four fifths of the samples
 * and scored on the held-out fifth. Held-out samples are corrupted too, so only the smallest errors
 * count: 90% of the share that the fits trust. Each pass reads the stream once for all fits of a
 * fold, and scoring reads it once more. */
#include "cli/choose_mu.h"

#include "base/block.h"
#include "base/memory.h"
#include "base/order.h"
#include "base/portable_math.h"
#include "base/sorted.h"
#include "base/status.h"
#include "cli/folds.h"
#include "cli/interrupt.h"
#include "cli/progress.h"

#include <math.h>
#include <stdio.h>

enum { STEPS = 8 };

typedef struct chooser {
    const mu_question *q;
    int64_t path[STEPS], steps;
    folds folds;
    double *errors; /* steps x n: y less the prediction of the fit that has not seen the sample */
    double trusted[STEPS][FOLDS];
    double trimmed[STEPS][FOLDS];
    double *y;      /* the responses that the current fold fits */
    double *weight; /* of these samples; NULL = none are given */
    progress bar;
    int64_t features_read; /* over all folds and passes */
    roofs_estimator *fits[STEPS];
    int reads[STEPS]; /* the fit takes part in the current pass */
    roofs_result view[STEPS];
} chooser;

/* Candidates from 2 to the most. */
static void fill_path(chooser *c)
{
    double most = (double)c->q->settings->mu;
    double first = fmin(2, most);
    for (int k = 0; k < STEPS; k++) {
        int64_t mu = llround(first * math_pow(most / first, (double)k / (STEPS - 1)));
        if (c->steps == 0 || mu > c->path[c->steps - 1])
            c->path[c->steps++] = mu;
    }
}

static roofs_status begin_choice(chooser *c, roofs_error *err)
{
    int64_t n = c->q->n;
    TRY(folds_create(&c->folds, n, "--mu auto", err));
    fill_path(c);
    TRY(memory_get(&c->errors, (c->steps + 2) * n, sizeof *c->errors, "the choice of mu", err));
    c->y = c->errors + c->steps * n;
    c->weight = c->q->weight ? c->y + n : NULL;
    return ROOFS_OK;
}

/* ---- one fold ---------------------------------------------------------- */

typedef roofs_status (*block_use)(chooser *c, int fold, const roofs_block *block, int64_t first,
                                  roofs_error *err);

/* Calls `use` with every block of the stream. */
static roofs_status read_for_fold(chooser *c, int fold, block_use use, roofs_error *err)
{
    source *s = NULL;
    roofs_block block = {0};
    int64_t first = 0;
    TRY(c->q->open(c->q->user, &s, err));
    roofs_status status;
    do {
        status = source_next(s, c->q->settings->batch, &block, err);
        if (status == ROOFS_OK && interrupt_signal())
            status = ROOFS_CANCELLED;
        if (status == ROOFS_OK && block.count > 0)
            status = use(c, fold, &block, first, err);
        first += block.count;
    } while (status == ROOFS_OK && block.count > 0);
    source_close(s);
    return status;
}

static void show_fold(chooser *c, int fold, int64_t count)
{
    char detail[64];
    c->features_read += count;
    snprintf(detail, sizeof detail, "fold %d of %d", fold + 1, FOLDS);
    progress_show(&c->bar, c->features_read, detail);
}

/* Passes the samples of the other folds to all fits. */
static roofs_status fit_fold_block(chooser *c, int fold, const roofs_block *block, int64_t first,
                                   roofs_error *err)
{
    roofs_block subset = {0};
    (void)first;
    TRY(folds_subset(&c->folds, block, &subset, err));
    for (int64_t m = 0; m < c->steps; m++)
        if (c->reads[m])
            TRY(roofs_consume(c->fits[m], &subset, err));
    show_fold(c, fold, block->count);
    return ROOFS_OK;
}

static roofs_status create_fits(chooser *c, int fold, roofs_error *err)
{
    folds_choose(&c->folds, fold);
    for (int64_t i = 0; i < c->folds.train; i++)
        c->y[i] = c->q->y[c->folds.fitted[i]];
    for (int64_t i = 0; c->weight && i < c->folds.train; i++)
        c->weight[i] = c->q->weight[c->folds.fitted[i]];
    for (int64_t m = 0; m < c->steps; m++) {
        roofs_settings set = *c->q->settings;
        set.mu = c->path[m];
        set.groups = ROOFS_GROUPS_OFF; /* predictions do not depend on groups */
        set.fdr = 0;
        c->reads[m] = 1;
        TRY(roofs_create_weighted(&c->fits[m], &set, c->y, c->weight, c->folds.train, NULL, err));
    }
    return ROOFS_OK;
}

/* *readers = the number of fits that another pass can improve. */
static roofs_status begin_next_pass(chooser *c, int *readers, roofs_error *err)
{
    *readers = 0;
    for (int64_t m = 0; m < c->steps; m++) {
        c->reads[m] = c->reads[m] && roofs_wants_pass(c->fits[m]);
        if (c->reads[m])
            TRY(roofs_next_pass(c->fits[m], err));
        *readers += c->reads[m];
    }
    if (*readers > 0 && c->q->settings->passes == 0)
        c->bar.total += c->q->features; /* the number of passes was not known */
    return ROOFS_OK;
}

/* Samples count by their weights. */
static double trusted_share(const chooser *c, const roofs_result *view)
{
    double trusted = 0, all = 0;
    if (!c->weight)
        return (double)view->trusted / (double)c->folds.train;
    for (int64_t i = 0; i < c->folds.train; i++) {
        trusted += view->trust[i] ? c->weight[i] : 0;
        all += c->weight[i];
    }
    return trusted / all;
}

static roofs_status fit_fold(chooser *c, int fold, roofs_error *err)
{
    int readers = 1;
    TRY(create_fits(c, fold, err));
    while (readers > 0) {
        TRY(read_for_fold(c, fold, fit_fold_block, err));
        TRY(begin_next_pass(c, &readers, err));
    }
    for (int64_t m = 0; m < c->steps; m++) {
        TRY(roofs_finish(c->fits[m], err));
        TRY(roofs_view(c->fits[m], &c->view[m], err));
        c->trusted[m][fold] = trusted_share(c, &c->view[m]);
    }
    return ROOFS_OK;
}

/* Subtracts the contribution of the selected features of this block from the held-out responses. */
static roofs_status score_block(chooser *c, int fold, const roofs_block *block, int64_t first,
                                roofs_error *err)
{
    (void)err;
    for (int64_t m = 0; m < c->steps; m++)
        for (int64_t k = 0; k < c->view[m].selected; k++) {
            const roofs_feature *f = &c->view[m].features[k];
            if (f->index < first || f->index >= first + block->count)
                continue;
            double *errors = c->errors + m * c->q->n;
            for (int64_t i = fold; i < c->q->n; i += FOLDS)
                errors[i] -= f->coef * block_at(block, f->index - first, c->folds.order[i]);
        }
    return ROOFS_OK;
}

static roofs_status score_fold(chooser *c, int fold, roofs_error *err)
{
    for (int64_t m = 0; m < c->steps; m++)
        for (int64_t i = fold; i < c->q->n; i += FOLDS)
            c->errors[m * c->q->n + i] = c->q->y[c->folds.order[i]] - c->view[m].intercept;
    return read_for_fold(c, fold, score_block, err);
}

static void end_fold(chooser *c)
{
    for (int64_t m = 0; m < c->steps; m++) {
        roofs_destroy(c->fits[m]);
        c->fits[m] = NULL;
    }
}

/* ---- the choice -------------------------------------------------------- */

static double mean_over_folds(const double *x)
{
    double sum = 0;
    for (int k = 0; k < FOLDS; k++)
        sum += x[k];
    return sum / FOLDS;
}

/* The share of the errors that count: nine tenths of the smallest share that any fit trusts. */
static double counted_share(const chooser *c)
{
    double least = 1;
    for (int64_t m = 0; m < c->steps; m++)
        least = fmin(least, mean_over_folds(c->trusted[m]));
    return fmax(0.5, 0.9 * least);
}

/* The same with weights: a sample counts as often as its weight says. */
static roofs_status trim_weighted(chooser *c, int64_t m, int fold, double share, roofs_error *err)
{
    const double *errors = c->errors + m * c->q->n;
    double all = 0, sum = 0;
    int64_t count = 0;
    order sorted;
    for (int64_t i = fold; i < c->q->n; i += FOLDS) {
        c->weight[count] = c->q->weight[c->folds.order[i]];
        all += c->weight[count];
        c->y[count++] = errors[i];
    }
    TRY(order_create(&sorted, count, err));
    order_sort(&sorted, c->y, count);
    const double counted = fmax(1, floor(share * all));
    double left = fmin(counted, all);
    for (int64_t k = 0; k < count && left > 0; k++) {
        const double weight = fmin(left, c->weight[sorted.items[k].place]);
        sum += weight * order_value(&sorted, k);
        left -= weight;
    }
    order_destroy(&sorted);
    c->trimmed[m][fold] = all > 0 ? sum / fmin(counted, all) : 0;
    return ROOFS_OK;
}

/* Mean of the smallest absolute errors of the held-out samples. */
static roofs_status trim_errors(chooser *c, int64_t m, int fold, double share, roofs_error *err)
{
    const double *errors = c->errors + m * c->q->n;
    double *sorted = NULL, sum = 0;
    int64_t count = 0;
    for (int64_t i = fold; i < c->q->n; i += FOLDS)
        c->y[count++] = fabs(errors[i]); /* reuses y as a buffer */
    TRY(sorted_copy(&sorted, c->y, count, err));
    int64_t counted = (int64_t)fmax(1, floor(share * (double)count));
    for (int64_t k = 0; k < counted; k++)
        sum += sorted[k];
    memory_free(sorted);
    c->trimmed[m][fold] = sum / (double)counted;
    return ROOFS_OK;
}

/* The largest candidate whose error exceeds the smallest error by less than one percent. More
 * features than needed cost little, because their probabilities shrink them; too few cost much. */
static int64_t largest_good(const chooser *c)
{
    double best = mean_over_folds(c->trimmed[0]);
    for (int64_t m = 1; m < c->steps; m++)
        best = fmin(best, mean_over_folds(c->trimmed[m]));
    int64_t m = c->steps - 1;
    while (m > 0 && mean_over_folds(c->trimmed[m]) > 1.01 * best)
        m--;
    return c->path[m];
}

static roofs_status try_path(chooser *c, roofs_error *err)
{
    TRY(begin_choice(c, err));
    for (int fold = 0; fold < FOLDS; fold++) {
        TRY(fit_fold(c, fold, err));
        TRY(score_fold(c, fold, err));
        end_fold(c);
    }
    double share = counted_share(c);
    for (int64_t m = 0; m < c->steps; m++)
        for (int fold = 0; fold < FOLDS; fold++)
            TRY((c->weight ? trim_weighted : trim_errors)(c, m, fold, share, err));
    return ROOFS_OK;
}

roofs_status choose_mu(const mu_question *q, int64_t *mu, roofs_error *err)
{
    chooser c = {.q = q};
    const int64_t passes = q->settings->passes > 0 ? q->settings->passes : 1;
    progress_begin(&c.bar, "choosing mu", q->features * FOLDS * passes, q->quiet);
    c.bar.unit = NULL; /* every feature counts once per fold */
    roofs_status status = try_path(&c, err);
    if (status == ROOFS_OK)
        *mu = largest_good(&c);
    progress_end(&c.bar);
    end_fold(&c);
    folds_free(&c.folds);
    memory_free(c.errors);
    return status;
}
