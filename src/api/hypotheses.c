#include "api/hypotheses.h"

#include "base/block.h"
#include "linalg/workers.h"

#include <math.h>

_Static_assert((int)HYPOTHESIS_ALL == ROOFS_HYPOTHESIS_ALL, "callers get the numbers of the fit");

int64_t hypotheses_most(const roofs_settings *set)
{
    return fit_hypotheses(set);
}

/* ---- the choice -------------------------------------------------------- */

int64_t hypotheses_best(const double *scores, int64_t count)
{
    int64_t best = 0;
    for (int64_t k = 1; k < count; k++)
        if (scores[k] > scores[best] || isnan(scores[best]))
            best = k;
    return best;
}

/* ---- the others -------------------------------------------------------- */

roofs_estimator *hypotheses_at(roofs_estimator *e, int64_t k)
{
    return k == 0 ? e : k <= e->other_count ? e->others[k - 1] : NULL;
}

int64_t hypotheses_compared(const roofs_estimator *e)
{
    if (!e->m->has_hypotheses)
        return 0;
    return e->compared > 0 ? e->compared : e->other_count + 1;
}

void hypotheses_destroy(roofs_estimator *e)
{
    while (e->other_count > 0)
        roofs_destroy(e->others[--e->other_count]);
}

roofs_status hypotheses_add(roofs_estimator *e, hypothesis start, const beginnings *from,
                            roofs_error *err)
{
    roofs_estimator *other = NULL;
    TRY(estimator_allocate(&other, err));
    other->f->start = start;
    e->others[e->other_count++] = other;
    const beginnings same = {.settings = &e->f->set,
                             .ranks = from->ranks,
                             .y = from->y,
                             .n = from->n,
                             .case_weight = from->case_weight};
    other->f->threads = e->f->threads;
    TRY(estimator_build(other, &same, err));
    other->f->reported = e->f;
    return ROOFS_OK;
}

roofs_status hypotheses_build(roofs_estimator *e, const beginnings *from, roofs_error *err)
{
    const int64_t most = hypotheses_most(&e->f->set);
    for (int64_t k = 1; k < most; k++) {
        TRY(hypotheses_add(e, (hypothesis)k, from, err));
        if (e->others[e->other_count - 1]->f->is_redundant)
            roofs_destroy(e->others[--e->other_count]);
    }
    hypotheses_share_memory(e);
    return ROOFS_OK;
}

void hypotheses_share_memory(roofs_estimator *e)
{
    const int64_t most = e->compared > 0 ? 1 : hypotheses_most(&e->f->set);
    for (int64_t k = 0; hypotheses_at(e, k); k++)
        hypotheses_at(e, k)->side_by_side = most;
}

void hypotheses_release(roofs_estimator *e, int64_t storage)
{
    roofs_estimator *each;
    for (int64_t k = 0; (each = hypotheses_at(e, k)) != NULL; k++)
        estimator_release_columns(each, storage);
}

roofs_status hypotheses_begin(roofs_estimator *e, const storage_kind *kind, roofs_error *err)
{
    const int64_t storage = e->f->set.storage;
    roofs_estimator *each;
    roofs_status status = ROOFS_OK;
    for (int64_t k = 0; status == ROOFS_OK && (each = hypotheses_at(e, k)) != NULL; k++)
        status = estimator_begin(each, kind, err);
    if (status != ROOFS_OK)
        hypotheses_release(e, storage);
    return status;
}

/* ---- a batch ----------------------------------------------------------- */

roofs_status hypotheses_save(roofs_estimator *e, roofs_error *err)
{
    roofs_estimator *each;
    for (int64_t k = 0; (each = hypotheses_at(e, k)) != NULL; k++)
        TRY(undo_save(each, err));
    return ROOFS_OK;
}

roofs_status hypotheses_restore(roofs_estimator *e, const roofs_block *batch, roofs_error *err)
{
    roofs_status status = undo_restore(e, batch, err);
    for (int64_t k = 0; k < e->other_count && status == ROOFS_CANCELLED; k++)
        status = undo_restore(e->others[k], NULL, err);
    return status;
}

int hypotheses_undo_requested(roofs_estimator *e)
{
    roofs_estimator *each;
    for (int64_t k = 0; (each = hypotheses_at(e, k)) != NULL; k++)
        if (each->f->undo_requested)
            return 1;
    return 0;
}

/* Prepares the monitor for a batch. Of several hypotheses each must fit the whole batch, so that
 * all are at the same position. */
