#include "cli/bench_measure.h"

#include "base/memory.h"
#include "base/random.h"
#include "base/threads.h"
#include "cli/arithmetic.h"
#include "cli/print.h"

#include <math.h>
#include <string.h>

enum { BATCH = 100 };

/* ---- the machine ------------------------------------------------------- */

static double read_once(const double *block, int64_t count, int threads, double *sum)
{
    const int64_t piece = 1 << 14; /* 128 KiB per thread and step */
    double total = 0, begin = seconds_now();
#pragma omp parallel for schedule(static) num_threads(threads) reduction(+ : total)
    for (int64_t at = 0; at < count; at += piece)
        total += sum_values(block + at, piece);
    *sum += total;
    return seconds_now() - begin;
}

roofs_status measure_read_bandwidth(int64_t threads, double *bytes_per_second, roofs_error *err)
{
    const int64_t count = 1 << 25; /* 256 MiB: larger than the caches */
    const int used = (int)threads_count(threads);
    double *block = NULL, best = 0, sum = 0;
    TRY(memory_get(&block, count, sizeof *block, "measuring the memory", err));
    for (int k = 0; k < 6; k++) {
        double seconds = read_once(block, count, used, &sum);
        if (k == 0 || seconds < best)
            best = seconds;
    }
    *bytes_per_second = (double)count * sizeof *block / best + 0 * sum;
    memory_free(block);
    return ROOFS_OK;
}

/* ---- rounds ------------------------------------------------------------ */

/* The times of the first and the last round of a batch. */
typedef struct round_clock {
    double first, last;
    int64_t rounds; /* after the first */
} round_clock;

static int time_round(void *user, const roofs_progress *now)
{
    round_clock *clock = user;
    clock->last = seconds_now();
    if (now->round == 1)
        clock->first = clock->last;
    clock->rounds = now->round - 1;
    return 0;
}

static roofs_status fit_one_batch(const roofs_settings *set, const double *values, const double *y,
                                  int64_t n, round_clock *clock, roofs_error *err)
{
    roofs_estimator *e = NULL;
    const roofs_block block = {.count = set->mu,
                               .n = n,
                               .dtype = ROOFS_F64,
                               .values = values,
                               .feature_stride = n,
                               .sample_stride = 1};
    TRY(roofs_create(&e, set, y, n, err));
    roofs_set_monitor(e, time_round, clock);
    roofs_status status = roofs_consume(e, &block, err);
    roofs_destroy(e);
    return status;
}

/* Keeps all columns and sets tol to 0, so that every round reads every column once. */
roofs_status measure_rounds(int64_t n, int64_t columns, int64_t threads, double *bytes_per_second,
                            roofs_error *err)
{
    enum { ROUNDS = 60 };
    double *values = NULL;
    round_clock clock = {0};
    roofs_settings set;
    roofs_settings_init(&set);
    set.mu = set.batch = columns;
    set.method = "roofs";
    set.threads = threads;
    set.intercept = set.standardize = 0;
    set.tol = 0;
    set.max_iter = ROUNDS;
    TRY(memory_get(&values, memory_bytes(columns + 1, n), sizeof *values, "columns", err));
    for (int64_t j = 0; j <= columns; j++)
        random_normals((random_key){.seed = 1}, (uint64_t)j, 0, n, values + j * n);
    roofs_status status = fit_one_batch(&set, values, values + columns * n, n, &clock, err);
    memory_free(values);
    *bytes_per_second = (double)clock.rounds * (double)columns * (double)n * sizeof(double) /
                        (clock.last - clock.first);
    return status;
}

/* ---- a fit ------------------------------------------------------------- */

/* Columns that method roofs reads: in the first round the stored and the new ones, in the other
 * rounds the selected ones. */
static double read_by_roofs(const roofs_batch *b, int64_t before)
{
    return (double)(before + b->features) + (double)((b->rounds - 1) * b->selected);
}

/* Columns that method roofs-bayes reads: the same in the first round; in a second round the columns
 * it may drop, and one batch more. */
static double read_by_bayes(const roofs_batch *b, int64_t before)
{
    double first = (double)(before + b->features);
    double again = fmin(first, first - (double)b->selected + BATCH);
    return b->rounds > 1 ? first + again : first;
}

static double columns_read(const roofs_result *view)
{
    const int is_roofs = strcmp(view->method, "roofs") == 0;
    double columns = 0;
    int64_t before = 0, rounds = 0;
    for (int64_t k = 0; k < view->batches; k++) {
        const roofs_batch *b = &view->history[k];
        columns += is_roofs ? read_by_roofs(b, before) : read_by_bayes(b, before);
        before = b->selected;
        rounds += b->rounds;
    }
    return columns + (double)((view->rounds - rounds) * before); /* after the last batch */
}

static roofs_status consume_simulated(roofs_estimator *e, const simulator *s, int64_t threads,
                                      double *values, fit_timing *out, roofs_error *err)
{
    const simulation *what = &s->what;
    for (int64_t first = 0; first < what->p; first += BATCH) {
        int64_t count = what->p - first < BATCH ? what->p - first : BATCH;
        simulator_features(s, first, count, ROOFS_F64, threads, values);
        roofs_block block = {.count = count,
                             .n = what->n,
                             .dtype = ROOFS_F64,
                             .values = values,
                             .feature_stride = what->n,
                             .sample_stride = 1};
        double begin = seconds_now();
        TRY(roofs_consume(e, &block, err));
        out->seconds += seconds_now() - begin;
    }
    double begin = seconds_now();
    TRY(roofs_finish(e, err));
    out->seconds += seconds_now() - begin;
    return ROOFS_OK;
}

static roofs_status fit_simulated(const simulator *s, const char *method, int64_t threads,
                                  int no_groups, double *values, fit_timing *out, roofs_error *err)
{
    roofs_settings set;
    roofs_estimator *e = NULL;
    roofs_result view;
    roofs_settings_init(&set);
    set.mu = s->what.mu;
    set.groups = no_groups ? ROOFS_GROUPS_OFF : ROOFS_GROUPS_AUTO;
    set.method = method;
    set.batch = BATCH;
    set.threads = threads;
    set.intercept = set.standardize = 0;
    double begin = seconds_now();
    TRY(roofs_create(&e, &set, s->y, s->what.n, err));
    out->seconds = seconds_now() - begin;
    roofs_status status = consume_simulated(e, s, threads, values, out, err);
    if (status == ROOFS_OK)
        status = roofs_view(e, &view, err);
    if (status == ROOFS_OK) {
        out->rounds = view.rounds;
        out->column_bytes = columns_read(&view) * (double)view.n * sizeof(double);
    }
    roofs_destroy(e);
    return status;
}

roofs_status measure_fit(const simulation *what, const char *method, int64_t threads, int no_groups,
                         fit_timing *out, roofs_error *err)
{
    simulator *s = NULL;
    double *values = NULL;
    *out = (fit_timing){0};
    roofs_status status = simulator_create(&s, what, threads, err);
    if (status == ROOFS_OK)
        status = memory_get(&values, BATCH * what->n, sizeof *values, "a batch", err);
    if (status == ROOFS_OK)
        status = fit_simulated(s, method, threads, no_groups, values, out, err);
    memory_free(values);
    simulator_destroy(s);
    return status;
}
