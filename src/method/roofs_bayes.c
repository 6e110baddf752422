/* roofs-bayes: streaming spike-and-slab regression with a clean/corrupt mixture,
 * which does not need the true features to come first. docs/roofs-bayes.md has the
 * model and every update; names are those of that page. */
#include "base/memory.h"
#include "linalg/lanes_math.h"
#include "method/coordinate_formula.h"
#include "method/largest.h"
#include "method/method.h"
#include "method/rounds.h"
#include "method/slab.h"
#include "robust/mixture.h"

#include <math.h>
#include <string.h>

enum { FINAL_SWEEPS = 20 };

/* y has scale 1 to 2 and columns scale 1: a smaller coefficient is none. */
static const double NEGLIGIBLE = 1e-12;

/* A final sweep that moves no coefficient by more than this times the slab's width
 * is the last. */
static const double SETTLED = 1e-2;

typedef struct state {
    mixture samples;
    slab prior;
    largest ranks;
    int64_t *some; /* columns of a partial sweep */
    int64_t some_capacity;
    /* of the sweep under way */
    columns *cols;
    const int64_t *which; /* NULL = all */
    double largest_move;  /* of a coefficient */
    int at_end;           /* no more features come */
    bayes_job job;        /* for rounds on a device that is not here */
    double *away;         /* n, for these: see bayes_job */
    int changed;          /* samples and prior: the device does not know them yet */
} state;

static int64_t bayes_bytes(const roofs_settings *set, int64_t n)
{
    const int64_t each = 2 * sizeof(double) + 1 + 2 * sizeof(order_item); /* per column, doubling */
    int64_t most = fit_capacity(set) + set->batch;
    return memory_sum(mixture_bytes(n), memory_sum(slab_bytes(), memory_bytes(most, 2 * each)));
}

static void bayes_destroy(void *own)
{
    state *s = own;
    if (!s)
        return;
    mixture_destroy(&s->samples);
    slab_destroy(&s->prior);
    largest_destroy(&s->ranks);
    memory_free(s->some);
    memory_free(s->away);
    memory_free(s);
}

/* ---- between the method and the fit ------------------------------------ */

/* Eight samples, or those that are left; the mixture's arrays are padded. */
LANES_INLINE void show_some(const mixture *m, fit *f, int64_t i, size_t some, lanes *highest,
                            lanes *number)
{
    const lanes one = 1.0 + (lanes){0}, zero = {0};
    lanes given = {0}, w = lanes_load_f64(m->w + i);
    memcpy(&given, f->y + i, some * sizeof(double));
    lanes r = lanes_load_f64(m->r + i) + (given - lanes_load_f64(m->y + i));
    memcpy(f->residual + i, &r, some * sizeof(double));
    memcpy(f->trusted.mask + i, &w, some * sizeof(double));
    lanes_int trusted = w > TRUSTED;
    lanes size = lanes_choose(trusted, lanes_choose(r < zero, -r, r), zero);
    *highest = lanes_choose(size > *highest, size, *highest);
    *number += lanes_choose(trusted, one, zero);
}

EVERY_WIDTH static void show_samples(const mixture *m, fit *f)
{
    lanes highest = {0}, number = {0};
    int64_t i = 0;
    for (; i + LANES <= f->n; i += LANES)
        show_some(m, f, i, LANES, &highest, &number);
    if (i < f->n)
        show_some(m, f, i, (size_t)(f->n - i), &highest, &number);
    double cut = 0;
    for (int l = 0; l < LANES; l++)
        cut = fmax(cut, highest[l]);
    f->trusted.count = (int64_t)comm_sum_of(&f->comm, lanes_total(number));
    f->trusted.cut = comm_largest_of(&f->comm, cut);
}

/* What everyone else sees of the samples. */
static void publish(const state *s, fit *f)
{
    f->intercept = s->samples.intercept;
    show_samples(&s->samples, f);
}

static roofs_status bayes_create(void **own, fit *f, roofs_error *err)
{
    state *s = NULL;
    TRY(memory_get(&s, 1, sizeof *s, "method roofs-bayes", err));
    *own = s;
    TRY(slab_create(&s->prior, err));
    TRY(mixture_create(&s->samples, &f->comm, f->y, f->n, f->set.intercept, f->set.clean_ratio,
                       err));
    f->counted = s->samples.W;
    publish(s, f);
    return ROOFS_OK;
}

static roofs_status make_room(state *s, int64_t count, roofs_error *err)
{
    TRY(memory_grow(&s->some, &s->some_capacity, count, sizeof *s->some, "a list", err));
    return largest_room(&s->ranks, count, err);
}

/* ---- sweep ------------------------------------------------------------- */

