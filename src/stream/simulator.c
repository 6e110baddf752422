#include "stream/simulator.h"

#include "base/memory.h"
#include "base/random.h"
#include "base/threads.h"

#include <math.h>

/* One stream of random numbers per purpose. Never renumber them: a seed must always give the same
 * data. */
enum purpose {
    FOR_FEATURES = 1, /* row = feature, place = sample */
    FOR_BETA = 2,
    FOR_TRUE_PLACES = 3,
    FOR_CORRUPTED = 4,
    FOR_ATTACK = 5, /* place = sample */
    FOR_NOISE = 6,  /* place = sample */
    FOR_OTHER_PLACES = 7,
    FOR_OTHER_BETA = 8
};

enum { CHUNK = 1024 }; /* samples per step */

static random_key simulation_key(const simulation *what, enum purpose purpose)
{
    return (random_key){.seed = what->seed, .stream = (uint32_t)purpose};
}

const char *attack_name(int64_t k)
{
    static const char *const names[] = {"uniform",     "shift",     "constant",
                                        "other-model", "sign-flip", "gross"};
    int64_t count = (int64_t)(sizeof names / sizeof *names);
    return k >= 0 && k < count ? names[k] : NULL;
}

static roofs_status simulation_check(const simulation *w, roofs_error *err)
{
    if (w->n < 1 || w->p < 1)
        return fail(err, ROOFS_BAD_SETTING, "n and p must be at least 1");
    if (w->mu < 1 || w->mu > w->p)
        return fail(err, ROOFS_BAD_SETTING, "mu is %lld; it must be from 1 to p = %lld",
                    (long long)w->mu, (long long)w->p);
    if (!(w->corruption >= 0.0 && w->corruption < 1.0))
        return fail(err, ROOFS_BAD_SETTING, "corruption is %g; it must be at least 0 and below 1",
                    w->corruption);
    if (!(w->noise_var >= 0.0 && w->noise_var < INFINITY))
        return fail(err, ROOFS_BAD_SETTING, "noise_var is %g; it must be finite and at least 0",
                    w->noise_var);
    if (!attack_name((int64_t)w->attack))
        return fail(err, ROOFS_BAD_SETTING, "unknown attack");
    return ROOFS_OK;
}

/* ---- a linear model on some of the features ---------------------------- */

typedef struct model {
    int64_t mu;
    int64_t *places; /* of its features */
    double *weights;
} model;

static void model_free(model *m)
{
    memory_free(m->places);
    memory_free(m->weights);
}

static roofs_status model_get(model *m, int64_t mu, int64_t p, roofs_error *err)
{
    *m = (model){.mu = mu};
    TRY(memory_get(&m->places, p, sizeof *m->places, "simulated features", err));
    return memory_get(&m->weights, mu, sizeof *m->weights, "simulated coefficients", err);
}

/* The true model: entries uniform on [0, 1], scaled to unit norm. */
static void draw_true_model(const simulation *w, model *m)
{
    if (w->random_order)
        random_permutation(simulation_key(w, FOR_TRUE_PLACES), w->p, m->places);
    else
        for (int64_t j = 0; j < w->mu; j++)
            m->places[j] = j;
    double squares = 0.0;
    for (int64_t j = 0; j < w->mu; j++) {
        m->weights[j] = random_uniform(simulation_key(w, FOR_BETA), 0, (uint64_t)j);
        squares += m->weights[j] * m->weights[j];
    }
    for (int64_t j = 0; j < w->mu; j++)
        m->weights[j] /= sqrt(squares);
}

/* The model of the adversary: entries N(0, 1/mu) on other features. */
static void draw_other_model(const simulation *w, model *m)
{
    random_permutation(simulation_key(w, FOR_OTHER_PLACES), w->p, m->places);
    random_normals(simulation_key(w, FOR_OTHER_BETA), 0, 0, w->mu, m->weights);
    for (int64_t j = 0; j < w->mu; j++)
        m->weights[j] /= sqrt((double)w->mu);
}

