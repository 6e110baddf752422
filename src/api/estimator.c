/* The life of an estimator: create, consume, finish, destroy. */
#include "api/estimator.h"

#include "api/hypotheses.h"
#include "api/settings.h"
#include "base/block.h"
#include "base/digest.h"
#include "base/memory.h"
#include "base/threads.h"
#include "linalg/vector.h"
#include "robust/scale.h"

#include <float.h>
#include <math.h>
#include <string.h>

/* ---- create ------------------------------------------------------------ */

static int all_equal(fit *f, const double *y)
{
    double low = INFINITY, high = -INFINITY;
    for (int64_t i = 0; i < f->n; i++) {
        low = fit_cases(f, i) > 0 ? fmin(low, y[i]) : low;
        high = fit_cases(f, i) > 0 ? fmax(high, y[i]) : high;
    }
    return comm_largest_of(&f->comm, high) == -comm_largest_of(&f->comm, -low);
}

/* An exponent such that y 2^-exponent has neither sums that overflow nor deviations that underflow,
 * for a largest |y|. It is 0 unless the largest is extreme: a small scale beside a gross outlier
 * keeps its digits. */
static int safe_exponent(double largest)
{
    const int bits = 64; /* of a count of samples, and to spare */
    int exponent = 0;
    frexp(largest, &exponent);
    return exponent > DBL_MAX_EXP - bits ? bits : largest < 0x1p-900 ? exponent : 0;
}

/* The unit of the responses, a power of two. In this unit no response exceeds 1 or, for methods
 * with needs_scale, the robust scale is 1 to 2. Overwrites f->y. */
static roofs_status choose_unit(roofs_estimator *e, const double *y, int *exponent,
                                roofs_error *err)
{
    fit *f = e->f;
    double scale = comm_largest_of(&f->comm, vector_largest(y, f->n));
    const int safe = safe_exponent(scale);
    scale = ldexp(scale, -safe);
    for (int64_t i = 0; i < f->n; i++)
        f->y[i] = ldexp(y[i], -safe);
    if (e->m->needs_scale && !all_equal(f, y))
        TRY(robust_scale(&f->comm, f->y, f->case_weight, f->n, &scale, err));
    frexp(scale, exponent);
    *exponent += safe - e->m->needs_scale;
    return ROOFS_OK;
}

static roofs_status check_response(const fit *f, const double *y, roofs_error *err)
{
    for (int64_t i = 0; i < f->n; i++)
        if (!isfinite(y[i]))
            return fail(err, ROOFS_BAD_DATA,
                        "the response of sample %lld (counted from 0) is not a finite number",
                        (long long)(comm_first(&f->comm) + i));
    return ROOFS_OK;
}

static roofs_status allocate_response(fit *f, roofs_error *err)
{
    TRY(memory_get(&f->y, f->n, sizeof *f->y, "the responses", err));
    return memory_get(&f->residual, f->n, sizeof *f->residual, "the residuals", err);
}

static roofs_status set_response(roofs_estimator *e, const double *y, roofs_error *err)
{
    const double highest = DBL_MAX / 4; /* a gross outlier may exceed the range */
    fit *f = e->f;
    roofs_status own = check_response(f, y, err);
    if (own == ROOFS_OK)
        own = allocate_response(f, err);
    TRY(comm_agree(&f->comm, own, err));
    TRY(choose_unit(e, y, &f->y_exponent, err));
    for (int64_t i = 0; i < f->n; i++)
        f->y[i] = fmax(-highest, fmin(highest, ldexp(y[i], -f->y_exponent)));
    return robust_scale(&f->comm, f->y, f->case_weight, f->n, &f->y_scale, err);
}

/* beta = 0, S = [n]; an intercept starts as the mean of the responses. */
static void start_residuals(fit *f)
{
    memcpy(f->residual, f->y, (size_t)f->n * sizeof *f->residual);
    if (f->set.intercept)
        fit_recentre(f);
    f->trusted.cut = comm_largest_of(&f->comm, vector_largest(f->residual, f->n));
}

/* What is checked before the ranks meet. */
static roofs_status check_given(roofs_estimator *e, const beginnings *from, roofs_error *err)
{
    TRY(from->own);
    if (!from->settings || !from->y)
        return fail(err, ROOFS_BAD_CALL, "%s must not be NULL", from->settings ? "y" : "settings");
    TRY(settings_import(from->settings, &e->f->set, err));
    if (from->n < INT32_MAX)
        return ROOFS_OK;
    return fail(err, ROOFS_BAD_DATA, "%lld samples are too many; at most %d are possible",
                (long long)from->n, INT32_MAX - 1);
}

