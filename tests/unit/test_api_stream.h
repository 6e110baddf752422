/* Checkpoints in memory, and streams of every kind, for the tests of checkpoints. */
#ifndef TEST_API_STREAM_H
#define TEST_API_STREAM_H

#include "test_api_problem.h"

typedef struct bytes_kept {
    unsigned char bytes[1 << 20];
    size_t size, at;
    size_t room;    /* writes beyond it fail */
    size_t at_once; /* bytes a read gives at most */
} bytes_kept;

static inline int keep(void *user, const void *bytes, size_t size)
{
    bytes_kept *k = user;
    if (k->size + size > k->room)
        return 1;
    memcpy(k->bytes + k->size, bytes, size);
    k->size += size;
    return 0;
}

static inline int64_t give(void *user, void *bytes, size_t size)
{
    bytes_kept *k = user;
    size_t here = k->size - k->at < size ? k->size - k->at : size;
    here = here < k->at_once ? here : k->at_once;
    memcpy(bytes, k->bytes + k->at, here);
    k->at += here;
    return (int64_t)here;
}

/* ---- streams ----------------------------------------------------------- */

/* What a stream is like: every kind of block the library takes. */
typedef struct kind {
    const char *method;
    int sparse, narrow, named;
    int64_t passes;
    double reserve;
    int64_t reading; /* ROOFS_READING_... */
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

/* Every third feature is full, so that some sparse columns are held dense. */
static inline void make_stream(stream *s, const kind *k)
{
    make_problem(&s->p, 3);
    s->k = *k;
    s->p.set.method = k->method;
    s->p.set.batch = BATCH;
    s->p.set.passes = k->passes;
    s->p.set.reserve = k->reserve;
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

static inline roofs_block part_of(const stream *s, int64_t first, int64_t count)
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

/* Batch number `at` of all passes. */
static inline roofs_status feed(roofs_estimator *e, const stream *s, int64_t at, roofs_error *why)
{
    const int64_t each = (FEATURES + BATCH - 1) / BATCH, first = at % each * BATCH;
    roofs_error err;
    roofs_description now;
    roofs_describe(e, &now);
    if (first == 0 && now.position > 0)
        assert_fine(roofs_next_pass(e, &err));
    roofs_block b = part_of(s, first, first + BATCH < FEATURES ? BATCH : FEATURES - first);
    return roofs_consume(e, &b, why);
}

#endif
