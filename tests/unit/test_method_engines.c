/* The contract between a method and its engine: engines that keep the samples and the prior in
 * memory of their own give the same fits, bit for bit. What the host has not fetched is NAN. */
#include "api/estimator.h"
#include "method/bayes_engine.h"
#include "method/roofs_engine.h"
#include "test_api_stream.h"

enum { PADDED = SAMPLES + 64 };

/* The lists of an engine. */
typedef struct copies {
    void *cpu; /* state of the CPU's engine, which does the work */
    double own[3][PADDED], prior[3 * SLAB_CAPACITY];
} copies;

static void swap(double **a, double **b)
{
    double *was = *a;
    *a = *b;
    *b = was;
}

static void poison(double *list, int64_t count)
{
    for (int64_t i = 0; i < count; i++)
        list[i] = NAN;
}

static copies *new_copies(void)
{
    copies *c = calloc(1, sizeof *c);
    assert_non_null(c);
    return c;
}

/* ---- roofs ------------------------------------------------------------- */

static roofs_status roofs_copy_create(void **state, const fit *f, roofs_error *err)
{
    copies *c = new_copies();
    *state = c;
    return roofs_cpu.create(&c->cpu, f, err);
}

static void roofs_copy_destroy(void *state)
{
    roofs_cpu.destroy(((copies *)state)->cpu);
    free(state);
}

static roofs_status roofs_copy_begin(void *state, const roofs_job *job, roofs_error *err)
{
    copies *c = state;
    if (job->host_changed) {
        memcpy(c->own[0], job->f->residual, SAMPLES * sizeof(double));
        memcpy(c->own[1], job->f->trusted.mask, SAMPLES * sizeof(double));
    }
    return roofs_cpu.begin(c->cpu, job, err);
}

static roofs_status roofs_copy_round(void *state, roofs_job *job, roofs_error *err)
{
    copies *c = state;
    fit *f = job->f;
    double *residual = c->own[0], *mask = c->own[1];
    swap(&f->residual, &residual);
    swap(&f->trusted.mask, &mask);
    roofs_status status = roofs_cpu.round(c->cpu, job, err);
    swap(&f->residual, &residual);
    swap(&f->trusted.mask, &mask);
    return status;
}

static roofs_status roofs_copy_end(void *state, roofs_job *job, roofs_error *err)
{
    poison(job->f->residual, SAMPLES);
    poison(job->f->trusted.mask, SAMPLES);
    (void)state;
    (void)err;
    memset(job->selection.keep, 1, (size_t)job->f->cols.count);
    return ROOFS_OK;
}

static roofs_status roofs_copy_fetch(void *state, const roofs_job *job, roofs_error *err)
{
    const copies *c = state;
    (void)err;
    memcpy(job->f->residual, c->own[0], SAMPLES * sizeof(double));
    memcpy(job->f->trusted.mask, c->own[1], SAMPLES * sizeof(double));
    return ROOFS_OK;
}

static const roofs_engine roofs_copy = {
    .create = roofs_copy_create,
    .destroy = roofs_copy_destroy,
    .begin = roofs_copy_begin,
    .round = roofs_copy_round,
    .end = roofs_copy_end,
    .fetch = roofs_copy_fetch,
};

/* ---- roofs-bayes ------------------------------------------------------- */

static roofs_status bayes_copy_create(void **state, const fit *f, roofs_error *err)
{
    copies *c = new_copies();
    *state = c;
    return bayes_cpu.create(&c->cpu, f, err);
}

static void bayes_copy_destroy(void *state)
{
    bayes_cpu.destroy(((copies *)state)->cpu);
    free(state);
}

static roofs_status bayes_copy_begin(void *state, const bayes_job *job, roofs_error *err)
{
    copies *c = state;
    const mixture *m = &job->samples;
    if (job->host_changed) {
        memcpy(c->own[0], m->r, SAMPLES * sizeof(double));
        memcpy(c->own[1], m->w, SAMPLES * sizeof(double));
        memcpy(c->own[2], m->V, SAMPLES * sizeof(double));
        memcpy(c->prior, job->prior.R, sizeof c->prior);
    }
    return bayes_cpu.begin(c->cpu, job, err);
}