/* One coordinate: d = z'Wz, slope = z'Wr. Returns how far the coefficient moves. */
static double update_one(state *s, column *c, double d, double slope)
{
    const double k = slab_scale(c->flatness);
    const coordinate prepared = coordinate_prepare(c->coef, d, k, &s->samples.now, &s->prior.now);
    coordinate_estimate found;
    const double delta = coordinate_move(&prepared, slope, &found);
    c->coef = coordinate_lives(&prepared) ? c->coef + delta : 0;
    c->variance = found.variance;
    c->probability = found.probability;
    if (coordinate_lives(&prepared))
        slab_record(&s->prior, c->feature, found.R, coordinate_variance(&prepared), k);
    return delta;
}

/* The coordinates of a block, in order, on its small Gram matrix. */
static void update_block(void *user, int64_t first, int64_t count, const double slope[DEVICE_BLOCK],
                         const double gram[DEVICE_BLOCK][DEVICE_BLOCK], double delta[DEVICE_BLOCK],
                         double spread[DEVICE_BLOCK])
{
    state *s = user;
    for (int64_t q = 0; q < count; q++) {
        column *c = &s->cols->items[s->which ? s->which[first + q] : first + q];
        double now = slope[q], variance = s->which ? c->variance : 0;
        for (int64_t p = 0; p < q; p++)
            now -= gram[q][p] * delta[p];
        delta[q] = update_one(s, c, gram[q][q], now);
        s->largest_move = fmax(s->largest_move, fabs(delta[q]));
        spread[q] = c->variance - variance;
    }
}

/* x: padded, as all arrays of the mixture. */
EVERY_WIDTH static void no_less_than_zero(double *x, int64_t n)
{
    const lanes zero = {0};
    for (int64_t i = 0; i < n; i += LANES) {
        lanes v = lanes_load_f64(x + i);
        v = lanes_choose(v > zero, v, zero);
        memcpy(x + i, &v, sizeof v);
    }
}

/* hyper, sweep, judge: over all columns, or over which[0..count). */
static roofs_status round_over(state *s, fit *f, const int64_t *which, int64_t count,
                               roofs_error *err)
{
    mixture *m = &s->samples;
    slab_learn(&s->prior, m->total, f->set.mu, f->features_seen);
    if (!which)
        memset(m->V, 0, (size_t)f->n * sizeof *m->V);
    s->cols = &f->cols;
    s->which = which;
    s->largest_move = 0;
    device_sweep how = {
        .weight = m->W, .r = m->r, .variance = m->V, .update = update_block, .user = s};
    columns_sweep(&f->cols, which, count, &how);
    no_less_than_zero(m->V, f->n);
    mixture_recentre(m);
    mixture_judge(m, s->at_end);
    publish(s, f);
    return fit_round_done(f, err);
}

/* ---- here or there ----------------------------------------------------- */

static const rounds *elsewhere(const fit *f)
{
    return f->cols.ops->rounds;
}

static roofs_status find_away(state *s, const fit *f, roofs_error *err)
{
    if (s->away)
        return ROOFS_OK;
    TRY(memory_get(&s->away, f->n, sizeof *s->away, "the responses", err));
    for (int64_t i = 0; i < f->n; i++)
        s->away[i] = f->y[i] - s->samples.y[i];
    return ROOFS_OK;
}

/* The fit as the device needs it, before its rounds. */
static roofs_status move_there(state *s, fit *f, int at_end, roofs_error *err)
{
    s->at_end = at_end;
    if (!elsewhere(f))
        return ROOFS_OK;
    TRY(find_away(s, f, err));
    s->job = (bayes_job){.samples = &s->samples,
                         .prior = &s->prior,
                         .away = s->away,
                         .changed = s->changed,
                         .at_end = at_end,
                         .mu = f->set.mu,
                         .seen = f->features_seen};
    TRY(elsewhere(f)->bayes_begin(&f->cols, &s->job, err));
    s->changed = 0;
    return ROOFS_OK;
}

/* What its rounds have made of it. */
static roofs_status move_back(state *s, fit *f, roofs_error *err)
{
    if (!elsewhere(f))
        return ROOFS_OK;
    s->job.wanted = s->at_end || fit_is_watched(f);
    TRY(elsewhere(f)->bayes_end(&f->cols, &s->job, s->ranks.keep, err));
    columns_drop(&f->cols, s->ranks.keep, NULL, NULL);
    if (s->job.wanted) {
        publish(s, f);
        return ROOFS_OK;
    }
    f->intercept = s->samples.intercept;
    f->trusted.count = s->job.trusted;
    f->trusted.cut = s->job.cut;
    return ROOFS_OK;
}

/* A monitor may stop the fit, and at the end it is the moves that do. */
static roofs_status round_there(state *s, fit *f, int64_t spared, roofs_error *err)
{
    s->job.unseen = !f->monitor && !s->at_end;
    TRY(elsewhere(f)->bayes_round(f->cols.dev, &s->job, spared, err));
    if (s->job.unseen)
        return fit_round_done(f, err);
    s->largest_move = s->job.largest_move;
    s->prior.now.variance = s->job.slab_variance;
    f->trusted.count = s->job.trusted;
    return fit_round_done(f, err);
}

