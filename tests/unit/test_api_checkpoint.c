/* A fit that was saved and loaded, or stopped and taken back, ends in the same bits. */
#include "test_api_problem.h"

#include "base/memory.h"

typedef struct bytes_kept {
    unsigned char bytes[1 << 20];
    size_t size, at;
    size_t room;    /* writes beyond it fail */
    size_t at_once; /* bytes a read gives at most */
} bytes_kept;

static int keep(void *user, const void *bytes, size_t size)
{
    bytes_kept *k = user;
    if (k->size + size > k->room)
        return 1;
    memcpy(k->bytes + k->size, bytes, size);
    k->size += size;
    return 0;
}

static int64_t give(void *user, void *bytes, size_t size)
{
    bytes_kept *k = user;
    size_t here = k->size - k->at < size ? k->size - k->at : size;
    here = here < k->at_once ? here : k->at_once;
    memcpy(bytes, k->bytes + k->at, here);
    k->at += here;
    return (int64_t)here;
}

static bytes_kept kept;

static void save(roofs_estimator *e)
{
    roofs_error err;
    kept = (bytes_kept){.room = sizeof kept.bytes, .at_once = 1000};
    assert_fine(roofs_save(e, keep, &kept, &err));
}

static roofs_estimator *load(int64_t threads)
{
    roofs_error err;
    roofs_estimator *e = NULL;
    roofs_settings run;
    roofs_settings_init(&run);
    run.threads = threads;
    kept.at = 0;
    assert_fine(roofs_load(&e, give, &kept, &run, &err));
    assert_int_equal(kept.at, kept.size);
    return e;
}

/* ---- streams ----------------------------------------------------------- */