typedef struct swapped {
    double *r, *w, *V, *R;
} swapped;

static void bayes_swap(bayes_job *job, swapped *with)
{
    swap(&job->samples.r, &with->r);
    swap(&job->samples.w, &with->w);
    swap(&job->samples.V, &with->V);
    swap(&job->prior.R, &with->R);
    job->prior.S = job->prior.R + SLAB_CAPACITY;
    job->prior.k = job->prior.R + 2 * SLAB_CAPACITY;
}

static swapped bayes_own(copies *c)
{
    return (swapped){c->own[0], c->own[1], c->own[2], c->prior};
}

static roofs_status bayes_copy_round(void *state, bayes_job *job, int64_t spared, roofs_error *err)
{
    copies *c = state;
    swapped own = bayes_own(c);
    bayes_swap(job, &own);
    roofs_status status = bayes_cpu.round(c->cpu, job, spared, err);
    bayes_swap(job, &own);
    return status;
}

static roofs_status bayes_copy_keep(void *state, bayes_job *job, int64_t most, roofs_error *err)
{
    copies *c = state;
    swapped own = bayes_own(c);
    bayes_swap(job, &own);
    roofs_status status = bayes_cpu.keep(c->cpu, job, most, err);
    bayes_swap(job, &own);
    return status;
}

static roofs_status bayes_copy_end(void *state, bayes_job *job, roofs_error *err)
{
    poison(job->f->residual, SAMPLES);
    poison(job->f->trusted.mask, SAMPLES);
    poison(job->samples.r, SAMPLES);
    poison(job->samples.w, SAMPLES);
    poison(job->samples.V, SAMPLES);
    poison(job->prior.R, 3 * SLAB_CAPACITY);
    (void)state;
    (void)err;
    memset(job->selection.keep, 1, (size_t)job->f->cols.count);
    return ROOFS_OK;
}

static roofs_status bayes_copy_fetch(void *state, bayes_job *job, int what, roofs_error *err)
{
    const copies *c = state;
    (void)err;
    if (what & BAYES_SAMPLES) {
        memcpy(job->samples.r, c->own[0], SAMPLES * sizeof(double));
        memcpy(job->samples.w, c->own[1], SAMPLES * sizeof(double));
        memcpy(job->samples.V, c->own[2], SAMPLES * sizeof(double));
    }
    if (what & BAYES_PRIOR)
        memcpy(job->prior.R, c->prior, sizeof c->prior);
    return ROOFS_OK;
}

static const bayes_engine bayes_copy = {
    .create = bayes_copy_create,
    .destroy = bayes_copy_destroy,
    .begin = bayes_copy_begin,
    .round = bayes_copy_round,
    .keep = bayes_copy_keep,
    .end = bayes_copy_end,
    .fetch = bayes_copy_fetch,
};

/* ---- fits -------------------------------------------------------------- */

static const void *copy_engine(const char *name)
{
    return strcmp(name, "roofs") == 0 ? (const void *)&roofs_copy : (const void *)&bayes_copy;
}

static roofs_estimator *open_with(const stream *s, device_ops *ops)
{
    roofs_estimator *e = open_fit(&s->p);
    *ops = device_cpu;
    ops->engine = copy_engine;
    e->ops = ops;
    return e;
}

