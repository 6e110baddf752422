/* A sample of the keys divides them into buckets of about the same size. Threads divide the values,
 * count and move them to their buckets, and then sort buckets. */
#include "linalg/ordering.h"

#include <math.h>
#include <string.h>

/* Buckets per thread, so that no thread waits long for one with a large bucket; keys in the sample,
 * per bucket. */
enum { THREADS_MOST = 32, EACH = 4, BUCKETS_MOST = THREADS_MOST * EACH, SAMPLED = 4 };

/* Time to sort a value, in units of the time to read a value of a column. */
enum { SORT_COST = 64 };

typedef struct sort_job {
    order *o;
    const double *values;
    double *sorted;
    workers *w;
    int64_t n;
    int buckets;
    uint64_t bound[BUCKETS_MOST]; /* a key belongs to the bucket of the first bound above it */
    int64_t begin[BUCKETS_MOST + 1];
    int64_t counts[THREADS_MOST][BUCKETS_MOST]; /* of a thread; then where its next one goes */
} sort_job;

static uint64_t key_of(double value)
{
    uint64_t key;
    const double magnitude = fabs(value);
    memcpy(&key, &magnitude, sizeof key);
    return key;
}

static void find_bounds(sort_job *s)
{
    order_item sample[2][BUCKETS_MOST * SAMPLED];
    order drawn = {sample[0], sample[1], (int64_t)s->buckets * SAMPLED};
    for (int64_t k = 0; k < drawn.n; k++)
        sample[0][k] = (order_item){key_of(s->values[k * (s->n / drawn.n)]), k};
    order_sort_items(&drawn);
    for (int b = 0; b + 1 < s->buckets; b++)
        s->bound[b] = drawn.items[(b + 1) * SAMPLED].key;
    s->bound[s->buckets - 1] = UINT64_MAX;
}

/* The number of buckets is a power of two. */
static int bucket_of(const sort_job *s, uint64_t key)
{
    int low = 0;
    for (int half = s->buckets / 2; half > 0; half /= 2)
        low += s->bound[low + half - 1] <= key ? half : 0;
    return low;
}

/* Moves a thread's values to their buckets, behind those of the threads before it. */
static void move_values(sort_job *s, workers_range own, int me, int team)
{
    int64_t *next = s->counts[me];
    int64_t start = 0, to[BUCKETS_MOST] = {0};
    for (int b = 0; b < s->buckets; b++) {
        if (me == 0)
            s->begin[b] = start;
        for (int t = 0; t < team; t++) {
            if (t == me)
                to[b] = start;
            start += s->counts[t][b];
        }
    }
    if (me == 0)
        s->begin[s->buckets] = start;
    workers_reach(s->w, me, 3); /* all have read the counts */
    workers_wait_all(s->w, team, 3);
    memcpy(next, to, (size_t)s->buckets * sizeof *next);
    for (int64_t i = own.begin; i < own.end; i++) {
        const uint64_t key = key_of(s->values[i]);
        s->o->spare[next[bucket_of(s, key)]++] = (order_item){key, i};
    }
}

static void sort_bucket(sort_job *s, int b)
{
    const int64_t begin = s->begin[b], count = s->begin[b + 1] - begin;
    order part = {s->o->spare + begin, s->o->items + begin, count};
    order_sort_items(&part);
    if (part.items != s->o->items + begin)
        memcpy(s->o->items + begin, part.items, (size_t)count * sizeof *part.items);
    for (int64_t k = begin; k < begin + count; k++)
        memcpy(&s->sorted[k], &s->o->items[k].key, sizeof *s->sorted);
}

static void sort_thread(void *user, int me, int team)
{
    sort_job *s = user;
    const workers_range own = workers_share(s->n, me, team);
    const workers_range buckets = workers_share(s->buckets, me, team);
    if (me == 0)
        find_bounds(s);
    if (me == 0)
        workers_open(s->w, 1);
    else
        workers_wait_open(s->w, 1);
    memset(s->counts[me], 0, sizeof s->counts[me]);
    for (int64_t i = own.begin; i < own.end; i++)
        s->counts[me][bucket_of(s, key_of(s->values[i]))]++;
    workers_reach(s->w, me, 2);
    workers_wait_all(s->w, team, 2);
    move_values(s, own, me, team);
    workers_reach(s->w, me, 4);
    workers_wait_all(s->w, team, 4);
    for (int64_t b = buckets.begin; b < buckets.end; b++)
        sort_bucket(s, (int)b);
}

void ordering_sort(order *o, const double *values, int64_t n, workers *w, double *sorted)
{
    const int team = workers_for(w, n * SORT_COST);
    sort_job s = {.o = o, .values = values, .sorted = sorted, .w = w, .n = n, .buckets = 1};
    while (s.buckets < EACH * team && s.buckets < BUCKETS_MOST)
        s.buckets *= 2;
    if (team == 1 || n < (int64_t)s.buckets * SAMPLED) {
        order_sort(o, values, n);
        for (int64_t k = 0; k < n; k++)
            sorted[k] = order_value(o, k);
        return;
    }
    o->n = n;
    workers_run(w, n * SORT_COST, THREADS_MOST, sort_thread, &s);
}