static void begin_monitoring(fit *f, const fit *before, int stops_late, int is_last)
{
    f->is_last = is_last;
    f->stops_late = stops_late;
    f->stop_requested = before ? before->stop_requested : 0;
    f->rounds_before = before ? before->rounds_before + before->now.rounds : 0;
}

static roofs_status take_batch(roofs_estimator *e, const roofs_block *batch,
                               const roofs_block *next, roofs_error *err)
{
    fit_enter(e->f, FIT_CHECKING);
    TRY(estimator_take_batch(e, batch, next, err));
    fit_enter(e->f, FIT_ROUNDS);
    return ROOFS_OK;
}

static roofs_status consume_in_turn(roofs_estimator *e, const roofs_block *batch,
                                    const roofs_block *next, roofs_error *err)
{
    roofs_estimator *each;
    const fit *before = NULL;
    for (int64_t k = 0; (each = hypotheses_at(e, k)) != NULL; k++) {
        begin_monitoring(each->f, before, e->other_count > 0, e->f->is_last);
        TRY(take_batch(each, batch, k == 0 ? next : NULL, err));
        TRY(each->m->consume(each->state, each->f, err));
        before = each->f;
    }
    return ROOFS_OK;
}

/* True if each of two hypotheses fits the batch on half of the threads: these never wait for those
 * of the other. */
static int has_threads_each(const roofs_estimator *e, const roofs_block *batch)
{
    const fit *f = e->f;
    return e->other_count == 1 && f->threads > 1 && e->ops == &device_cpu &&
           comm_is_alone(&f->comm) && (f->cols.count + batch->count) * f->n >= ROOFS_WORTH_THREADS;
}

typedef struct side_by_side {
    roofs_estimator *e;
    roofs_status status[2];
    roofs_error err[2];
} side_by_side;

static void consume_one(void *user, int64_t k)
{
    side_by_side *both = user;
    roofs_estimator *each = hypotheses_at(both->e, k);
    fit_enter(each->f, FIT_ROUNDS);
    both->status[k] = each->m->consume(each->state, each->f, &both->err[k]);
    fit_enter(each->f, FIT_IDLE);
}

static void limit_threads(const roofs_estimator *e, int64_t threads)
{
    workers_limit(e->f->workers, threads);
    workers_limit(e->others[0]->f->workers, threads);
}

/* The monitor runs on the caller's thread: it gets the rounds of the second hypothesis after those
 * of the first, as if they had been made in turn. */
static roofs_status consume_side_by_side(roofs_estimator *e, const roofs_block *batch,
                                         const roofs_block *next, roofs_error *err)
{
    roofs_estimator *other = e->others[0];
    side_by_side both = {.e = e};
    begin_monitoring(e->f, NULL, 1, e->f->is_last);
    begin_monitoring(other->f, NULL, 1, e->f->is_last);
    TRY(take_batch(e, batch, next, err));
    fit_enter(e->f, FIT_IDLE);
    TRY(take_batch(other, batch, NULL, err));
    fit_enter(other->f, FIT_IDLE);
    other->f->reports_later = 1;
    limit_threads(e, e->f->threads / 2);
    workers_pair(e->f->workers, consume_one, &both);
    limit_threads(e, e->f->threads);
    const int failed = both.status[0] == ROOFS_OK && both.status[1] != ROOFS_OK;
    if (err && (both.status[failed] != ROOFS_OK || e->f->stop_requested))
        *err = both.err[failed];
    begin_monitoring(other->f, e->f, 1, e->f->is_last);
    roofs_status status = both.status[failed];
    if (status == ROOFS_OK)
        status = fit_report_rounds(other->f, err);
    other->f->reports_later = 0;
    return status;
}

roofs_status hypotheses_consume(roofs_estimator *e, const roofs_block *batch,
                                const roofs_block *next, roofs_error *err)
{
    roofs_estimator *each;
    roofs_status status = has_threads_each(e, batch) ? consume_side_by_side(e, batch, next, err)
                                                     : consume_in_turn(e, batch, next, err);
    for (int64_t k = 0; (each = hypotheses_at(e, k)) != NULL; k++) {
        if (status == ROOFS_OK && each->f->stop_requested)
            status = ROOFS_CANCELLED; /* err already holds the round */
        each->f->stops_late = each->f->stop_requested = 0;
        fit_enter(each->f, FIT_IDLE);
    }
    return status;
}

