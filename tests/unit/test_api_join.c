/* Fits that several ranks saved, loaded by any number of ranks: the fit goes on as if nothing had
 * happened. Damaged, missing and exchanged files are refused on all ranks, and every allocation may
 * fail. The linker replaces posix_memalign and free in base/memory.c (tests/CMakeLists.txt). */
#include "test_base_failing.h"
#include "test_base_help.h"
#include "test_linalg_team.h"

#include "base/section.h"

#include <math.h>
#include <stdio.h>
#include <unistd.h>

static roofs_error err;

enum { SAMPLES = 203, FEATURES = 20, HALF = 9, SAVED = 3, BYTES = 1 << 18 };

typedef enum kind { DENSE, NARROW, SPARSE, KINDS } kind;

typedef struct saved_file {
    char bytes[BYTES];
    size_t size;
} saved_file;

typedef struct cursor {
    const saved_file *file;
    size_t at;
    int cannot_rewind;
} cursor;

typedef struct job {
    kind kind;
    double x[FEATURES * SAMPLES], y[SAMPLES];
    float narrow[FEATURES * SAMPLES];
    roofs_settings set;
    saved_file files[SAVED];
    int64_t order[SAVED]; /* in which they are given */
    int64_t given;        /* how many are given */
    int cannot_rewind;
    roofs_status status[TEAM_MOST];
    roofs_error err[TEAM_MOST];
    roofs_model *model[TEAM_MOST];
} job;

static void make_job(job *j, kind which)
{
    uint64_t random = 11;
    memset(j, 0, sizeof *j);
    j->kind = which;
    for (int k = 0; k < FEATURES * SAMPLES; k++) {
        const int is_whole =
            k / SAMPLES % 2 == 0 && k % SAMPLES < SAMPLES / 3; /* one dense shard */
        const int is_zero = which == SPARSE && !is_whole && random_below(&random, 12) > 0;
        j->narrow[k] = is_zero ? 0 : (float)random_bell(&random);
        j->x[k] = (double)j->narrow[k];
    }
    for (int i = 0; i < SAMPLES; i++)
        j->y[i] =
            2 * j->x[i] - j->x[12 * SAMPLES + i] + 0.1 * random_bell(&random) + (i % 9 ? 0 : 7);
    for (int k = 0; k < SAVED; k++)
        j->order[k] = k;
    j->given = SAVED;
    roofs_settings_init(&j->set);
    j->set.method = "roofs";
    j->set.mu = 4;
    j->set.batch = 3;
    j->set.threads = 1;
}

/* ---- blocks ------------------------------------------------------------ */

static roofs_status consume(const job *j, roofs_estimator *e, const roofs_comm *with, int64_t first,
                            int64_t count, roofs_error *why)
{
    const int64_t begin = shard_begin(SAMPLES, with->rank, with->size);
    const int64_t n = shard_begin(SAMPLES, with->rank + 1, with->size) - begin;
    double values[FEATURES * SAMPLES];
    int64_t samples[FEATURES * SAMPLES], starts[FEATURES + 1] = {0}, filled = 0;
    roofs_block block = {.count = count,
                         .n = n,
                         .values = j->x + first * SAMPLES + begin,
                         .feature_stride = SAMPLES,
                         .sample_stride = 1};
    if (j->kind == NARROW) {
        block.dtype = ROOFS_F32;
        block.values = j->narrow + first * SAMPLES + begin;
    }
    for (int64_t k = 0; j->kind == SPARSE && k < count; k++) {
        for (int64_t i = 0; i < n; i++)
            if (j->x[(first + k) * SAMPLES + begin + i] != 0) {
                values[filled] = j->x[(first + k) * SAMPLES + begin + i];
                samples[filled++] = i;
            }
        starts[k + 1] = filled;
    }
    if (j->kind == SPARSE) {
        block.values = values;
        block.samples = samples;
        block.starts = starts;
    }
    return roofs_consume(e, &block, why);
}

/* ---- files in memory --------------------------------------------------- */

static int write_file(void *user, const void *bytes, size_t size)
{
    saved_file *f = user;
    if (size > BYTES - f->size)
        return 1;
    memcpy(f->bytes + f->size, bytes, size);
    f->size += size;
    return 0;
}

static int64_t read_cursor(void *user, void *bytes, size_t size)
{
    cursor *c = user;
    const size_t left = c->file->size - c->at, count = size < left ? size : left;
    memcpy(bytes, c->file->bytes + c->at, count);
    c->at += count;
    return (int64_t)count;
}

static int rewind_cursor(void *user)
{
    cursor *c = user;
    c->at = 0;
    return c->cannot_rewind;
}

/* ---- the ranks --------------------------------------------------------- */

