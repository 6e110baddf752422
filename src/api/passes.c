/* Further passes over the stream. */
#include "api/hypotheses.h"

/* Exact groups need a pass that begins with all heads, and more if the pool has overflowed. */
static int wants_exact_groups(const roofs_estimator *e)
{
    const fit *f = e->f;
    return e->m->has_probability && f->set.groups == ROOFS_GROUPS_EXACT &&
           (f->pass < 2 || f->pool_overflowed);
}

/* The number of passes that the settings allow. */
static int64_t most_passes(const roofs_estimator *e)
{
    const int64_t given = e->f->set.passes;
    const int64_t most = given > 0 ? given : e->m->reads_again ? ROOFS_AUTO_PASSES : 1;
    return most + (most == e->f->pass && wants_exact_groups(e));
}

/* True if features that vary were not kept: only these can gain from another pass. */
static int has_dropped(const fit *f)
{
    return f->cols.count + f->cols.constant < f->features_seen;
}

static int is_selected(const method *m, const column *c)
{
    return !m->has_probability || c->probability > 0.5;
}

/* Spreads the bits of a number over 64 bits (the finaliser of splitmix64). */
static uint64_t scramble(uint64_t x)
{
    x ^= x >> 30;
    x *= 0xbf58476d1ce4e5b9u;
    x ^= x >> 27;
    x *= 0x94d049bb133111ebu;
    return x ^ x >> 31;
}

/* A digest of the set of features that are selected now. It does not depend on the order of the
 * columns, and is within ARCHIVE_MOST. It is not 0, which stands for no earlier pass. */
static int64_t selection_digest(const roofs_estimator *e)
{
    uint64_t sum = 0;
    for (int64_t j = 0; j < e->f->cols.count; j++)
        if (is_selected(e->m, &e->f->cols.items[j]))
            sum += scramble((uint64_t)e->f->cols.items[j].feature + 0x9e3779b97f4a7c15u);
    return 1 + (int64_t)(sum >> 4);
}

int roofs_wants_pass(const roofs_estimator *e)
{
    if (!e || e->phase != PHASE_OPEN || e->busy || e->f->pass >= most_passes(e))
        return 0;
    if (e->f->set.passes > e->f->pass)
        return 1;
    if (has_dropped(e->f) && wants_exact_groups(e))
        return 1;
    return e->f->set.passes == 0 && has_dropped(e->f) && selection_digest(e) != e->f->selection;
}

static roofs_status check_pass_complete(const roofs_estimator *e, roofs_error *err)
{
    const fit *f = e->f;
    if (f->position == f->features_seen)
        return ROOFS_OK;
    return fail(err, ROOFS_BAD_DATA,
                "pass %lld has %lld features, the first pass had %lld; did the data change?",
                (long long)f->pass, (long long)f->position, (long long)f->features_seen);
}

roofs_status estimator_end_pass_alike(roofs_estimator *e, const char *call, roofs_error *err)
{
    roofs_status own = check_pass_complete(e, err);
    if (own == ROOFS_OK)
        own = hypotheses_save(e, err);
    const comm_point at = {.call = call, .count = e->f->position};
    return comm_agree_at(&e->f->comm, at, own, err);
}

roofs_status roofs_extend(roofs_estimator *e, roofs_error *err)
{
    REQUIRE(e);
    TRY(estimator_check_open(e, "roofs_extend", err));
    TRY(check_pass_complete(e, err));
    for (int64_t k = 0; hypotheses_at(e, k); k++)
        hypotheses_at(e, k)->f->grows = 1;
    return ROOFS_OK;
}

/* The digest is that of the chosen hypothesis, as it was settled. */
static void begin_pass(roofs_estimator *e)
{
    fit *f = e->f;
    f->selection = selection_digest(e);
    f->pass++;
    f->position = 0;
    f->grows = 0;
    f->cols.constant = 0; /* counted again in this pass */
}

roofs_status roofs_next_pass(roofs_estimator *e, roofs_error *err)
{
    REQUIRE(e);
    TRY(estimator_check_open(e, "roofs_next_pass", err));
    if (e->f->pass >= most_passes(e))
        return fail(err, ROOFS_BAD_CALL,
                    "roofs_next_pass: pass %lld is the last; raise the setting passes",
                    (long long)e->f->pass);
    TRY(estimator_end_pass_alike(e, "the features before roofs_next_pass", err));
    e->busy = 1;
    roofs_status status = hypotheses_end_pass(e, err);
    e->busy = 0;
    if (status != ROOFS_OK && status != ROOFS_CANCELLED)
        e->phase = PHASE_BROKEN;
    if (status == ROOFS_OK)
        begin_pass(e);
    return status;
}