typedef struct respond_job {
    const simulator *s;
    const model *m;
    double *out;
} respond_job;

static void respond_to_chunk(void *user, int64_t chunk, int64_t worker)
{
    const respond_job *job = user;
    const simulator *s = job->s;
    const model *m = job->m;
    const random_key key = simulation_key(&s->what, FOR_FEATURES);
    const int64_t first = chunk * CHUNK, left = s->own - first;
    const int64_t count = left < CHUNK ? left : CHUNK;
    double x[CHUNK], *out = job->out + first;
    (void)worker;
    for (int64_t i = 0; i < count; i++)
        out[i] = 0.0;
    for (int64_t j = 0; j < m->mu; j++) {
        random_normals(key, (uint64_t)m->places[j], (uint64_t)(s->first + first), count, x);
        for (int64_t i = 0; i < count; i++)
            out[i] += m->weights[j] * x[i];
    }
}

/* out = X' weights. Threads divide the samples, so the order of every sum is the same for any
 * number of threads. */
static void respond(const simulator *s, const model *m, int64_t threads, double *out)
{
    respond_job job = {s, m, out};
    threads_each(respond_to_chunk, &job, (s->own + CHUNK - 1) / CHUNK, threads_count(threads));
}

/* Draws a model and computes its response. `beta` gets its coefficients unless it is NULL. */
static roofs_status model_response(const simulator *s, void (*draw)(const simulation *, model *),
                                   int64_t threads, double *beta, double *out, roofs_error *err)
{
    model m;
    roofs_status status = model_get(&m, s->what.mu, s->what.p, err);
    if (!status) {
        draw(&s->what, &m);
        for (int64_t j = 0; j < m.mu && beta; j++)
            beta[m.places[j]] = m.weights[j];
        respond(s, &m, threads, out);
    }
    model_free(&m);
    return status;
}

/* ---- corruption -------------------------------------------------------- */

static roofs_status choose_corrupted(simulator *s, roofs_error *err)
{
    const simulation *w = &s->what;
    int64_t *shuffled, corrupted = (int64_t)round(w->corruption * (double)w->n);
    TRY(memory_get(&shuffled, w->n, sizeof *shuffled, "simulated corruption", err));
    random_permutation(simulation_key(w, FOR_CORRUPTED), w->n, shuffled);
    for (int64_t i = 0; i < w->n; i++) {
        int64_t sample = shuffled[i] - s->first;
        if (sample >= 0 && sample < s->own)
            s->clean[sample] = i >= corrupted;
    }
    memory_free(shuffled);
    return ROOFS_OK;
}

/* The corrupted y*_i. `other`: the response of the other model. */
static double attacked_response(const simulator *s, int64_t i, double y, double largest,
                                const double *other)
{
    random_key key = simulation_key(&s->what, FOR_ATTACK);
    double u = 2.0 * random_uniform(key, 0, (uint64_t)(s->first + i)) - 1.0;
    switch (s->what.attack) {
    case ATTACK_UNIFORM:
        return y + 5.0 * largest * u;
    case ATTACK_SHIFT:
        return y + largest;
    case ATTACK_CONSTANT:
        return 3.0 * largest;
    case ATTACK_OTHER_MODEL:
        return 3.0 * other[i];
    case ATTACK_SIGN_FLIP:
        return -y;
    case ATTACK_GROSS:
        return y + (u < 0.0 ? -1e12 : 1e12);
    }
    return y;
}

