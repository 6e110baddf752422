/* Each fit runs in its own process, so that its peak memory can be measured. Sparse and dense fits
 * alternate; the median of their ratios is printed. */
#include "cli/bench_sparse.h"

#include "base/memory.h"
#include "base/portable_math.h"
#include "base/random.h"
#include "cli/arithmetic.h"
#include "cli/print.h"
#include "cli/verbs.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

enum { BATCH = 100, METHODS = 2 };

static const char *const methods[METHODS] = {"roofs", "roofs-bayes"};
static const char *const shown[METHODS] = {"roofs", "bayes"};
static const double DENSITY = 0.01, CORRUPTION = 0.3, NOISE = 0.3;

/* Streams of random numbers. */
enum { GAPS, VALUES, COEFFICIENTS, ERRORS, ATTACKS };

static random_key key_of(uint32_t stream)
{
    return (random_key){.seed = 1, .stream = stream};
}

/* ---- the data ---------------------------------------------------------- */

typedef struct buffers {
    double *values, *y;
    int32_t *samples, *starts;
    double *dense; /* NULL for sparse fits */
} buffers;

/* Fills the nonzero values of feature j and their samples; returns how many there are. */
static int64_t make_feature(const bench_args *what, int64_t j, double *values, int32_t *samples)
{
    int64_t count = 0;
    double at = -1;
    for (uint64_t k = 0;; k++) {
        double u = random_uniform(key_of(GAPS), (uint64_t)j, k);
        at += 1 + floor(math_log(u) / math_log1p(-DENSITY));
        if (at >= (double)what->n)
            break;
        samples[count++] = (int32_t)at;
    }
    random_normals(key_of(VALUES), (uint64_t)j, 0, count, values);
    return count;
}

static void make_block(const bench_args *what, int64_t first, int64_t count, buffers *b)
{
    int32_t at = 0;
    if (b->dense)
        memset(b->dense, 0, (size_t)(BATCH * what->n) * sizeof *b->dense);
    for (int64_t k = 0; k < count; k++) {
        b->starts[k] = at;
        at += (int32_t)make_feature(what, first + k, b->values + at, b->samples + at);
        for (int32_t l = b->starts[k]; b->dense && l < at; l++)
            b->dense[k * what->n + b->samples[l]] = b->values[l];
    }
    b->starts[count] = at;
}

/* The response of mu true features, evenly spread over the stream. */
static void make_response(const bench_args *what, buffers *b)
{
    const int64_t every = what->p > what->mu ? what->p / what->mu : 1;
    double largest = 0, noise = 0;
    for (int64_t j = 0; j < what->p; j += every) {
        double coef = 0;
        random_normals(key_of(COEFFICIENTS), (uint64_t)j, 0, 1, &coef);
        int64_t count = make_feature(what, j, b->values, b->samples);
        for (int64_t k = 0; k < count; k++)
            b->y[b->samples[k]] += coef * b->values[k];
    }
    for (int64_t i = 0; i < what->n; i++)
        largest = fmax(largest, fabs(b->y[i]));
    for (int64_t i = 0; i < what->n; i++) {
        random_normals(key_of(ERRORS), (uint64_t)i, 0, 1, &noise);
        b->y[i] += NOISE * noise;
        if (random_uniform(key_of(ATTACKS), (uint64_t)i, 0) < CORRUPTION)
            b->y[i] += 5 * largest * (2 * random_uniform(key_of(ATTACKS), (uint64_t)i, 1) - 1);
    }
}

static roofs_status make_buffers(const bench_args *what, int dense, buffers *b, roofs_error *err)
{
    const char *name = "a batch";
    /* the expected number of nonzero values, and ample reserve */
    const int64_t most = BATCH * (int64_t)(1.5 * DENSITY * (double)what->n + 1000);
    TRY(memory_get(&b->values, most, sizeof *b->values, name, err));
    TRY(memory_get(&b->samples, most, sizeof *b->samples, name, err));
    TRY(memory_get(&b->starts, BATCH + 1, sizeof *b->starts, name, err));
    TRY(memory_get(&b->y, what->n, sizeof *b->y, "the responses", err));
    if (dense)
        TRY(memory_get(&b->dense, BATCH * what->n, sizeof *b->dense, name, err));
    make_response(what, b);
    return ROOFS_OK;
}