roofs_status hypotheses_end_batch(roofs_estimator *e, roofs_error *err)
{
    roofs_estimator *each;
    for (int64_t k = 0; (each = hypotheses_at(e, k)) != NULL; k++) {
        fit_enter(each->f, FIT_STORING);
        TRY(estimator_end_batch(each, err));
        fit_enter(each->f, FIT_IDLE);
    }
    return ROOFS_OK;
}

/* ---- the end of a pass ------------------------------------------------- */

/* Settles all; *best = the one to go on with. */
static roofs_status settle_all(roofs_estimator *e, int64_t *best, roofs_error *err)
{
    double scores[HYPOTHESES];
    roofs_estimator *each;
    int64_t count = 0;
    for (; (each = hypotheses_at(e, count)) != NULL; count++) {
        fit_enter(each->f, FIT_ROUNDS);
        const roofs_status status =
            each->m->settle ? each->m->settle(each->state, each->f, err) : ROOFS_OK;
        fit_enter(each->f, FIT_IDLE);
        TRY(status);
        scores[count] = each->f->score;
    }
    *best = hypotheses_best(scores, count);
    return ROOFS_OK;
}

/* Fit `best` takes the place of the caller's; the rest is destroyed. What belongs to the caller
 * stays with e: names, prefetch hint, the settings in its hands, and that a call is in progress. */
static void keep_only(roofs_estimator *e, int64_t best)
{
    roofs_estimator *winner = hypotheses_at(e, best), first = *e;
    roofs_settings *const described = winner->described;
    if (best > 0) {
        *e = *winner;
        *winner = first;
        e->named = first.named;
        e->hint = first.hint;
        e->busy = first.busy;
        e->names = first.names;
        e->described = first.described;
        winner->names = (nameset){0};
        winner->described = described;
        winner->other_count = 0;
        for (int64_t k = 0; k < first.other_count; k++)
            e->others[k] = first.others[k];
        e->other_count = first.other_count;
    }
    for (int64_t k = 0; k < e->other_count; k++)
        fit_add_spent(e->f, e->others[k]->f);
    e->f->cols.shares = NULL;
    e->f->reported = NULL;
    e->f->rounds_before = 0;
    if (e->compared == 0)
        e->compared = e->other_count + 1;
    hypotheses_destroy(e);
    hypotheses_share_memory(e);
}

/* After CANCELLED: undoes what was done, if the monitor has requested it. */
static roofs_status end_cancelled(roofs_estimator *e, roofs_status status, roofs_error *err)
{
    if (status == ROOFS_CANCELLED && hypotheses_undo_requested(e))
        return hypotheses_restore(e, NULL, err);
    return status;
}

roofs_status hypotheses_end_pass(roofs_estimator *e, roofs_error *err)
{
    int64_t best = 0;
    if (!e->m->settle)
        return ROOFS_OK;
    TRY(end_cancelled(e, settle_all(e, &best, err), err));
    keep_only(e, best);
    return ROOFS_OK;
}

/* The losers live until the best is finished: an undo restores all. */
static roofs_status settle_and_finish(roofs_estimator *e, int64_t *best, roofs_error *err)
{
    if (e->other_count > 0)
        TRY(settle_all(e, best, err));
    roofs_estimator *winner = hypotheses_at(e, *best);
    fit_enter(winner->f, FIT_ROUNDS);
    const roofs_status status =
        winner->m->finish ? winner->m->finish(winner->state, winner->f, err) : ROOFS_OK;
    fit_enter(winner->f, FIT_IDLE);
    return status;
}

roofs_status hypotheses_finish(roofs_estimator *e, roofs_error *err)
{
    int64_t best = 0;
    TRY(end_cancelled(e, settle_and_finish(e, &best, err), err));
    keep_only(e, best);
    return ROOFS_OK;
}

/* ---- checkpoints ------------------------------------------------------- */

hypotheses_list hypotheses_living(const roofs_estimator *e)
{
    hypotheses_list list = {
        .start = (int)e->f->start, .compared = e->compared, .count = e->other_count};
    for (int64_t k = 0; k < e->other_count; k++)
        list.others[k] = (int)e->others[k]->f->start;
    return list;
}

void hypotheses_transfer(hypotheses_list *list, archive *a)
{
    archive_int(a, &list->start, 0, HYPOTHESES - 1);
    archive_i64(a, &list->compared, 0, HYPOTHESES);
    archive_i64(a, &list->count, 0, HYPOTHESES - 1);
    for (int64_t k = 0; k < list->count; k++)
        archive_int(a, &list->others[k], 0, HYPOTHESES - 1);
}