static roofs_status join_ranks(roofs_estimator *e, const beginnings *from, roofs_error *err)
{
    comm *c = &e->f->comm;
    const roofs_status own = check_given(e, from, err);
    *c = comm_self(from->n);
    TRY(from->ranks ? comm_join(c, from->ranks, from->n, own, err) : own);
    e->m = method_named(e->f->set.method);
    if (c->total < FEWEST_SAMPLES)
        return fail(err, ROOFS_BAD_DATA, "%lld samples are too few; at least %d are needed",
                    (long long)c->total, FEWEST_SAMPLES);
    if (comm_is_alone(c))
        return ROOFS_OK;
    TRY(settings_agree(&e->f->set, c, err));
    return method_require(e->m, offsetof(method, splits), "work on samples split over ranks", err);
}

/* All ranks take the smallest mu: max_memory may allow fewer features to a rank with more samples.
 */
static roofs_status resolve_settings(fit *f, int64_t n, roofs_error *err)
{
    comm *c = &f->comm;
    TRY(comm_agree(c, estimator_resolve(&f->set, n, comm_samples(c, n), 0, err), err));
    const double least = -comm_largest_of(c, -(double)f->set.mu);
    TRY(comm_status(c, err));
    f->set.mu = (int64_t)least;
    return ROOFS_OK;
}

static roofs_status check_fdr(const roofs_estimator *e, roofs_error *err)
{
    const roofs_settings *set = &e->f->set;
    if (set->fdr > 0)
        TRY(method_require(e->m, offsetof(method, has_probability),
                           "limit the rate of false discoveries (fdr must be 0)", err));
    if (set->fdr > 0 && set->groups == ROOFS_GROUPS_OFF)
        return fail(err, ROOFS_BAD_SETTING,
                    "fdr selects groups: groups must be auto or exact, not off");
    return ROOFS_OK;
}

/* The method supports the settings, and this machine has the device. */
static roofs_status check_method(roofs_estimator *e, const beginnings *from, roofs_error *err)
{
    const fit *f = e->f;
    if (f->set.reserve > 0)
        TRY(method_require(e->m, offsetof(method, has_reserve),
                           "keep a reserve (reserve must be 0)", err));
    if (f->set.reading == ROOFS_READING_JOINT)
        TRY(method_require(e->m, offsetof(method, has_joint),
                           "fit batches jointly (reading must be alone)", err));
    TRY(check_fdr(e, err));
    TRY(from->case_weight ? estimator_choose_cpu(e, "weights of samples", err) : ROOFS_OK);
    TRY(estimator_check_forced(e, err));
    TRY(estimator_device(&f->set, &e->ops, err));
    if (!comm_is_alone(&f->comm) && e->ops != &device_cpu)
        return fail(err, ROOFS_BAD_SETTING,
                    "samples that are split over ranks need the device cpu");
    return ROOFS_OK;
}

roofs_status estimator_build(roofs_estimator *e, const beginnings *from, roofs_error *err)
{
    fit *f = e->f;
    e->named = -1;
    e->side_by_side = 1;
    f->n = from->n;
    f->pass = 1;
    f->grows = 1;
    TRY(join_ranks(e, from, err));
    f->threads = threads_count(f->threads > 0 ? f->threads : f->set.threads);
    TRY(resolve_settings(f, f->n, err));
    TRY(comm_agree(&f->comm, check_method(e, from, err), err));
    TRY(estimator_set_case_weight(e, from->case_weight, err));
    TRY(set_response(e, from->y, err));
    TRY(warn_about_response(f, err));
    TRY(comm_agree(&f->comm, fit_create_trust(f, err), err));
    start_residuals(f);
    return e->m->create(&e->state, f, err);
}

roofs_status estimator_allocate(roofs_estimator **out, roofs_error *err)
{
    TRY(memory_get(out, 1, sizeof **out, "the estimator", err));
    roofs_estimator *e = *out;
    roofs_status status = memory_get(&e->f, 1, sizeof *e->f, "the estimator", err);
    if (status == ROOFS_OK)
        status = memory_get(&e->described, 1, sizeof *e->described, "the estimator", err);
    return estimator_destroy_if_failed(out, status);
}

roofs_status estimator_destroy_if_failed(roofs_estimator **e, roofs_status status)
{
    if (status != ROOFS_OK) {
        roofs_destroy(*e);
        *e = NULL;
    }
    return status;
}