/* ---- one fit ----------------------------------------------------------- */

typedef struct outcome {
    roofs_status status;
    double seconds, bytes;
    roofs_error err;
} outcome;

static double peak_memory(void)
{
    struct rusage usage;
    getrusage(RUSAGE_SELF, &usage);
    return (double)usage.ru_maxrss * 1024;
}

static roofs_status consume_all(const bench_args *what, roofs_estimator *e, buffers *b,
                                double *seconds, roofs_error *err)
{
    for (int64_t first = 0; first < what->p; first += BATCH) {
        int64_t count = what->p - first < BATCH ? what->p - first : BATCH;
        make_block(what, first, count, b);
        roofs_block dense = {.count = count,
                             .n = what->n,
                             .values = b->dense,
                             .feature_stride = what->n,
                             .sample_stride = 1};
        roofs_block sparse = {.count = count,
                              .n = what->n,
                              .values = b->values,
                              .starts = b->starts,
                              .samples = b->samples,
                              .index = ROOFS_I32};
        double begin = seconds_now();
        TRY(roofs_consume(e, b->dense ? &dense : &sparse, err));
        *seconds += seconds_now() - begin;
    }
    double begin = seconds_now();
    TRY(roofs_finish(e, err));
    *seconds += seconds_now() - begin;
    return ROOFS_OK;
}

static roofs_status fit_sparse_or_dense(const bench_args *what, const char *method, int dense,
                                        outcome *out, double *coef, roofs_error *err)
{
    buffers b = {0};
    roofs_settings set;
    roofs_estimator *e = NULL;
    roofs_result view;
    TRY(make_buffers(what, dense, &b, err));
    roofs_settings_init(&set);
    set.mu = what->mu;
    set.method = method;
    set.batch = BATCH;
    set.threads = what->threads;
    set.groups = what->no_groups ? ROOFS_GROUPS_OFF : ROOFS_GROUPS_AUTO;
    double before = peak_memory();
    TRY(roofs_create(&e, &set, b.y, what->n, err));
    TRY(consume_all(what, e, &b, &out->seconds, err));
    TRY(roofs_view(e, &view, err));
    out->bytes = peak_memory() - before;
    for (int64_t k = 0; k < view.selected; k++)
        coef[view.features[k].index] = view.features[k].coef;
    return ROOFS_OK; /* the end of the process frees everything */
}

/* Sends *out and `coef` through a pipe and ends the process. */
static void fit_in_child(const bench_args *what, const char *method, int dense, FILE *to,
                         double *coef)
{
    outcome out = {.status = ROOFS_OK};
    out.status = fit_sparse_or_dense(what, method, dense, &out, coef, &out.err);
    fwrite(&out, sizeof out, 1, to);
    fwrite(coef, sizeof *coef, (size_t)what->p, to);
    _exit(fflush(to) == 0 ? EXIT_SUCCESS : EXIT_FAILURE);
}

/* Fits in another process. coef: what->p numbers, by feature. */
static roofs_status fit_in_process(const bench_args *what, const char *method, int dense,
                                   outcome *out, double *coef, roofs_error *err)
{
    int pipes[2];
    memset(coef, 0, (size_t)what->p * sizeof *coef);
    if (pipe(pipes) != 0)
        return fail(err, ROOFS_FAILED, "cannot make a pipe: %s", strerror(errno));
    pid_t id = fork();
    if (id == 0)
        fit_in_child(what, method, dense, fdopen(pipes[1], "w"), coef);
    close(pipes[1]);
    FILE *from = fdopen(pipes[0], "r");
    int received = id > 0 && fread(out, sizeof *out, 1, from) == 1 &&
                   fread(coef, sizeof *coef, (size_t)what->p, from) == (size_t)what->p;
    fclose(from);
    if (id > 0)
        waitpid(id, NULL, 0);
    if (!received)
        return fail(err, ROOFS_FAILED, "the process of a fit ended before it sent its result");
    *err = out->err;
    return out->status;
}

