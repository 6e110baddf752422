#include "cli/reproduce/trial.h"

#include "cli/print.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

void trial_key(const trial *t, char key[TRIAL_KEY])
{
    const setting *w = &t->what;
    snprintf(key, TRIAL_KEY,
             "%s%s%s n=%" PRId64 " p=%" PRId64 " mu=%" PRId64 " batch=%" PRId64
             " corruption=%g noise=%g %s seed=%" PRId64,
             t->timed ? "timed " : "", w->reviews ? "reviews " : "", t->who->name, w->n, w->p,
             w->mu, w->batch, w->corruption, w->noise_var,
             t->when == ARRIVAL_FIRST ? "first" : "random", t->seed);
}

typedef struct trial_fit {
    const trial *t;
    trial_data *data;
    const trial_context *context;
    double seconds; /* in calls of the library */
} trial_fit;

static roofs_settings settings_of(const trial_fit *r, double clean_ratio)
{
    const contender *who = r->t->who;
    roofs_method_info method;
    roofs_settings set;
    roofs_settings_init(&set);
    set.groups = ROOFS_GROUPS_OFF; /* no score depends on them */
    set.mu = r->t->what.mu;
    set.method = who->method;
    set.batch = r->t->what.batch;
    set.passes = who->passes;
    set.clean_ratio = clean_ratio;
    set.threads = 1;
    set.reading = who->reading;
    if (roofs_method_describe(roofs_method_find(who->method), &method) && method.gpu)
        set.device = r->context->device;
    if (r->data->plain)
        set.intercept = set.standardize = 0;
    return set;
}

static roofs_status trial_feed(trial_fit *r, roofs_estimator *e, int64_t features, roofs_error *err)
{
    const int64_t batch = r->t->what.batch;
    for (int64_t first = 0; first < features; first += batch) {
        int64_t left = features - first;
        roofs_block block;
        TRY(r->data->kind->block(r->data, first, left < batch ? left : batch, &block, err));
        double begin = seconds_now();
        TRY(roofs_consume(e, &block, err));
        r->seconds += seconds_now() - begin;
    }
    return ROOFS_OK;
}

/* ANSWER_FIRST reads only the first mu features. */
static roofs_status trial_read_stream(trial_fit *r, roofs_estimator *e, roofs_error *err)
{
    const setting *what = &r->t->what;
    int64_t features = r->t->who->kind == ANSWER_FIRST ? what->mu : what->p;
    TRY(trial_feed(r, e, features, err));
    for (int64_t pass = 2; pass <= r->t->who->passes; pass++) {
        TRY(roofs_next_pass(e, err));
        TRY(trial_feed(r, e, features, err));
    }
    double begin = seconds_now();
    TRY(roofs_finish(e, err));
    r->seconds += seconds_now() - begin;
    return ROOFS_OK;
}

static roofs_status fit_once(trial_fit *r, double clean_ratio, double *scores, roofs_error *err)
{
    roofs_settings set = settings_of(r, clean_ratio);
    roofs_estimator *e = NULL;
    roofs_result view;
    double begin = seconds_now();
    TRY(roofs_create(&e, &set, r->data->y, r->t->what.n, err));
    r->seconds = seconds_now() - begin;
    roofs_set_monitor(e, r->context->monitor, NULL);
    roofs_status status = trial_read_stream(r, e, err);
    if (status == ROOFS_OK)
        status = roofs_view(e, &view, err);
    if (status == ROOFS_OK)
        status = r->data->kind->score(r->data, &view, scores, err);
    scores[MEASURE_SECONDS] = r->seconds;
    roofs_destroy(e);
    return status;
}

/* Scores the mean over the clean ratios of the contender. */
static roofs_status fit_all(trial_fit *r, double *scores, roofs_error *err)
{
    const contender *who = r->t->who;
    if (who->ratio_count == 0)
        return fit_once(r, 0, scores, err);
    int64_t first = who->one_per_seed ? r->t->seed % who->ratio_count : 0;
    int64_t count = who->one_per_seed ? 1 : who->ratio_count;
    for (int64_t k = first; k < first + count; k++) {
        double one[MEASURES];
        for (int q = 0; q < MEASURES; q++)
            one[q] = NAN;
        TRY(fit_once(r, 1 - r->t->what.corruption * (1 + who->ratio_errors[k]), one, err));
        for (int q = 0; q < MEASURES; q++)
            scores[q] = (k == first ? 0 : scores[q]) + one[q] / (double)count;
    }
    return ROOFS_OK;
}

/* The true features of reviews are unknown, so their oracle is a fit of uncorrupted scores. */
static roofs_status make_data(const trial *t, const reviews *all, trial_data **data,
                              roofs_error *err)
{
    setting what = t->what;
    if (!what.reviews)
        return trial_data_simulate(data, &what, t->when, t->seed, err);
    if (t->who->kind == ANSWER_ORACLE)
        what.corruption = 0;
    return trial_data_reviews(data, all, &what, t->when, t->seed, err);
}

static int is_fit(const trial *t)
{
    answer_kind kind = t->who->kind;
    return kind == ANSWER_FIT || kind == ANSWER_FIRST || (kind == ANSWER_ORACLE && t->what.reviews);
}

roofs_status trial_run(const trial *t, const trial_context *context, double *scores,
                       roofs_error *err)
{
    trial_fit r = {.t = t, .context = context};
    for (int q = 0; q < MEASURES; q++)
        scores[q] = NAN;
    TRY(make_data(t, context->all, &r.data, err));
    roofs_status status;
    if (is_fit(t))
        status = fit_all(&r, scores, err);
    else
        status = r.data->kind->reference(r.data, t->who->kind, scores, err);
    r.data->kind->destroy(r.data);
    return status;
}