static roofs_status round_over_all(state *s, fit *f, roofs_error *err)
{
    return elsewhere(f) ? round_there(s, f, 0, err) : round_over(s, f, NULL, 0, err);
}

/* ---- who stays --------------------------------------------------------- */

/* One more round over those about to be decided on, and a batch of the kept. */
static roofs_status look_again(state *s, fit *f, int64_t cap, roofs_error *err)
{
    int64_t count = 0, spared = cap > f->set.batch ? cap - f->set.batch : 0;
    if (elsewhere(f))
        return round_there(s, f, spared, err);
    largest_mark(&s->ranks, f, spared);
    for (int64_t j = 0; j < f->cols.count; j++)
        if (!s->ranks.keep[j])
            s->some[count++] = j;
    return round_over(s, f, s->some, count, err);
}

static roofs_status keep_largest(state *s, fit *f, int64_t cap, roofs_error *err)
{
    mixture *m = &s->samples;
    if (f->cols.count <= cap)
        return ROOFS_OK;
    if (elsewhere(f))
        return elsewhere(f)->bayes_keep(f->cols.dev, &s->job, cap, err);
    largest_mark(&s->ranks, f, cap);
    columns_drop(&f->cols, s->ranks.keep, m->r, m->V);
    no_less_than_zero(m->V, f->n);
    mixture_variances(m);
    publish(s, f);
    return ROOFS_OK;
}

static roofs_status bayes_consume(void *own, fit *f, roofs_error *err)
{
    state *s = own;
    const int64_t cap = fit_capacity(&f->set);
    if (f->cols.count == 0)
        return ROOFS_OK;
    TRY(make_room(s, f->cols.count, err));
    TRY(move_there(s, f, 0, err));
    roofs_status status = round_over_all(s, f, err);
    if (status == ROOFS_OK && f->cols.count > cap)
        status = look_again(s, f, cap, err);
    if (status != ROOFS_OK && status != ROOFS_CANCELLED)
        return status;
    TRY(keep_largest(s, f, cap, err)); /* also when cancelled: the batch is about to go */
    TRY(move_back(s, f, err));
    return status;
}

/* ---- the end of the stream --------------------------------------------- */

/* Until no coefficient moves by more than a hundredth of what is usual. */
static roofs_status final_rounds(state *s, fit *f, roofs_error *err)
{
    for (int k = 0; k < FINAL_SWEEPS; k++) {
        TRY(round_over_all(s, f, err));
        if (s->largest_move <= SETTLED * sqrt(s->prior.now.variance))
            break;
    }
    return ROOFS_OK;
}

static roofs_status all_final_rounds(state *s, fit *f, roofs_error *err)
{
    if (f->cols.count > f->set.mu) {
        TRY(final_rounds(s, f, err));
        TRY(keep_largest(s, f, f->set.mu, err));
    }
    return final_rounds(s, f, err);
}

static roofs_status bayes_finish(void *own, fit *f, roofs_error *err)
{
    state *s = own;
    if (f->cols.count == 0)
        return ROOFS_OK;
    TRY(make_room(s, f->cols.count, err)); /* a loaded fit has seen no batch */
    TRY(move_there(s, f, 1, err));
    roofs_status status = all_final_rounds(s, f, err);
    if (status == ROOFS_OK || status == ROOFS_CANCELLED)
        TRY(move_back(s, f, err));
    TRY(status);
    double times = mixture_calibrate(&s->samples);
    for (int64_t j = 0; j < f->cols.count; j++) {
        double coef = times * f->cols.items[j].coef;
        f->cols.items[j].coef = fabs(coef) < NEGLIGIBLE ? 0 : coef;
    }
    publish(s, f);
    return ROOFS_OK;
}

static void bayes_transfer(void *own, fit *f, archive *a)
{
    state *s = own;
    if (!a->loading && !s->changed && a->status == ROOFS_OK && f->cols.ops && elsewhere(f))
        a->status = elsewhere(f)->bayes_prior(f->cols.dev, &s->prior, a->err);
    mixture_transfer(&s->samples, a);
    slab_transfer(&s->prior, a);
    s->changed |= a->loading;
}

static int64_t bayes_transfer_bytes(const roofs_settings *set, int64_t n)
{
    (void)set;
    return memory_sum(mixture_transfer_bytes(n), slab_bytes());
}

const method method_roofs_bayes = {
    .name = "roofs-bayes",
    .summary = "order-free: spike-and-slab features, clean/corrupt samples, probabilities of both",
    .wants_scale = 1,
    .has_reserve = 1,
    .has_rounds = 1,
    .has_probability = 1,
    .splits = 1,
    .bytes = bayes_bytes,
    .create = bayes_create,
    .destroy = bayes_destroy,
    .consume = bayes_consume,
    .finish = bayes_finish,
    .transfer = bayes_transfer,
    .transfer_bytes = bayes_transfer_bytes,
};
