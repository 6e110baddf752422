#include "method/slab.h"

#include "base/memory.h"
#include "linalg/lanes_math.h"

#include <math.h>
#include <string.h>

roofs_status slab_create(slab *s, roofs_error *err)
{
    *s = (slab){.every = 1};
    TRY(memory_get(&s->R, 3 * SLAB_CAPACITY, sizeof *s->R, "the prior", err));
    s->S = s->R + SLAB_CAPACITY;
    s->k = s->R + 2 * SLAB_CAPACITY;
    return ROOFS_OK;
}

void slab_destroy(slab *s)
{
    memory_free(s->R);
    *s = (slab){0};
}

int64_t slab_bytes(void)
{
    return memory_bytes(3 * SLAB_CAPACITY, sizeof(double));
}

/* Keeps every second place: the list then holds half as many of the features. */
static void slab_thin(slab *s)
{
    for (int64_t at = 0; at < SLAB_CAPACITY; at++) {
        s->R[at] = slab_thinned(s->R, at);
        s->S[at] = slab_thinned(s->S, at);
        s->k[at] = slab_thinned(s->k, at);
    }
    s->every *= 2;
    s->used = SLAB_CAPACITY / 2;
}

void slab_record(slab *s, int64_t feature, double R, double S, double k)
{
    while (feature / s->every >= SLAB_CAPACITY)
        slab_thin(s);
    const int64_t at = slab_place(feature, s->every);
    if (at < 0)
        return;
    s->R[at] = R;
    s->S[at] = S;
    s->k[at] = k;
    s->used = at < s->used ? s->used : at + 1;
}

EVERY_WIDTH static void slab_add_up(const slab *s, int64_t begin, int64_t end, double *sums)
{
    slab_terms g = {{0}, {0}, {0}, {0}, {0}};
    for (int64_t i = begin; i < end; i += LANES) {
        slab_terms own = slab_terms_of(s->now, lanes_load_f64(s->R + i), lanes_load_f64(s->S + i),
                                       lanes_load_f64(s->k + i));
        g.count += own.count;
        g.p0 += own.p0;
        g.p1 += own.p1;
        g.pp += own.pp;
        g.p2 += own.p2;
    }
    sums[0] = lanes_total(g.count);
    sums[1] = lanes_total(g.p0);
    sums[2] = lanes_total(g.p1);
    sums[3] = lanes_total(g.pp);
    sums[4] = lanes_total(g.p2);
}

static void slab_piece(void *user, int64_t begin, int64_t end, double *sums)
{
    slab_add_up(user, begin, end, sums);
}

void slab_learn(slab *s, double total, int64_t mu, int64_t seen, workers *w)
{
    enum { COST = 32 }; /* of an estimate, see workers_sum */
    const slab_parameters initial = slab_initial(total, (double)mu, (double)seen);
    if (!s->started)
        s->now = initial;
    s->started = 1;
    for (int step = 0; step < SLAB_STEPS; step++) {
        double g[5];
        workers_sum(w, s->used, COST, slab_piece, s, 5, g);
        s->now = slab_step((slab_sums){g[0], g[1], g[2], g[3], g[4]}, initial);
    }
}

void slab_transfer(slab *s, archive *a)
{
    double *const lists[] = {s->R, s->S, s->k};
    archive_f64(a, &s->now.pi);
    archive_f64(a, &s->now.mean);
    archive_f64(a, &s->now.variance);
    archive_int(a, &s->started, 0, 1);
    archive_i64(a, &s->every, 1, INT64_MAX / 2);
    archive_i64(a, &s->used, 0, SLAB_CAPACITY);
    for (size_t l = 0; l < sizeof lists / sizeof *lists; l++) {
        archive_doubles(a, lists[l], s->used);
        if (a->loading)
            memset(lists[l] + s->used, 0, (size_t)(SLAB_CAPACITY - s->used) * sizeof(double));
    }
}
