#include "cli/bench_measure.h"

#include "base/memory.h"
#include "cli/print.h"
#include "linalg/device.h"
#include "linalg/vector.h"

#include <math.h>
#include <omp.h>
#include <string.h>

enum { BATCH = 100 };

/* ---- the machine ------------------------------------------------------- */

static double read_once(const double *block, int64_t count, int threads, double *sum)
{
    const int64_t piece = 1 << 14; /* 128 KiB: one thread reads it in one go */
    double total = 0, begin = seconds_now();
#pragma omp parallel for schedule(static) num_threads(threads) reduction(+ : total)
    for (int64_t at = 0; at < count; at += piece)
        total += vector_sum(block + at, piece);
    *sum += total;
    return seconds_now() - begin;
}

roofs_status measure_read_bandwidth(int64_t threads, double *bytes_per_second, roofs_error *err)
{
    const int64_t count = 1 << 25; /* 256 MiB: far beyond any cache */
    int used = threads > 0 ? (int)threads : omp_get_max_threads();
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

typedef struct round_setup {
    device *d;
    device_column *columns;
    double *values, *r, *gradient, *image;
} round_setup;

static roofs_status set_up_rounds(round_setup *s, const device_shape *shape, roofs_error *err)
{
    const int64_t n = shape->n;
    TRY(device_cpu.create(&s->d, shape, err));
    TRY(memory_get(&s->columns, shape->slots, sizeof *s->columns, "columns", err));
    TRY(memory_get(&s->gradient, shape->slots, sizeof *s->gradient, "a gradient", err));
    TRY(memory_get(&s->values, n, sizeof *s->values, "a column", err));
    TRY(memory_get(&s->r, n, sizeof *s->r, "a residual", err));
    TRY(memory_get(&s->image, n, sizeof *s->image, "an image", err));
    for (int64_t i = 0; i < n; i++)
        s->values[i] = s->r[i] = (double)(i % 7) - 3;
    roofs_block block = {.count = 1,
                         .n = n,
                         .dtype = ROOFS_F64,
                         .values = s->values,
                         .feature_stride = n,
                         .sample_stride = 1};
    TRY(device_cpu.borrow(s->d, &block, err));
    for (int64_t j = 0; j < shape->slots; j++) {
        TRY(device_cpu.keep(s->d, 0, j, err));
        s->columns[j] = (device_column){.place = j, .factor = 1, .unit = 1};
    }
    return ROOFS_OK;
}

roofs_status measure_rounds(int64_t n, int64_t columns, int64_t threads, double *bytes_per_second,
                            roofs_error *err)
{
    enum { ROUNDS = 60 };
    round_setup s = {0};
    device_shape shape = {.n = n, .slots = columns, .batch = 1, .threads = threads};
    roofs_status status = set_up_rounds(&s, &shape, err);
    if (status == ROOFS_OK) {
        double begin = seconds_now();
        for (int k = 0; k < ROUNDS; k++)
            device_cpu.products->descend(s.d, s.columns, columns, s.r, s.gradient, s.image);
        double seconds = seconds_now() - begin;
        *bytes_per_second = ROUNDS * (double)columns * (double)n * sizeof(double) / seconds;
    }
    device_cpu.destroy(s.d);
    memory_free(s.columns);
    memory_free(s.values);
    memory_free(s.r);
    memory_free(s.gradient);
    memory_free(s.image);
    return status;
}

/* ---- a fit ------------------------------------------------------------- */

/* Method roofs: the first round reads what was kept and what arrived, the others
 * what is kept. */
static double read_by_roofs(const roofs_batch *b, int64_t before)
{
    return (double)(before + b->features) + (double)((b->rounds - 1) * b->selected);
}

/* Method roofs-bayes: the same first round; a second one looks again at those about
 * to be dropped and a batch more. */
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

static roofs_status feed(roofs_estimator *e, const simulator *s, int64_t threads, double *values,
                         fit_timing *out, roofs_error *err)
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
                                  double *values, fit_timing *out, roofs_error *err)
{
    roofs_settings set;
    roofs_estimator *e = NULL;
    roofs_result view;
    roofs_settings_init(&set);
    set.mu = s->what.mu;
    set.method = method;
    set.batch = BATCH;
    set.threads = threads;
    set.intercept = set.standardize = 0;
    double begin = seconds_now();
    TRY(roofs_create(&e, &set, s->y, s->what.n, err));
    out->seconds = seconds_now() - begin;
    roofs_status status = feed(e, s, threads, values, out, err);
    if (status == ROOFS_OK)
        status = roofs_view(e, &view, err);
    if (status == ROOFS_OK) {
        out->rounds = view.rounds;
        out->column_bytes = columns_read(&view) * (double)view.n * sizeof(double);
    }
    roofs_destroy(e);
    return status;
}

roofs_status measure_fit(const simulation *what, const char *method, int64_t threads,
                         fit_timing *out, roofs_error *err)
{
    simulator *s = NULL;
    double *values = NULL;
    *out = (fit_timing){0};
    roofs_status status = simulator_create(&s, what, threads, err);
    if (status == ROOFS_OK)
        status = memory_get(&values, BATCH * what->n, sizeof *values, "a batch", err);
    if (status == ROOFS_OK)
        status = fit_simulated(s, method, threads, values, out, err);
    memory_free(values);
    simulator_destroy(s);
    return status;
}