/* What a stream is like: every kind of block the library takes. */
typedef struct kind {
    const char *method;
    int sparse, narrow, named;
    int64_t passes;
    double reserve;
    const char *reading;
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
static void make_stream(stream *s, const kind *k)
{
    make_problem(&s->p, 3);
    s->k = *k;
    s->p.set.method = k->method;
    s->p.set.batch = BATCH;
    s->p.set.passes = k->passes;
    s->p.set.reserve = k->reserve;
    s->p.set.clean_ratio = strcmp(k->method, "torrent") == 0 ? 0.8 : 0;
    if (k->reading)
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

static roofs_block part_of(const stream *s, int64_t first, int64_t count)
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

static int64_t batches_of(const stream *s)
{
    return s->k.passes * ((FEATURES + BATCH - 1) / BATCH);
}

/* Batch number `at` of all passes. */
static roofs_status feed(roofs_estimator *e, const stream *s, int64_t at, roofs_error *why)
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

static roofs_estimator *undisturbed(const stream *s)
{
    roofs_error err;
    roofs_estimator *e = open_fit(&s->p);
    for (int64_t k = 0; k < batches_of(s); k++)
        assert_fine(feed(e, s, k, &err));
    assert_fine(roofs_finish(e, &err));
    return e;
}

static void assert_same_end(roofs_estimator *e, roofs_estimator *f)
{
    roofs_error err;
    roofs_result a, b;
    assert_fine(roofs_view(e, &a, &err));
    assert_fine(roofs_view(f, &b, &err));
    assert_true(a.selected > 0 || a.stop == ROOFS_STOP_EMPTY);
    assert_same_result(&a, &b);
    assert_int_equal(!a.clean, !b.clean);
    if (a.clean)
        assert_same_doubles(a.clean, b.clean, a.n);
}

static void for_every_kind(void (*check)(const stream *s))
{
    static stream s;
    for (int64_t k = 0; roofs_method_name(k); k++)
        for (int form = 0; form < 8; form++) {
            kind what = {.method = roofs_method_name(k),
                         .sparse = form & 1,
                         .narrow = form >> 1 & 1,
                         .named = form >> 2 & 1,
                         .passes = 1 + (form == 3 || form == 4)};
            make_stream(&s, &what);
            check(&s);
        }
    make_stream(&s, &(kind){.method = "roofs-bayes", .reserve = 0.5, .passes = 2});
    check(&s);
    make_stream(&s, &(kind){.method = "rlhh", .reading = "joint", .passes = 1});
    check(&s);
}

/* ---- saved and loaded -------------------------------------------------- */

/* Another estimator after every batch. */
static void check_saved(const stream *s)
{
    roofs_error err;
    roofs_estimator *whole = undisturbed(s), *e = open_fit(&s->p);
    for (int64_t k = 0; k < batches_of(s); k++) {
        save(e);
        roofs_destroy(e);
        e = load(1 + k % 3);
        assert_fine(feed(e, s, k, &err));
    }
    save(e);
    roofs_destroy(e);
    e = load(0);
    assert_fine(roofs_finish(e, &err));
    assert_same_end(whole, e);
    roofs_destroy(e);
    roofs_destroy(whole);
}

static void saved_fits_end_in_the_same_bits(void **state)
{
    (void)state;
    for_every_kind(check_saved);
}

static void what_is_loaded_saves_the_same_bytes(void **state)
{
    static stream s;
    static bytes_kept first;
    roofs_error err;
    (void)state;
    make_stream(&s, &(kind){.method = "roofs-bayes", .named = 1, .passes = 1});
    roofs_estimator *e = open_fit(&s.p);
    assert_fine(feed(e, &s, 0, &err));
    save(e);
    first = kept;
    roofs_destroy(e);
    e = load(s.p.set.threads);
    save(e);
    assert_int_equal(first.size, kept.size);
    assert_memory_equal(first.bytes, kept.bytes, kept.size);
    roofs_destroy(e);
}

/* ---- stopped and taken back -------------------------------------------- */

typedef struct patience {
    int64_t rounds; /* until the next stop */
    int answer;
} patience;

static int stop_after(void *user, const roofs_progress *now)
{
    patience *p = user;
    (void)now;
    return --p->rounds == 0 ? p->answer : ROOFS_GO_ON;
}

/* Stopped in every round there is: each call is tried with 1, 2, ... rounds until it ends. */
static void check_taken_back(const stream *s)
{
    roofs_error err;
    patience p = {.answer = ROOFS_TAKE_BACK};
    roofs_estimator *whole = undisturbed(s), *e = open_fit(&s->p);
    roofs_description before, after;
    int64_t stops = 0;
    roofs_set_monitor(e, stop_after, &p);
    for (int64_t k = 0; k <= batches_of(s); k++)
        for (int64_t tries = 1;; tries++) {
            p.rounds = tries < 6 ? tries : 3 * tries;
            roofs_describe(e, &before);
            roofs_status status = k < batches_of(s) ? feed(e, s, k, &err) : roofs_finish(e, &err);
            if (status == ROOFS_OK)
                break;
            assert_int_equal(status, ROOFS_CANCELLED);
            roofs_describe(e, &after);
            assert_int_equal(after.batches, before.batches);
            stops++;
        }
    assert_true(stops > 0);
    assert_same_end(whole, e);
    roofs_destroy(e);
    roofs_destroy(whole);
}

static void batches_taken_back_leave_no_trace(void **state)
{
    (void)state;
    for_every_kind(check_taken_back);
}

static void stopping_here_keeps_the_batch(void **state)
{
    static stream s;
    roofs_error err;
    roofs_description now;
    patience p = {.answer = ROOFS_STOP_HERE, .rounds = 1};
    (void)state;
    make_stream(&s, &(kind){.method = "roofs", .passes = 1});
    roofs_estimator *e = open_fit(&s.p);
    roofs_set_monitor(e, stop_after, &p);
    assert_int_equal(feed(e, &s, 0, &err), ROOFS_CANCELLED);
    roofs_describe(e, &now);
    assert_int_equal(now.position, BATCH);
    assert_int_equal(now.batches, 1);
    roofs_destroy(e);
}

/* ---- what is refused --------------------------------------------------- */

static int save_inside(void *user, const roofs_progress *now)
{
    roofs_error err;
    (void)now;
    kept = (bytes_kept){.room = sizeof kept.bytes};
    assert_int_equal(roofs_save(user, keep, &kept, &err), ROOFS_BAD_CALL);
    return ROOFS_GO_ON;
}

static void only_a_fit_between_batches_is_saved(void **state)
{
    static stream s;
    roofs_error err;
    (void)state;
    make_stream(&s, &(kind){.method = "roofs", .passes = 1});
    roofs_estimator *e = open_fit(&s.p);
    roofs_set_monitor(e, save_inside, e);
    for (int64_t k = 0; k < batches_of(&s); k++)
        assert_fine(feed(e, &s, k, &err));
    assert_fine(roofs_finish(e, &err));
    assert_int_equal(roofs_save(e, keep, &kept, &err), ROOFS_BAD_CALL);
    roofs_destroy(e);
}

static void save_half(const char *method, int sparse)
{
    static stream s;
    roofs_error err;
    make_stream(&s, &(kind){.method = method, .sparse = sparse, .named = 1, .passes = 1});
    roofs_estimator *e = open_fit(&s.p);
    for (int64_t k = 0; k < 2; k++)
        assert_fine(feed(e, &s, k, &err));
    save(e);
    roofs_destroy(e);
}

static void assert_no_load(roofs_status wanted)
{
    roofs_error err = {0};
    roofs_estimator *e = NULL;
    kept.at = 0;
    kept.at_once = sizeof kept.bytes;
    assert_int_equal(roofs_load(&e, give, &kept, NULL, &err), wanted);
    assert_null(e);
    assert_true(strlen(err.text) > 0);
}

static void every_prefix_and_every_changed_byte_is_refused(void **state)
{
    (void)state;
    save_half("roofs", 1);
    const size_t size = kept.size;
    for (kept.size = 0; kept.size < size; kept.size++)
        assert_no_load(ROOFS_BAD_DATA);
    for (size_t k = 0; k < size; k++)
        for (int bit = 0; bit < 8; bit += 7) {
            kept.bytes[k] ^= (unsigned char)(1 << bit);
            assert_no_load(ROOFS_BAD_DATA);
            kept.bytes[k] ^= (unsigned char)(1 << bit);
        }
    roofs_destroy(load(1));
}

static void failing_writes_are_told(void **state)
{
    static stream s;
    roofs_error err;
    (void)state;
    make_stream(&s, &(kind){.method = "roofs-bayes", .passes = 1});
    roofs_estimator *e = open_fit(&s.p);
    assert_fine(feed(e, &s, 0, &err));
    save(e);
    const size_t size = kept.size;
    for (size_t room = 0; room < size; room += 97) {
        kept = (bytes_kept){.room = room};
        assert_int_equal(roofs_save(e, keep, &kept, &err), ROOFS_IO);
    }
    save(e); /* and the fit is as it was */
    assert_int_equal(kept.size, size);
    roofs_destroy(e);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(saved_fits_end_in_the_same_bits),
        cmocka_unit_test(what_is_loaded_saves_the_same_bytes),
        cmocka_unit_test(batches_taken_back_leave_no_trace),
        cmocka_unit_test(stopping_here_keeps_the_batch),
        cmocka_unit_test(only_a_fit_between_batches_is_saved),
        cmocka_unit_test(every_prefix_and_every_changed_byte_is_refused),
        cmocka_unit_test(failing_writes_are_told),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