roofs_status roofs_create_weighted(roofs_estimator **out, const roofs_settings *settings,
                                   const double *y, const double *weight, int64_t n,
                                   const roofs_comm *with, roofs_error *err)
{
    const beginnings from = {
        .settings = settings, .ranks = with, .y = y, .case_weight = weight, .n = n};
    REQUIRE(out);
    *out = NULL;
    TRY(estimator_allocate(out, err));
    roofs_status status = estimator_build(*out, &from, err);
    if (status == ROOFS_OK)
        status = hypotheses_build(*out, &from, err);
    return estimator_destroy_if_failed(out, status);
}

roofs_status roofs_create_split(roofs_estimator **out, const roofs_settings *settings,
                                const double *y, int64_t n, const roofs_comm *with,
                                roofs_error *err)
{
    return roofs_create_weighted(out, settings, y, NULL, n, with, err);
}

roofs_status roofs_create(roofs_estimator **out, const roofs_settings *settings, const double *y,
                          int64_t n, roofs_error *err)
{
    return roofs_create_weighted(out, settings, y, NULL, n, NULL, err);
}

static void destroy_fit(fit *f)
{
    columns_destroy(&f->cols);
    fit_destroy_trust(f);
    memory_free(f->y);
    memory_free(f->case_weight);
    memory_free(f->residual);
    comm_leave(&f->comm);
    memory_free(f);
}

void roofs_destroy(roofs_estimator *e)
{
    if (!e)
        return;
    hypotheses_destroy(e);
    if (e->state)
        e->m->destroy(e->state);
    if (e->f)
        destroy_fit(e->f);
    nameset_clear(&e->names);
    archive_free(&e->undo);
    memory_free(e->history);
    memory_free(e->view_features);
    memory_free(e->view_trust);
    memory_free(e->view_residual);
    memory_free(e->view_is_selected);
    memory_free(e->view_spread);
    memory_free(e->view_scale);
    memory_free(e->view_groups);
    memory_free(e->view_members);
    memory_free(e->described);
    memory_free(e);
}

void roofs_set_monitor(roofs_estimator *e, roofs_monitor monitor, void *user)
{
    for (int64_t k = 0; e && hypotheses_at(e, k); k++) {
        hypotheses_at(e, k)->f->monitor = monitor;
        hypotheses_at(e, k)->f->monitor_user = user;
    }
}

/* ---- consume ----------------------------------------------------------- */

static roofs_status check_shape(const roofs_estimator *e, const roofs_block *b, roofs_error *err)
{
    TRY(block_check(b, err));
    if (b->n != e->f->n)
        return fail(err, ROOFS_BAD_DATA,
                    "features from %lld on have %lld samples, but the fit has %lld responses",
                    (long long)e->f->position, (long long)b->n, (long long)e->f->n);
    if (e->narrow && b->dtype == ROOFS_F64)
        return fail(err, ROOFS_BAD_DATA,
                    "features from %lld on are 64-bit, but the first were 32-bit and decided the "
                    "storage; set storage to f64, or to f32 to round them",
                    (long long)e->f->position);
    return ROOFS_OK;
}

/* Either all features have names or none has; no name occurs twice. */
static roofs_status check_names(roofs_estimator *e, const roofs_block *b, roofs_error *err)
{
    int named = b->names != NULL;
    if (e->named >= 0 && e->named != named)
        return fail(err, ROOFS_BAD_DATA,
                    "feature %lld has %s name, unlike the features before it; name all or none",
                    (long long)e->f->position, named ? "a" : "no");
    e->named = named;
    if (named && e->f->grows)
        TRY(nameset_reserve(&e->names, b->count, err));
    for (int64_t k = 0; named && e->f->grows && k < b->count; k++) {
        int fresh = 0;
        TRY(nameset_add(&e->names, b->names[k], &fresh, err));
        if (!fresh)
            return blame(err, e->f->position + k,
                         fail(err, ROOFS_BAD_DATA,
                              "feature %lld: the name '%s' was used before; names must differ",
                              (long long)(e->f->position + k), b->names[k]));
    }
    return ROOFS_OK;
}

/* A later pass must have the same features. */
static roofs_status check_pass(const fit *f, int64_t count, roofs_error *err)
{
    if (f->grows || f->position + count <= f->features_seen)
        return ROOFS_OK;
    return fail(err, ROOFS_BAD_DATA,
                "pass %lld has more than the %lld features of the first pass; did the data change?",
                (long long)f->pass, (long long)f->features_seen);
}

