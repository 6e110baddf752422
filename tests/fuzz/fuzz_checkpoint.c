/* The checkpoint of a fit. First byte even: the rest is loaded as it is. Odd: the digests of
 * its sections are made right first, or they would turn every change away. What is accepted
 * can go on, end and be saved. */
#include "tests/fuzz/fuzz.h"

#define XXH_INLINE_ALL
#include <xxhash.h>

enum { HEAD = 16, SECTION = 32, MOST = 1 << 16, MOST_SAMPLES = 64 };

static void mend(unsigned char *bytes, size_t size)
{
    uint32_t version = 0;
    if (size >= HEAD)
        memcpy(&version, bytes + 8, sizeof version);
    for (size_t at = HEAD; at + SECTION <= size;) {
        int64_t length, most = (int64_t)(size - at - SECTION);
        memcpy(&length, bytes + at + 16, sizeof length);
        if (length < 0 || length > most)
            length = most;
        memcpy(bytes + at + 16, &length, sizeof length);
        uint64_t name = XXH3_64bits_withSeed(bytes + at, 24, version);
        uint64_t digest = XXH3_64bits_withSeed(bytes + at + SECTION, (size_t)length, name);
        memcpy(bytes + at + 24, &digest, sizeof digest);
        at += SECTION + (size_t)length;
    }
}

static int64_t give(void *user, void *bytes, size_t size)
{
    input *in = user;
    size = size < left(in) ? size : left(in);
    memcpy(bytes, in->at, size);
    in->at += size;
    return (int64_t)size;
}

static int count_bytes(void *user, const void *bytes, size_t size)
{
    (void)bytes;
    *(size_t *)user += size;
    return 0;
}

/* Features as they may come next; any status is fine, but it must be one with a reason. */
static void go_on(roofs_estimator *e, int64_t n)
{
    double values[3 * MOST_SAMPLES];
    roofs_error err = {0};
    roofs_result view;
    size_t saved = 0;
    for (int64_t i = 0; i < 3 * n; i++)
        values[i] = (double)((i * 37) % 11) - 5;
    const roofs_block block = {
        .count = 3, .n = n, .values = values, .feature_stride = n, .sample_stride = 1};
    roofs_status status = roofs_consume(e, &block, &err);
    if (!status)
        status = roofs_save(e, count_bytes, &saved, &err);
    if (!status)
        status = roofs_finish(e, &err);
    if (!status)
        status = roofs_view(e, &view, &err);
    MUST(!status || err.text[0], "status %d without a reason", (int)status);
}

int LLVMFuzzerTestOneInput(const unsigned char *data, size_t size)
{
    static unsigned char bytes[MOST];
    roofs_settings run;
    roofs_error err = {0};
    roofs_estimator *e = NULL;
    roofs_description where;
    if (size < 2 || size > MOST)
        return 0;
    memcpy(bytes, data + 1, size - 1);
    if (data[0] & 1)
        mend(bytes, size - 1);
    input in = {bytes, bytes + size - 1};
    roofs_settings_init(&run);
    run.threads = 1;
    run.max_memory = 1 << 28;
    roofs_status status = roofs_load(&e, give, &in, &run, &err);
    MUST((status == ROOFS_OK) == (e != NULL), "status %d", (int)status);
    MUST(!status || status == ROOFS_BAD_DATA || status == ROOFS_OVER_LIMIT, "%s", err.text);
    MUST(!status || err.text[0], "no reason");
    if (e) {
        roofs_describe(e, &where);
        if (where.n <= MOST_SAMPLES && where.settings->max_iter <= 1000)
            go_on(e, where.n);
        roofs_destroy(e);
    }
    return 0;
}