static roofs_status simulator_corrupt(simulator *s, int64_t threads, roofs_error *err)
{
    const simulation *w = &s->what;
    double largest = 0.0, *other = NULL;
    TRY(choose_corrupted(s, err));
    if (w->attack == ATTACK_OTHER_MODEL) {
        TRY(memory_get(&other, s->own, sizeof *other, "simulated corruption", err));
        roofs_status status = model_response(s, draw_other_model, threads, NULL, other, err);
        if (status) {
            memory_free(other);
            return status;
        }
    }
    for (int64_t i = 0; i < s->own; i++)
        largest = fmax(largest, fabs(s->y[i]));
    largest = comm_largest_of(w->ranks, largest);
    for (int64_t i = 0; i < s->own; i++)
        if (!s->clean[i])
            s->y[i] = attacked_response(s, i, s->y[i], largest, other);
    memory_free(other);
    return ROOFS_OK;
}

static void add_noise(simulator *s)
{
    const simulation *w = &s->what;
    double scale = sqrt(w->noise_var);
    for (int64_t first = 0; first < s->own; first += CHUNK) {
        double noise[CHUNK];
        int64_t count = s->own - first < CHUNK ? s->own - first : CHUNK;
        random_normals(simulation_key(w, FOR_NOISE), 0, (uint64_t)(s->first + first), count, noise);
        for (int64_t i = 0; i < count; i++)
            s->y[first + i] += scale * noise[i];
    }
}

/* ---- the simulator ----------------------------------------------------- */

static roofs_status simulator_generate(simulator *s, int64_t threads, roofs_error *err)
{
    TRY(memory_get(&s->y, s->own, sizeof *s->y, "simulated responses", err));
    TRY(memory_get(&s->beta, s->what.p, sizeof *s->beta, "simulated coefficients", err));
    TRY(memory_get(&s->clean, s->own, sizeof *s->clean, "simulated corruption", err));
    TRY(model_response(s, draw_true_model, threads, s->beta, s->y, err));
    TRY(simulator_corrupt(s, threads, err));
    add_noise(s);
    return ROOFS_OK;
}

roofs_status simulator_create(simulator **out, const simulation *what, int64_t threads,
                              roofs_error *err)
{
    *out = NULL;
    TRY(simulation_check(what, err));
    TRY(memory_get(out, 1, sizeof **out, "a simulation", err));
    (*out)->what = *what;
    (*out)->first = comm_first(what->ranks);
    (*out)->own = comm_is_alone(what->ranks) ? what->n : what->ranks->n;
    roofs_status status = simulator_generate(*out, threads, err);
    if (status) {
        simulator_destroy(*out);
        *out = NULL;
    }
    return status;
}

void simulator_destroy(simulator *s)
{
    if (!s)
        return;
    memory_free(s->y);
    memory_free(s->beta);
    memory_free(s->clean);
    memory_free(s);
}

static void feature_f32(random_key key, int64_t feature, int64_t begin, int64_t n, float *out)
{
    double x[CHUNK];
    for (int64_t first = 0; first < n; first += CHUNK) {
        int64_t count = n - first < CHUNK ? n - first : CHUNK;
        random_normals(key, (uint64_t)feature, (uint64_t)(begin + first), count, x);
        for (int64_t i = 0; i < count; i++)
            out[first + i] = (float)x[i];
    }
}

typedef struct features_job {
    const simulator *s;
    int64_t first;
    roofs_dtype dtype;
    void *values;
} features_job;

static void simulate_feature(void *user, int64_t k, int64_t worker)
{
    const features_job *job = user;
    const simulator *s = job->s;
    const random_key key = simulation_key(&s->what, FOR_FEATURES);
    const int64_t n = s->own, feature = job->first + k;
    (void)worker;
    if (job->dtype == ROOFS_F32)
        feature_f32(key, feature, s->first, n, (float *)job->values + k * n);
    else
        random_normals(key, (uint64_t)feature, (uint64_t)s->first, n,
                       (double *)job->values + k * n);
}

void simulator_features(const simulator *s, int64_t first, int64_t count, roofs_dtype dtype,
                        int64_t threads, void *values)
{
    features_job job = {s, first, dtype, values};
    threads_each(simulate_feature, &job, count, threads_count(threads));
}