/* Digests of names and the history grow with the stream. */
static roofs_status check_growth(const roofs_estimator *e, roofs_error *err)
{
    int64_t names = memory_bytes(e->names.capacity, sizeof *e->names.table);
    int64_t history = memory_bytes(e->history_capacity, sizeof *e->history);
    int64_t beyond = memory_sum(names, memory_bytes(history, e->side_by_side)) - FIRST_NAMES;
    if (e->f->set.max_memory == 0 || beyond <= 0)
        return ROOFS_OK;
    int64_t needed = memory_sum(estimator_bytes(e), beyond);
    if (needed <= e->f->set.max_memory)
        return ROOFS_OK;
    return fail(
        err, ROOFS_OVER_LIMIT,
        "after %lld features the fit needs %lld bytes, because names and the history of the "
        "batches grow; this is more than the limit of %lld: raise max_memory, use larger "
        "batches or leave out the names",
        (long long)e->f->position, (long long)needed, (long long)e->f->set.max_memory);
}

static roofs_status record_batch(roofs_estimator *e, int64_t entered, roofs_error *err)
{
    fit *f = e->f;
    TRY(memory_grow(&e->history, &e->history_capacity, f->batches + 1, sizeof *e->history,
                    "the history", err));
    f->now.selected = f->cols.count;
    f->now.entered = entered;
    f->now.trusted = f->trusted.count;
    f->now.cut = fmin(ldexp(f->trusted.cut, f->y_exponent), DBL_MAX);
    f->now.step = fmin(f->now.step, DBL_MAX);
    e->history[f->batches++] = f->now;
    return ROOFS_OK;
}

/* The device may upload these features while it works on a batch; NULL = no features. */
static void prefetch_features(const roofs_estimator *e, const roofs_block *next)
{
    const columns *c = &e->f->cols;
    if (c->ops && c->ops->prefetch)
        c->ops->prefetch(c->dev, next);
}

roofs_status estimator_take_batch(roofs_estimator *e, const roofs_block *batch,
                                  const roofs_block *next, roofs_error *err)
{
    fit *f = e->f;
    ingest_options options = {
        .standardize = f->set.standardize && f->set.intercept, /* centring adds an intercept */
        .refuse_constant = f->set.standardize || f->set.intercept,
        .unit_scale = f->set.standardize || e->m->needs_scale,
        .flatness = e->m->needs_scale,
        .weight = f->sample_weight ? f->sample_weight : f->trusted.mask,
        .weight_on_device = f->sample_weight_on_device,
    };
    TRY(columns_arrive(&f->cols, batch, f->position, &options, err));
    prefetch_features(e, next);
    f->position += batch->count;
    if (f->grows)
        f->features_seen = f->position;
    f->now = (roofs_batch){.features = batch->count};
    return ROOFS_OK;
}

roofs_status estimator_end_batch(roofs_estimator *e, roofs_error *err)
{
    int64_t entered = 0;
    TRY(columns_settle(&e->f->cols, &entered, err));
    return record_batch(e, entered, err);
}

/* What this rank does alone before a batch. */
static roofs_status prepare_batch(roofs_estimator *e, const roofs_block *batch, roofs_error *err)
{
    TRY(check_pass(e->f, batch->count, err));
    TRY(hypotheses_save(e, err));
    TRY(check_names(e, batch, err));
    return check_growth(e, err);
}

/* `next`: features to prefetch; may be NULL. */
static roofs_status consume_batch(roofs_estimator *e, const roofs_block *batch,
                                  const roofs_block *next, roofs_error *err)
{
    TRY(comm_agree(&e->f->comm, prepare_batch(e, batch, err), err));
    roofs_status status = hypotheses_consume(e, batch, next, err);
    if (status != ROOFS_OK && status != ROOFS_CANCELLED)
        return status;
    if (status == ROOFS_CANCELLED && hypotheses_undo_requested(e))
        return hypotheses_restore(e, batch, err);
    TRY(hypotheses_end_batch(e, err));
    return status;
}

static roofs_status begin_stream(roofs_estimator *e, const roofs_block *block, roofs_error *err)
{
    const storage_kind kind = estimator_storage(e, block);
    const int64_t storage = e->f->set.storage;
    roofs_status own = hypotheses_begin(e, &kind, err);
    roofs_status status = comm_agree(&e->f->comm, own, err);
    if (own == ROOFS_OK && status != ROOFS_OK) /* another rank has failed */
        hypotheses_release(e, storage);
    return status;
}

/* At most `most` features of a block from its feature `first` on. */
static roofs_block features_from(const roofs_block *block, int64_t first, int64_t most)
{
    int64_t left = block->count - first;
    return block_slice(block, first, left < most ? left : most);
}