/* ---- the comparison ---------------------------------------------------- */

typedef struct comparison {
    double seconds, bytes; /* sparse */
    double faster, smaller;
    double difference; /* largest difference of two coefficients, relative to the largest
                          coefficient */
} comparison;

static double largest_difference(const double *a, const double *b, int64_t count)
{
    double apart = 0, largest = 0;
    for (int64_t j = 0; j < count; j++) {
        apart = fmax(apart, fabs(a[j] - b[j]));
        largest = fmax(largest, fabs(b[j]));
    }
    return largest > 0 ? apart / largest : apart;
}

static roofs_status compare_storage(const bench_args *what, const char *method, double *coefs,
                                    comparison *c, roofs_error *err)
{
    double seconds[REPEATS_MOST] = {0}, bytes[REPEATS_MOST] = {0};
    double faster[REPEATS_MOST] = {0}, smaller[REPEATS_MOST] = {0};
    for (int64_t k = 0; k < what->repeats; k++) {
        outcome dense = {.seconds = 0}, sparse = {.seconds = 0};
        TRY(fit_in_process(what, method, 1, &dense, coefs, err));
        TRY(fit_in_process(what, method, 0, &sparse, coefs + what->p, err));
        seconds[k] = sparse.seconds;
        bytes[k] = sparse.bytes;
        faster[k] = dense.seconds / sparse.seconds;
        smaller[k] = dense.bytes / sparse.bytes;
        c->difference = largest_difference(coefs, coefs + what->p, what->p);
    }
    c->seconds = take_median(seconds, what->repeats);
    c->bytes = take_median(bytes, what->repeats);
    c->faster = take_median(faster, what->repeats);
    c->smaller = take_median(smaller, what->repeats);
    return ROOFS_OK;
}

static void print_comparisons(const bench_args *what, const comparison *all)
{
    printf("sparse     n = %s, p = %s, mu = %s, %g%% of the values are not zero\n",
           text_of_count(what->n).text, text_of_count(what->p).text, text_of_count(what->mu).text,
           100 * DENSITY);
    for (int m = 0; m < METHODS; m++) {
        printf("%-11s%s and %s: %.1f times as fast as dense, memory %.1f times smaller\n", shown[m],
               text_of_seconds(all[m].seconds).text, text_of_bytes(all[m].bytes).text,
               all[m].faster, all[m].smaller);
        printf("           coefficients differ by at most %.1e of the largest\n",
               all[m].difference);
    }
}

static int print_comparisons_json(const bench_args *what, const comparison *all)
{
    json_t *object =
        json_pack("{s:I, s:I, s:I, s:o}", "n", (json_int_t)what->n, "p", (json_int_t)what->p, "mu",
                  (json_int_t)what->mu, "density", json_number(DENSITY));
    for (int m = 0; m < METHODS; m++)
        json_object_set_new(
            object, methods[m],
            json_pack("{s:o, s:o, s:o, s:o, s:o}", "seconds", json_number(all[m].seconds), "bytes",
                      json_number(all[m].bytes), "times_faster", json_number(all[m].faster),
                      "times_less_memory", json_number(all[m].smaller), "difference",
                      json_number(all[m].difference)));
    return print_json(object);
}

int bench_sparse(const bench_args *what)
{
    comparison all[METHODS] = {{.seconds = 0}};
    roofs_error err = {0};
    double *coefs = NULL;
    roofs_status status = memory_get(&coefs, 2 * what->p, sizeof *coefs, "coefficients", &err);
    for (int m = 0; m < METHODS && status == ROOFS_OK; m++)
        status = compare_storage(what, methods[m], coefs, &all[m], &err);
    memory_free(coefs);
    if (status != ROOFS_OK)
        return exit_with("bench", &err, exit_after(status));
    if (what->json)
        return print_comparisons_json(what, all);
    print_comparisons(what, all);
    return EXIT_FINE;
}
