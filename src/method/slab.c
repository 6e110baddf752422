#include "method/slab.h"

#include "base/memory.h"
#include "linalg/lanes_math.h"

#include <math.h>
#include <string.h>

enum { STEPS = 3 };

/* Pseudo-features that hold pi and the variance near what mu and y suggest. */
static const double PI_STRENGTH = 100, VARIANCE_STRENGTH = 20;
static const double PI_LOW = 1e-4, PI_HIGH = 0.9;
static const double MEAN_DOUBT = 4; /* two standard errors, squared */

roofs_status slab_create(slab *s, roofs_error *err)
{
    *s = (slab){.every = 1};
    TRY(memory_get(&s->R, 3 * SLAB_MOST, sizeof *s->R, "the prior", err));
    s->S = s->R + SLAB_MOST;
    s->k = s->R + 2 * SLAB_MOST;
    return ROOFS_OK;
}

void slab_destroy(slab *s)
{
    memory_free(s->R);
    *s = (slab){0};
}

int64_t slab_bytes(void)
{
    return memory_bytes(3 * SLAB_MOST, sizeof(double));
}

/* Keeps the even places: from now on every second feature counts. */
static void thin_out(slab *s)
{
    for (int64_t at = 0; at < SLAB_MOST; at++) {
        int keeps = at < SLAB_MOST / 2;
        s->R[at] = keeps ? s->R[2 * at] : 0;
        s->S[at] = keeps ? s->S[2 * at] : 0;
        s->k[at] = keeps ? s->k[2 * at] : 0;
    }
    s->every *= 2;
    s->used = SLAB_MOST / 2;
}

void slab_record(slab *s, int64_t feature, double R, double S, double k)
{
    while (feature / s->every >= SLAB_MOST)
        thin_out(s);
    if (feature % s->every != 0)
        return;
    int64_t at = feature / s->every;
    s->R[at] = R;
    s->S[at] = S;
    s->k[at] = k;
    s->used = at < s->used ? s->used : at + 1;
}

typedef struct sums {
    double count, p0, p1, pp, p2;
} sums;

/* p: probability that a feature is not zero, given its estimate; u, v: mean and
 * variance of its coefficient, then, in units of sqrt(k). */
EVERY_WIDTH static sums add_up(const slab *s)
{
    const double odds = s->pi / (1 - s->pi), m0 = s->mean, sb2 = s->variance;
    const lanes one = 1.0 + (lanes){0}, zero = {0};
    lanes count = {0}, p0 = {0}, p1 = {0}, pp = {0}, p2 = {0};
    for (int64_t i = 0; i < s->used; i += LANES) {
        lanes R = lanes_load_f64(s->R + i), S = lanes_load_f64(s->S + i);
        lanes k = lanes_load_f64(s->k + i);
        lanes_int known = S > zero;
        S = lanes_choose(known, S, one);
        k = lanes_choose(known, k, one);
        lanes root = lanes_sqrt(k), s1 = sb2 * k, t = R - m0 * root;
        lanes inverse = 1 / S, both = 1 / (s1 + S), unit = 1 / root;
        lanes evidence = 0.5 * (R * R * inverse - t * t * both);
        lanes ratio = odds * lanes_sqrt(S * both) * lanes_exp(evidence);
        lanes p = lanes_choose(known, 1 - 1 / (1 + ratio), zero);
        lanes v = s1 * S * both, u = v * unit * (R * inverse + m0 / sb2 * unit);
        count += lanes_choose(known, one, zero);
        p0 += p;
        p1 += p * u;
        pp += p * p * (u * u);
        p2 += p * (u * u + v * (unit * unit));
    }
    return (sums){lanes_total(count), lanes_total(p0), lanes_total(p1), lanes_total(pp),
                  lanes_total(p2)};
}

void slab_learn(slab *s, double total, int64_t mu, int64_t seen)
{
    const double usual = total / (double)mu;
    const double pi0 = fmin((double)mu / (double)(seen > mu ? seen : mu), PI_HIGH);
    if (!s->started) {
        s->pi = pi0;
        s->variance = usual;
        s->mean = 0;
        s->started = 1;
    }
    for (int step = 0; step < STEPS; step++) {
        sums g = add_up(s);
        s->pi = fmax(PI_LOW, fmin(PI_HIGH, (g.p0 + PI_STRENGTH * pi0) / (g.count + PI_STRENGTH)));
        s->mean = 0;
        if (g.p1 * g.p1 > 0)
            s->mean = g.p1 / (g.p0 + 1) * fmax(0, 1 - MEAN_DOUBT * g.pp / (g.p1 * g.p1));
        double held = VARIANCE_STRENGTH * pi0;
        s->variance =
            (g.p2 - 2 * s->mean * g.p1 + s->mean * s->mean * g.p0 + held * usual) / (g.p0 + held);
    }
}

void slab_transfer(slab *s, archive *a)
{
    double *const lists[] = {s->R, s->S, s->k};
    archive_f64(a, &s->pi);
    archive_f64(a, &s->mean);
    archive_f64(a, &s->variance);
    archive_int(a, &s->started, 0, 1);
    archive_i64(a, &s->every, 1, INT64_MAX / 2);
    archive_i64(a, &s->used, 0, SLAB_MOST);
    for (size_t l = 0; l < sizeof lists / sizeof *lists; l++) {
        archive_doubles(a, lists[l], s->used);
        if (a->loading)
            memset(lists[l] + s->used, 0, (size_t)(SLAB_MOST - s->used) * sizeof(double));
    }
}