/* The block of the prefetch hint; empty if it cannot be used. roofs_consume reports its errors. */
static roofs_block hinted_block(const roofs_estimator *e)
{
    const roofs_block *hint = &e->hint;
    if (hint->count == 0 || !e->ops->prefetch || check_shape(e, hint, NULL) != ROOFS_OK)
        return (roofs_block){0};
    if (block_is_sparse(hint) && block_check_pattern(hint, 0, NULL) != ROOFS_OK)
        return (roofs_block){0};
    return *hint;
}

/* What this rank checks alone before a block. */
static roofs_status check_block(const roofs_estimator *e, const roofs_block *block,
                                roofs_error *err)
{
    TRY(check_shape(e, block, err));
    if (block->count > 0 && e->ops->prefetch && block_is_sparse(block))
        return block_check_pattern(block, e->f->position,
                                   err); /* later batches are uploaded ahead */
    return ROOFS_OK;
}

/* All that must be equal on all ranks: the blocks hold other samples of the same features. */
static comm_point point_of_block(const roofs_block *block)
{
    comm_point at = {.call = "the features of roofs_consume", .count = block->count};
    const int types[] = {(int)block->dtype, block_is_sparse(block), block->names != NULL};
    at.digest = digest_of(types, sizeof types, 0);
    for (int64_t k = 0; block->names && k < block->count; k++)
        at.digest = digest_of(block->names[k], (int64_t)strlen(block->names[k]) + 1, at.digest);
    return at;
}

static roofs_status consume_block(roofs_estimator *e, const roofs_block *block, roofs_error *err)
{
    comm_point at = {.call = ""};
    if (!comm_is_alone(&e->f->comm))
        at = point_of_block(block);
    TRY(comm_agree_at(&e->f->comm, at, check_block(e, block, err), err));
    if (block->count == 0)
        return ROOFS_OK;
    if (!e->allocated)
        TRY(begin_stream(e, block, err));
    const int64_t each = e->f->set.batch;
    roofs_status status = ROOFS_OK;
    for (int64_t first = 0; first < block->count && status == ROOFS_OK; first += each) {
        e->f->is_last = block->count - first <= each;
        roofs_block batch = features_from(block, first, each);
        roofs_block next =
            e->f->is_last ? hinted_block(e) : features_from(block, first + each, block->count);
        status = consume_batch(e, &batch, next.count > 0 ? &next : NULL, err);
    }
    return status;
}

void roofs_prefetch(roofs_estimator *e, const roofs_block *next)
{
    if (!e)
        return;
    e->hint = (roofs_block){0};
    if (!next || block_import(next, &e->hint, NULL) != ROOFS_OK)
        prefetch_features(e, NULL);
}

roofs_status estimator_check_open(const roofs_estimator *e, const char *call, roofs_error *err)
{
    if (e->phase == PHASE_OPEN && !e->busy)
        return ROOFS_OK;
    return fail(err, ROOFS_BAD_CALL, "%s: the estimator %s", call,
                e->busy                      ? "is in the middle of a batch"
                : e->phase == PHASE_FINISHED ? "has finished its stream"
                                             : "has failed and can only be destroyed");
}

roofs_status roofs_consume(roofs_estimator *e, const roofs_block *block, roofs_error *err)
{
    roofs_block own;
    REQUIRE(e);
    REQUIRE(block);
    TRY(block_import(block, &own, err));
    TRY(estimator_check_open(e, "roofs_consume", err));
    e->busy = 1;
    roofs_status status = consume_block(e, &own, err);
    e->busy = 0;
    e->hint = (roofs_block){0};
    if (status != ROOFS_OK)
        for (int64_t k = 0; hypotheses_at(e, k); k++)
            prefetch_features(hypotheses_at(e, k), NULL); /* the caller may free the block */
    int unchanged = status == ROOFS_NO_MEMORY && !e->allocated;
    if (status != ROOFS_OK && status != ROOFS_CANCELLED && !unchanged)
        e->phase = PHASE_BROKEN;
    return status;
}

roofs_status roofs_finish(roofs_estimator *e, roofs_error *err)
{
    REQUIRE(e);
    TRY(estimator_check_open(e, "roofs_finish", err));
    TRY(estimator_end_pass_alike(e, "the features before roofs_finish", err));
    e->busy = 1;
    roofs_status status = hypotheses_finish(e, err);
    e->busy = 0;
    if (status != ROOFS_CANCELLED)
        e->phase = status == ROOFS_OK ? PHASE_FINISHED : PHASE_BROKEN;
    return status;
}