static roofs_status save_half(job *j, const roofs_comm *with, roofs_estimator **e, roofs_error *why)
{
    const int64_t begin = shard_begin(SAMPLES, with->rank, with->size);
    const int64_t n = shard_begin(SAMPLES, with->rank + 1, with->size) - begin;
    TRY(roofs_create_split(e, &j->set, j->y + begin, n, with, why));
    TRY(consume(j, *e, with, 0, HALF, why));
    j->files[with->rank].size = 0;
    return roofs_save(*e, write_file, &j->files[with->rank], why);
}

static void save_work(const roofs_comm *with, void *user)
{
    job *j = user;
    roofs_estimator *e = NULL;
    j->status[with->rank] = save_half(j, with, &e, &j->err[with->rank]);
    roofs_destroy(e);
}

static roofs_status load_rest(job *j, const roofs_comm *with, roofs_estimator **e, roofs_error *why)
{
    cursor cursors[SAVED];
    void *files[SAVED];
    for (int64_t k = 0; k < j->given; k++) {
        cursors[k] = (cursor){.file = &j->files[j->order[k]], .cannot_rewind = j->cannot_rewind};
        files[k] = &cursors[k];
    }
    TRY(roofs_load_split(e, read_cursor, rewind_cursor, files, j->given, NULL, with, why));
    TRY(consume(j, *e, with, HALF, FEATURES - HALF, why));
    TRY(roofs_finish(*e, why));
    return roofs_model_create(&j->model[with->rank], *e, why);
}

static void load_work(const roofs_comm *with, void *user)
{
    job *j = user;
    roofs_estimator *e = NULL;
    j->status[with->rank] = load_rest(j, with, &e, &j->err[with->rank]);
    roofs_destroy(e);
}

static void free_models(job *j)
{
    for (int k = 0; k < TEAM_MOST; k++) {
        roofs_model_destroy(j->model[k]);
        j->model[k] = NULL;
    }
}

static void save_job(job *j)
{
    team_run(SAVED, save_work, j);
    for (int k = 0; k < SAVED; k++)
        if (j->status[k] != ROOFS_OK)
            fail_msg("%s", j->err[k].text);
}

static void assert_near(const roofs_model *one, const roofs_model *other)
{
    roofs_result a, b;
    roofs_model_view(one, &a);
    roofs_model_view(other, &b);
    assert_int_equal(a.selected, b.selected);
    assert_int_equal(a.n, b.n);
    assert_memory_equal(a.trust, b.trust, (size_t)a.n);
    for (int64_t k = 0; k < a.selected; k++) {
        assert_int_equal(a.features[k].index, b.features[k].index);
        assert_close(b.features[k].coef, a.features[k].coef, 1e-9 * fabs(a.features[k].coef));
    }
}

static void test_any_number_of_ranks_continues(void **state)
{
    job *j = calloc(1, sizeof *j);
    (void)state;
    for (int which = 0; which < KINDS; which++) {
        roofs_model *first = NULL;
        make_job(j, (kind)which);
        save_job(j);
        for (int64_t ranks = 1; ranks <= TEAM_MOST; ranks++) {
            team_run(ranks, load_work, j);
            for (int64_t k = 0; k < ranks; k++)
                if (j->status[k] != ROOFS_OK)
                    fail_msg("kind %d, %d ranks: %s", which, (int)ranks, j->err[k].text);
            if (!first) {
                first = j->model[0];
                j->model[0] = NULL;
            } else {
                assert_near(first, j->model[ranks - 1]);
            }
            free_models(j);
        }
        roofs_model_destroy(first);
    }
    free(j);
}

static void assert_all_refuse(job *j, int64_t ranks, const char *text)
{
    team_run(ranks, load_work, j);
    for (int64_t k = 0; k < ranks; k++) {
        if (j->status[k] == ROOFS_OK || j->status[k] != j->status[0])
            fail_msg("rank %d: %d %s", (int)k, (int)j->status[k], j->err[k].text);
        if (text && !strstr(j->err[k].text, text))
            fail_msg("'%s' is not in '%s'", text, j->err[k].text);
    }
    free_models(j);
}

static void test_wrong_files_are_refused_by_all(void **state)
{
    job *j = calloc(1, sizeof *j);
    (void)state;
    make_job(j, DENSE);
    save_job(j);
    j->given = 2;
    assert_all_refuse(j, 2, "give the files of all ranks");
    j->given = SAVED;
    j->order[0] = 1;
    j->order[1] = 0;
    assert_all_refuse(j, 3, "do not fit together");
    j->order[0] = 0;
    j->order[1] = 1;
    j->cannot_rewind = 1;
    assert_all_refuse(j, 2, "cannot be read again");
    j->cannot_rewind = 0;
    j->files[1].size = 0;
    assert_all_refuse(j, 2, NULL);
    free(j);
}

