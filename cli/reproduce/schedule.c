#include "cli/reproduce/schedule.h"

#include "base/memory.h"
#include "base/threads.h"
#include "cli/interrupt.h"
#include "cli/print.h"
#include "cli/progress.h"

#include <math.h>
#include <stdlib.h>

/* ---- the list of trials ------------------------------------------------ */

int64_t seeds_allowed(const experiment *e, const contender *who, const setting *what,
                      double patience)
{
    double most = floor((patience > 0 ? patience : e->patience) / expected_seconds(who, what));
    int64_t wanted = who->seeds < e->seeds ? who->seeds : e->seeds;
    return most < (double)wanted ? (int64_t)most : wanted;
}

/* True if the trial has run or is listed; tables and figures share trials. */
static int is_known(const schedule *s, const journal *j, const char *key)
{
    double scores[MEASURES];
    const char *failure;
    return journal_find(j, key, scores, &failure) || json_object_get(s->listed, key);
}

static roofs_status add_trial(schedule *s, const trial *t, const journal *j, roofs_error *err)
{
    char key[TRIAL_KEY];
    trial_key(t, key);
    if (is_known(s, j, key))
        return ROOFS_OK;
    if (!s->listed)
        s->listed = json_object();
    if (json_object_set_new(s->listed, key, json_true()) != 0)
        return fail(err, ROOFS_NO_MEMORY, "no memory for the list of trials");
    TRY(memory_grow(&s->trials, &s->capacity, s->count + 1, sizeof *s->trials, "the trials", err));
    s->trials[s->count++] = *t;
    return ROOFS_OK;
}

static roofs_status add_point(schedule *s, const catalogue *c, const experiment *e,
                              const setting *what, double patience, const journal *j,
                              roofs_error *err)
{
    for (int64_t row = 0; row < c->rows; row++) {
        trial t = {.who = &c->row[row], .what = *what, .timed = e->timed};
        int64_t seeds = seeds_allowed(e, t.who, what, patience);
        for (t.seed = 1; t.seed <= seeds; t.seed++)
            for (int k = 0; k < ARRIVALS; k++) {
                t.when = (arrival)k;
                TRY(add_trial(s, &t, j, err));
            }
    }
    return ROOFS_OK;
}

/* Timed trials last, otherwise the longest first: so no core is idle at the end. */
static int by_order_of_runs(const void *left, const void *right)
{
    const trial *a = left, *b = right;
    if (a->timed != b->timed)
        return a->timed - b->timed;
    double x = expected_seconds(a->who, &a->what), y = expected_seconds(b->who, &b->what);
    return (x < y) - (x > y);
}

roofs_status schedule_add(schedule *s, const catalogue *c, const experiment *e, double patience,
                          const journal *j, roofs_error *err)
{
    for (int64_t q = 0; q < e->panel_count; q++)
        for (int64_t k = 0; k < e->panels[q].points; k++)
            TRY(add_point(s, c, e, &e->panels[q].settings[k], patience, j, err));
    if (s->count > 0)
        qsort(s->trials, (size_t)s->count, sizeof *s->trials, by_order_of_runs);
    return ROOFS_OK;
}

void schedule_free(schedule *s)
{
    memory_free(s->trials);
    json_decref(s->listed);
    *s = (schedule){0};
}

static int64_t first_timed(const schedule *s)
{
    int64_t k = 0;
    while (k < s->count && !s->trials[k].timed)
        k++;
    return k;
}

int64_t schedule_cores(void)
{
    return threads_count(0);
}

static double trial_wall_seconds(const trial *t, int64_t workers)
{
    return expected_seconds(t->who, &t->what) / (t->timed ? 1 : (double)workers);
}

double schedule_wall_seconds(const schedule *s, int64_t workers)
{
    double sum = 0;
    for (int64_t k = 0; k < s->count; k++)
        sum += trial_wall_seconds(&s->trials[k], workers);
    return sum;
}

/* ---- running ----------------------------------------------------------- */

typedef struct work {
    const schedule *s;
    const schedule_options *how;
    journal *journal;
    reviews *all;
    progress bar;
    int64_t done;
    double seconds_done; /* expected wall-clock time */
    double printed;      /* time of the last line of a log */
    roofs_status status;
    roofs_error *err;
} work;

static int schedule_monitor(void *user, const roofs_progress *now)
{
    (void)user;
    (void)now;
    return interrupt_signal();
}

/* Shows a bar on a terminal; prints a line per minute otherwise. */
static void schedule_show(work *w)
{
    static const double BETWEEN = 60;
    double now = seconds_now(), elapsed = now - w->bar.started;
    char detail[120];
    snprintf(detail, sizeof detail, "%s of %s trials", text_of_count(w->done).text,
             text_of_count(w->s->count).text);
    progress_show(&w->bar, (int64_t)(1000 * w->seconds_done), detail);
    if (w->bar.enabled || w->how->quiet || now - w->printed < BETWEEN)
        return;
    double whole = (double)w->bar.total / 1000;
    complain("reproduce", "%s, about %s left", detail,
             text_of_seconds(elapsed * (whole / w->seconds_done - 1)).text);
    w->printed = now;
}

/* Records a trial. An impossible trial, such as a joint fit with more features than samples, is a
 * result. A signal, no memory or a full disk is not. */
static void record_trial(work *w, const trial *t, roofs_status status, const double *scores,
                         const roofs_error *why)
{
    char key[TRIAL_KEY];
    roofs_status written = ROOFS_OK;
    trial_key(t, key);
    if (status == ROOFS_OK || status == ROOFS_BAD_SETTING)
        written = journal_add(w->journal, key, scores, status ? why->text : NULL, w->err);
    else if (status != ROOFS_CANCELLED && w->status == ROOFS_OK)
        w->status = fail(w->err, status, "%s: %s", key, why->text);
    if (written != ROOFS_OK)
        w->status = written;
    w->done++;
    w->seconds_done += trial_wall_seconds(t, w->how->workers);
    schedule_show(w);
}

static void schedule_run_trial(work *w, const trial *t)
{
    double scores[MEASURES];
    roofs_error why = {0};
    const trial_context context = {w->all, w->how->device, schedule_monitor};
    roofs_status status = trial_run(t, &context, scores, &why);
#pragma omp critical(reproduce)
    record_trial(w, t, status, scores, &why);
}

static void schedule_run_range(work *w, int64_t from, int64_t to, int64_t workers)
{
#pragma omp parallel for schedule(dynamic, 1) num_threads((int)workers)
    for (int64_t k = from; k < to; k++) {
        int stop;
#pragma omp critical(reproduce)
        stop = w->status != ROOFS_OK || interrupt_signal();
        if (!stop)
            schedule_run_trial(w, &w->s->trials[k]);
    }
}

static int needs_reviews(const schedule *s)
{
    for (int64_t k = 0; k < s->count; k++)
        if (s->trials[k].what.reviews)
            return 1;
    return 0;
}

roofs_status schedule_run(const schedule *s, const schedule_options *how, journal *j,
                          roofs_error *err)
{
    work w = {.s = s, .how = how, .journal = j, .err = err, .printed = seconds_now()};
    int64_t timed = first_timed(s);
    if (needs_reviews(s))
        TRY(reviews_open(&w.all, how->reviews, err));
    progress_begin(&w.bar, "reproduce", (int64_t)(1000 * schedule_wall_seconds(s, how->workers)),
                   how->quiet);
    w.bar.unit = NULL;
    schedule_run_range(&w, 0, timed, how->workers);
    schedule_run_range(&w, timed, s->count, 1);
    progress_end(&w.bar);
    reviews_close(w.all);
    return w.status;
}
