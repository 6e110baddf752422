/* Reads one file in two ways, which must agree. */
#ifndef TESTS_FUZZ_STREAM_H
#define TESTS_FUZZ_STREAM_H

#include "base/block.h"
#include "stream/source.h"
#include "tests/fuzz/fuzz.h"

enum { MOST_FEATURES = 60 };

/* What was read: one number per feature that changes with its name and every value. */
typedef struct stream_seen {
    roofs_status status;
    int64_t n, features;
    uint64_t hash[MOST_FEATURES];
} stream_seen;

static inline uint64_t mix(uint64_t hash, uint64_t with)
{
    hash = (hash ^ with) * 0x9e3779b97f4a7c15u;
    return hash ^ (hash >> 29);
}

static inline uint64_t mix_value(uint64_t hash, double value)
{
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    return mix(hash, value != value ? 1 : bits); /* one NaN is as good as another */
}

static inline uint64_t hash_feature(const roofs_block *b, int64_t k)
{
    uint64_t hash = 7;
    for (const char *at = b->names ? b->names[k] : ""; *at; at++)
        hash = mix(hash, (unsigned char)*at);
    for (int64_t i = 0; !b->starts && i < b->n; i++)
        hash = mix_value(hash, block_at(b, k, i));
    for (int64_t at = b->starts ? block_start(b, k) : 0; b->starts && at < block_start(b, k + 1);
         at++) {
        MUST(block_sample(b, at) >= 0 && block_sample(b, at) < b->n, "a sample beyond n");
        hash = mix_value(mix(hash, (uint64_t)block_sample(b, at)), block_value(b, at));
    }
    return hash;
}

/* Features from `skip` on, in blocks of `together`; what is passed over has the hash 0. */
static inline void stream_read(const char *path, const source_options *options, int64_t skip,
                               int64_t together, stream_seen *out)
{
    roofs_error err = {0};
    source *s = NULL;
    roofs_block block = {.count = 1};
    *out = (stream_seen){.features = skip};
    out->status = source_open(&s, &path, 1, options, &err);
    if (!out->status)
        out->status = source_skip(s, skip, &err);
    while (!out->status && block.count > 0 && out->features < MOST_FEATURES) {
        out->status = source_next(s, together, &block, &err);
        for (int64_t k = 0; k < block.count && !out->status; k++)
            out->hash[out->features++] = hash_feature(&block, k);
    }
    if (s)
        out->n = source_samples(s);
    must_be_explained(out->status, &err, path);
    source_close(s);
}

/* How a file is cut into blocks, and what is passed over, must not change what is read. */
static inline void stream_check(const char *path, const source_options *options)
{
    static stream_seen one, other;
    source_options small = *options;
    small.transpose_bytes =
        1; /* as little memory as possible: temporary files where rows are turned */
    stream_read(path, options, 0, 1, &one);
    stream_read(path, &small, 5, 5, &other);
    if (one.status || other.status || one.features < 5)
        return;
    MUST(one.n == other.n && one.features == other.features, "%lld features, and %lld",
         (long long)one.features, (long long)other.features);
    for (int64_t k = 5; k < one.features; k++)
        MUST(one.hash[k] == other.hash[k], "feature %lld differs", (long long)k);
}

/* Two bytes say how the file is to be read. */
static inline source_options stream_options(input *in, const char *format)
{
    unsigned how = take(in), more = take(in);
    return (source_options){.n = how & 1 ? 4 : 0,
                            .features = how & 2 ? 3 : 0,
                            .orient = (orientation)((how >> 2) % 3),
                            .base = (index_base)((how >> 5) % 3),
                            .missing = (missing_policy)(more % 3),
                            .format = format};
}

#endif