static void assert_same_state(const roofs_estimator *a, const roofs_estimator *b)
{
    const fit *f = a->f, *g = b->f;
    assert_int_equal(f->rounds, g->rounds);
    assert_int_equal(f->trusted.count, g->trusted.count);
    assert_same_doubles(&f->trusted.cut, &g->trusted.cut, 1);
    assert_same_doubles(&f->intercept, &g->intercept, 1);
    assert_same_doubles(f->residual, g->residual, SAMPLES);
    assert_same_doubles(f->trusted.mask, g->trusted.mask, SAMPLES);
    assert_int_equal(f->cols.count, g->cols.count);
    for (int64_t j = 0; j < f->cols.count; j++) {
        assert_int_equal(f->cols.items[j].feature, g->cols.items[j].feature);
        assert_same_doubles(&f->cols.items[j].coef, &g->cols.items[j].coef, 1);
        assert_same_doubles(&f->cols.items[j].variance, &g->cols.items[j].variance, 1);
    }
}

static void for_both_methods(void (*check)(stream *s))
{
    static stream s;
    for (int form = 0; form < 8; form++) {
        make_stream(&s, &(kind){.method = gpu_method(form), .passes = 1});
        s.p.set.intercept = form >> 1 & 1;
        s.p.set.standardize = form >> 2;
        check(&s);
    }
}

/* Several batches in a block: the host reads no samples in between. */
static void fit_whole_block(stream *s)
{
    device_ops ops;
    roofs_error err;
    roofs_estimator *plain = open_fit(&s->p), *e = open_with(s, &ops);
    roofs_block all = slice_of(s, 0, FEATURES);
    assert_fine(roofs_consume(plain, &all, &err));
    assert_fine(roofs_consume(e, &all, &err));
    assert_same_state(plain, e);
    assert_fine(roofs_finish(plain, &err));
    assert_fine(roofs_finish(e, &err));
    assert_same_state(plain, e);
    roofs_destroy(plain);
    roofs_destroy(e);
}

static void test_engines_with_their_own_memory_give_the_same_fit(void **state)
{
    (void)state;
    for_both_methods(fit_whole_block);
}

static void save_every_batch(stream *s)
{
    static store a, b;
    device_ops ops;
    roofs_error err;
    s->p.set.groups = ROOFS_GROUPS_OFF; /* only the host fills a pool */
    roofs_estimator *plain = open_fit(&s->p), *e = open_with(s, &ops);
    for (int64_t k = 0; k < batches_of(s); k++) {
        assert_fine(feed(plain, s, k, &err));
        assert_fine(feed(e, s, k, &err));
        store_save(&a, plain);
        store_save(&b, e);
        assert_int_equal(a.size, b.size);
        assert_memory_equal(a.bytes, b.bytes, a.size);
    }
    roofs_destroy(plain);
    roofs_destroy(e);
}

static void test_checkpoints_have_the_same_bytes(void **state)
{
    (void)state;
    for_both_methods(save_every_batch);
}

/* After undo the engine must read the host's state again. */
static void undo_every_round(stream *s)
{
    device_ops ops;
    roofs_error err;
    roofs_estimator *plain = open_fit(&s->p);
    stopper never = {0};
    roofs_block all = slice_of(s, 0, FEATURES);
    roofs_set_monitor(plain, stop_at, &never);
    assert_fine(roofs_consume(plain, &all, &err));
    for (int64_t at = 1; at <= never.rounds; at++) {
        stopper once = {.at = at, .answer = ROOFS_MONITOR_UNDO};
        roofs_estimator *e = open_with(s, &ops);
        roofs_set_monitor(e, stop_at, &once);
        roofs_set_undo(e, 1);
        assert_int_equal(roofs_consume(e, &all, &err), ROOFS_CANCELLED);
        roofs_block rest = slice_of(s, e->f->position, FEATURES - e->f->position);
        roofs_set_monitor(e, NULL, NULL);
        assert_fine(roofs_consume(e, &rest, &err));
        assert_same_state(plain, e);
        roofs_destroy(e);
    }
    roofs_destroy(plain);
}

static void test_undone_batches_are_fitted_again(void **state)
{
    (void)state;
    for_both_methods(undo_every_round);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_engines_with_their_own_memory_give_the_same_fit),
        cmocka_unit_test(test_checkpoints_have_the_same_bytes),
        cmocka_unit_test(test_undone_batches_are_fitted_again),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