/* A changed byte anywhere, and a file that ends anywhere. */
static void test_damage_is_refused_by_all(void **state)
{
    job *j = calloc(1, sizeof *j);
    (void)state;
    for (int which = 0; which < KINDS; which++) {
        make_job(j, (kind)which);
        save_job(j);
        const size_t size = j->files[1].size;
        for (size_t at = 0; at < size; at += 1 + size / 150) {
            j->files[1].bytes[at] ^= 4;
            assert_all_refuse(j, 2, NULL);
            j->files[1].bytes[at] ^= 4;
            j->files[1].size = at;
            assert_all_refuse(j, 2, NULL);
            j->files[1].size = size;
        }
    }
    free(j);
}

/* ---- forgery ----------------------------------------------------------- */

static int64_t rewrite_with(saved_file *to, const saved_file *from, int64_t section, int64_t word,
                            int64_t value)
{
    cursor c = {.file = from};
    section_source source = {.read = read_cursor, .user = &c};
    section_sink sink = {.write = write_file, .user = to};
    char name[SECTION_NAME + 1];
    archive a = {0};
    int64_t size = 0;
    to->size = 0;
    assert_fine(section_read_head(&source, &err));
    assert_fine(section_write_head(&sink, &err));
    sink.version = source.version;
    for (int64_t k = 0;; k++) {
        if (section_next(&source, name, &a, &err) != ROOFS_OK)
            break;
        if (k == section && word * 8 + 8 <= a.size) {
            memcpy((char *)a.bytes + word * 8, &value, sizeof value);
            size = a.size;
        }
        assert_fine(section_write(&sink, name, &a, &err));
        if (strcmp(name, "end") == 0)
            break;
    }
    archive_free(&a);
    return size;
}

/* A file with right checksums may hold any number. All ranks load it, or none does. */
static void test_forged_numbers_do_the_same_on_all_ranks(void **state)
{
    static const int64_t values[] = {-1, 0, 3, 1 << 20, INT64_MAX, INT64_MIN};
    job *j = calloc(1, sizeof *j);
    saved_file *good = calloc(1, sizeof *good);
    int64_t loaded = 0, refused = 0;
    (void)state;
    make_job(j, SPARSE);
    save_job(j);
    *good = j->files[1];
    for (int64_t section = 0; section < 8; section++)
        for (int64_t k = 0;; k++) {
            const int64_t word = k < 240 ? k / 6 : 40 + (k - 240) * (k - 240) / 30;
            if (rewrite_with(&j->files[1], good, section, word, values[k % 6]) == 0)
                break;
            team_run(2, load_work, j);
            if ((j->status[0] == ROOFS_OK) != (j->status[1] == ROOFS_OK))
                fail_msg("section %d, word %d: %s; %s", (int)section, (int)word, j->err[0].text,
                         j->err[1].text);
            loaded += j->status[0] == ROOFS_OK;
            refused += j->status[0] != ROOFS_OK;
            free_models(j);
        }
    print_message("%d forged files: %d loaded, %d refused\n", (int)(loaded + refused), (int)loaded,
                  (int)refused);
    assert_true(refused > 20);
    free(good);
    free(j);
}

static void test_shard_is_not_a_whole_checkpoint(void **state)
{
    job *j = calloc(1, sizeof *j);
    roofs_estimator *e;
    (void)state;
    make_job(j, DENSE);
    save_job(j);
    cursor c = {.file = &j->files[0]};
    assert_refused(roofs_load(&e, read_cursor, &c, NULL, &err), ROOFS_BAD_DATA,
                   "one rank of several");
    free(j);
}

static void test_every_allocation_of_one_rank_may_fail(void **state)
{
    job *j = calloc(1, sizeof *j);
    (void)state;
    for (int which = 0; which < KINDS; which++) {
        int64_t failures = 0;
        make_job(j, (kind)which);
        save_job(j);
        const long before = held;
        for (failing = 1;; failing++) {
            asked = 0;
            team_run(1, load_work, j);
            const int is_over = asked < failing;
            free_models(j);
            assert_int_equal(held, before);
            if (is_over)
                break;
            if (j->status[0] != ROOFS_NO_MEMORY)
                fail_msg("allocation %d: %s", (int)failing, j->err[0].text);
            failures++;
        }
        failing = 0;
        assert_int_equal(j->status[0], ROOFS_OK);
        assert_true(failures > 30);
    }
    free(j);
}

int main(void)
{
    alarm(300); /* ends a test that waits for ever */
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_any_number_of_ranks_continues),
        cmocka_unit_test(test_wrong_files_are_refused_by_all),
        cmocka_unit_test(test_damage_is_refused_by_all),
        cmocka_unit_test(test_forged_numbers_do_the_same_on_all_ranks),
        cmocka_unit_test(test_shard_is_not_a_whole_checkpoint),
        cmocka_unit_test(test_every_allocation_of_one_rank_may_fail),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
