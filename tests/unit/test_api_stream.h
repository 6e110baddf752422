/* Checkpoints in memory, streams of every kind, and a monitor that stops a fit. */
#ifndef TEST_API_STREAM_H
#define TEST_API_STREAM_H

#include "test_api_problem.h"

/* A file in memory. Writes beyond the capacity fail. */
typedef struct store {
    unsigned char bytes[1 << 20];
    size_t size, capacity;
} store;

static inline void store_clear(store *s, size_t capacity)
{
    s->size = 0;
    s->capacity = capacity;
}

static inline int store_write(void *user, const void *bytes, size_t size)
{
    store *s = user;
    if (s->size + size > s->capacity)
        return 1;
    memcpy(s->bytes + s->size, bytes, size);
    s->size += size;
    return 0;
}

static inline void store_save(store *s, roofs_estimator *e)
{
    roofs_error err;
    store_clear(s, sizeof s->bytes);
    assert_fine(roofs_save(e, store_write, s, &err));
}

typedef struct store_reader {
    const store *from;
    size_t at;
} store_reader;

/* Returns at most 1000 bytes. */
static inline int64_t store_read(void *user, void *bytes, size_t size)
{
    store_reader *r = user;
    const size_t left = r->from->size - r->at, most = left < 1000 ? left : 1000;
    const size_t count = size < most ? size : most;
    memcpy(bytes, r->from->bytes + r->at, count);
    r->at += count;
    return (int64_t)count;
}

static inline int store_rewind(void *user)
{
    ((store_reader *)user)->at = 0;
    return 0;
}

static inline roofs_status store_load(const store *s, const roofs_settings *set,
                                      roofs_estimator **e, roofs_error *err)
{
    store_reader r = {.from = s};
    const roofs_status status = roofs_load(e, store_read, &r, set, err);
    assert_true(status != ROOFS_OK || r.at == s->size);
    return status;
}

/* ---- a monitor --------------------------------------------------------- */

/* Answers `answer` in round `at` of all batches; 0 = never. */
typedef struct stopper {
    int64_t rounds, at;
    int answer;
} stopper;

static inline int stop_at(void *user, const roofs_progress *now)
{
    stopper *s = user;
    (void)now;
    return ++s->rounds == s->at ? s->answer : ROOFS_MONITOR_CONTINUE;
}

/* ---- streams ----------------------------------------------------------- */

/* Every kind of block that the library accepts. */
typedef struct kind {
    const char *method;
    int sparse, narrow, named;
    int64_t passes;
    double reserve;
    int64_t reading; /* ROOFS_READING_... */
    int64_t always;
} kind;

enum { BATCH = 7 };

typedef struct stream {
    problem p;
    float narrow[FEATURES][SAMPLES];
    double values[FEATURES * SAMPLES];
    float narrow_values[FEATURES * SAMPLES];
    int64_t starts[FEATURES + 1];
    int32_t places[FEATURES + 1];
    int32_t samples[FEATURES * SAMPLES];
    kind k;
} stream;

/* Every third feature has no zeros, so that some columns of a sparse stream are stored dense. */
static inline void make_stream(stream *s, const kind *k)
{
    make_problem(&s->p, 3);
    s->k = *k;
    s->p.set.method = k->method;
    s->p.set.batch = BATCH;
    s->p.set.passes = k->passes;
    s->p.set.reserve = k->reserve;
    s->p.set.always = k->always;
    s->p.set.clean_ratio = strcmp(k->method, "torrent") == 0 ? 0.8 : 0;
    s->p.set.reading = k->reading;
    int64_t at = 0;
    for (int j = 0; j < FEATURES; j++) {
        s->starts[j] = at;
        s->places[j] = (int32_t)at;
        for (int i = 0; i < SAMPLES; i++) {
            if (k->sparse && j % 3 && i % 5)
                s->p.x[j][i] = 0;
            s->narrow[j][i] = (float)s->p.x[j][i];
            if (s->p.x[j][i] == 0)
                continue;
            s->values[at] = s->p.x[j][i];
            s->narrow_values[at] = s->narrow[j][i];
            s->samples[at++] = i;
        }
    }
    s->starts[FEATURES] = at;
    s->places[FEATURES] = (int32_t)at;
}

static inline roofs_block slice_of(const stream *s, int64_t first, int64_t count)
{
    roofs_block b = block_of(&s->p, first, count);
    if (s->k.narrow) {
        b.dtype = ROOFS_F32;
        b.values = s->narrow[first];
    }
    if (s->k.sparse) {
        b.values = s->k.narrow ? (const void *)s->narrow_values : s->values;
        b.starts = s->places + first;
        b.samples = s->samples;
        b.index = ROOFS_I32;
    }
    b.names = s->k.named ? s->p.pointers + first : NULL;
    return b;
}

static inline int64_t batches_of(const stream *s)
{
    return s->k.passes * ((FEATURES + BATCH - 1) / BATCH);
}

/* Batch number `at` of all passes. A monitor can stop the end of a pass, too. */
static inline roofs_status feed(roofs_estimator *e, const stream *s, int64_t at, roofs_error *why)
{
    const int64_t each = (FEATURES + BATCH - 1) / BATCH, first = at % each * BATCH;
    roofs_description now;
    roofs_describe(e, &now);
    if (first == 0 && now.position > 0) {
        roofs_status status = roofs_next_pass(e, why);
        if (status != ROOFS_OK)
            return status;
    }
    roofs_block b = slice_of(s, first, first + BATCH < FEATURES ? BATCH : FEATURES - first);
    return roofs_consume(e, &b, why);
}

static inline void feed_batches(roofs_estimator *e, const stream *s, int64_t from, int64_t to)
{
    roofs_error err;
    for (int64_t k = from; k < to; k++)
        assert_fine(feed(e, s, k, &err));
}

/* The methods that run on a GPU, by turns. */
static inline const char *gpu_method(int64_t turn)
{
    const char *names[8];
    roofs_method_info info;
    int64_t count = 0;
    for (int64_t k = 0; roofs_method_describe(k, &info); k++)
        if (info.gpu && count < 8)
            names[count++] = info.name;
    return names[turn % count];
}

#endif
