/* roofs bench: the speed of a fit relative to the read bandwidth of the memory. Absolute times vary
 * on a shared machine, so each fit follows a measurement of the bandwidth; the median of the ratios
 * is printed. */
#include "base/threads.h"
#include "cli/arithmetic.h"
#include "cli/bench_measure.h"
#include "cli/bench_rival.h"
#include "cli/bench_sparse.h"
#include "cli/growth.h"
#include "cli/print.h"
#include "cli/verbs.h"

#include <stdlib.h>

enum { SCALES = 4 };

static const option_row bench_rows[] = {
    {COUNT(bench_args, n, "n", 1, 1e9), .standard = "10000", .help = "samples"},
    {COUNT(bench_args, p, "p", 1, 1e9), .standard = "10000", .help = "features"},
    {COUNT(bench_args, mu, "mu", 1, 1e9), .standard = "1000", .help = "features to keep"},
    {COUNT(bench_args, repeats, "repeats", 1, REPEATS_MOST), .standard = "5",
     .help = "fits; the median is printed"},
    {THREADS(bench_args, threads), .standard = "0", .help = "threads to use; 0 = one per core"},
    {TEXT(bench_args, rival, "rival", "COMMAND"),
     .help =
         "also run 'COMMAND DIR --mu M --batch 100 --threads T' on the same data; it must print "
         "a JSON object with fit_seconds"},
    {FLAG(bench_args, no_scaling, "no-scaling"),
     .help = "do not measure how time grows with n and p"},
    {FLAG(bench_args, no_groups, "no-groups"),
     .help = "fit without credible groups, which take a constant time at the end of a fit"},
    {FLAG(bench_args, sparse, "sparse"),
     .help = "instead compare sparse with dense storage of the same data, 1% of it nonzero"},
    {FLAG(bench_args, json, "json"), .help = "print one JSON object"},
    {0},
};

static const example bench_examples[] = {
    {"measure this machine", "roofs bench"},
    {"compare sparse with dense storage",
     "roofs bench --sparse --n 20000 --p 20000 --mu 500 --repeats 1"},
    {"a smaller problem, without growth in n and p",
     "roofs bench --n 2000 --p 5000 --mu 200 --no-scaling"},
    {0},
};

typedef struct bench_results {
    double bandwidth;   /* bytes per second */
    double round_share; /* bytes of columns per second in rounds alone / bandwidth */
    double effective;   /* bytes of columns per second of fitting */
    double share;       /* effective / bandwidth */
    double seconds;
    int64_t rounds;
    double bayes_seconds, bayes_effective, bayes_share; /* the same for roofs-bayes */
    double bayes_times;                                 /* its time / the time of roofs */
    double rival_seconds;                               /* 0 = not measured */
    double speedup;
    double exponent_n, exponent_p; /* 0 = not measured */
} bench_results;

static simulation bench_problem(int64_t n, int64_t p, int64_t mu)
{
    return (simulation){
        .n = n, .p = p, .mu = mu < p ? mu : p, .corruption = 0.3, .noise_var = 0.1, .seed = 1};
}

typedef struct fit_samples {
    double seconds[REPEATS_MOST], effective[REPEATS_MOST], share[REPEATS_MOST];
    int64_t rounds;
} fit_samples;

static roofs_status time_method(const bench_args *a, const char *method, double bandwidth,
                                int64_t repeat, fit_samples *s, roofs_error *err)
{
    fit_timing timing;
    simulation what = bench_problem(a->n, a->p, a->mu);
    TRY(measure_fit(&what, method, a->threads, a->no_groups, &timing, err));
    s->seconds[repeat] = timing.seconds;
    s->effective[repeat] = timing.column_bytes / timing.seconds;
    s->share[repeat] = s->effective[repeat] / bandwidth;
    s->rounds = timing.rounds;
    return ROOFS_OK;
}

/* Repeats memory, roofs, roofs-bayes: the ratios compare measurements of about the same time. */
static roofs_status measure_speed(const bench_args *a, bench_results *f, roofs_error *err)
{
    fit_samples roofs = {.rounds = 0}, bayes = {.rounds = 0};
    double bandwidth[REPEATS_MOST], times[REPEATS_MOST], rounds[REPEATS_MOST];
    for (int64_t k = 0; k < a->repeats; k++) {
        TRY(measure_read_bandwidth(a->threads, &bandwidth[k], err));
        TRY(measure_rounds(a->n, a->mu, a->threads, &rounds[k], err));
        rounds[k] /= bandwidth[k];
        TRY(time_method(a, "roofs", bandwidth[k], k, &roofs, err));
        TRY(time_method(a, "roofs-bayes", bandwidth[k], k, &bayes, err));
        times[k] = bayes.seconds[k] / roofs.seconds[k];
    }
    f->rounds = roofs.rounds;
    f->round_share = take_median(rounds, a->repeats);
    f->bandwidth = take_median(bandwidth, a->repeats);
    f->seconds = take_median(roofs.seconds, a->repeats);
    f->effective = take_median(roofs.effective, a->repeats);
    f->share = take_median(roofs.share, a->repeats);
    f->bayes_seconds = take_median(bayes.seconds, a->repeats);
    f->bayes_effective = take_median(bayes.effective, a->repeats);
    f->bayes_share = take_median(bayes.share, a->repeats);
    f->bayes_times = take_median(times, a->repeats);
    return ROOFS_OK;
}

/* Times our fit directly before and after the rival, because the speed of the machine changes. */
static roofs_status measure_speedup(const bench_args *a, bench_results *f, roofs_error *err)
{
    simulation what = bench_problem(a->n, a->p, a->mu);
    fit_timing before, after;
    TRY(measure_fit(&what, "roofs", a->threads, 0, &before, err));
    TRY(measure_rival(a->rival, &what, a->threads, &f->rival_seconds, err));
    TRY(measure_fit(&what, "roofs", a->threads, 0, &after, err));
    f->speedup = 2 * f->rival_seconds / (before.seconds + after.seconds);
    return ROOFS_OK;
}

/* Sizes are 1, 2, 4, 8 times the base and exceed the caches. They alternate, so that a slow minute
 * of the machine affects all of them. */
static roofs_status measure_growth(const bench_args *a, int grow_n, double *out, roofs_error *err)
{
    enum { REPEATS = 3 };
    double size[SCALES], seconds[SCALES][REPEATS], medians[SCALES];
    for (int repeat = 0; repeat < REPEATS; repeat++)
        for (int k = 0; k < SCALES; k++) {
            int64_t times = (int64_t)1 << k;
            simulation what =
                bench_problem(a->n / 2 * (grow_n ? times : 1), a->p / 4 * (grow_n ? 1 : times),
                              grow_n ? a->mu : a->mu / 2);
            fit_timing timing;
            TRY(measure_fit(&what, "roofs", a->threads, a->no_groups, &timing, err));
            size[k] = (double)times;
            seconds[k][repeat] = timing.seconds;
        }
    for (int k = 0; k < SCALES; k++)
        medians[k] = take_median(seconds[k], REPEATS);
    *out = growth_exponent(size, medians, SCALES);
    return ROOFS_OK;
}

static roofs_status measure_all(const bench_args *a, bench_results *f, roofs_error *err)
{
    TRY(measure_speed(a, f, err));
    if (a->rival)
        TRY(measure_speedup(a, f, err));
    if (a->no_scaling)
        return ROOFS_OK;
    TRY(measure_growth(a, 1, &f->exponent_n, err));
    return measure_growth(a, 0, &f->exponent_p, err);
}

static void print_results(const bench_args *a, const bench_results *f)
{
    const double giga = 1e9;
    printf("machine    %d threads read memory at %.1f GB/s\n", (int)threads_count(a->threads),
           f->bandwidth / giga);
    printf("roofs      n = %s, p = %s, mu = %s: %s, %s rounds\n", text_of_count(a->n).text,
           text_of_count(a->p).text, text_of_count(a->mu).text, text_of_seconds(f->seconds).text,
           text_of_count(f->rounds).text);
    printf("           columns read at %.1f GB/s, %.0f%% of the machine's bandwidth (rounds alone: "
           "%.0f%%)\n",
           f->effective / giga, 100 * f->share, 100 * f->round_share);
    printf("bayes      method roofs-bayes: %s, %.2f times the time of roofs, reading at %.1f GB/s "
           "(%.0f%%)\n",
           text_of_seconds(f->bayes_seconds).text, f->bayes_times, f->bayes_effective / giga,
           100 * f->bayes_share);
    if (a->rival)
        printf("rival      %s on the same data: roofs is %.1f times as fast\n",
               text_of_seconds(f->rival_seconds).text, f->speedup);
    if (!a->no_scaling) {
        printf("growth     time ~ n^%.2f over a factor of 8\n", f->exponent_n);
        printf("           time ~ p^%.2f over a factor of 8, mu fixed\n", f->exponent_p);
    }
}

static json_t *number_or_null(int measured, double value)
{
    return measured ? json_number(value) : json_null();
}

static int print_results_json(const bench_args *a, const bench_results *f)
{
    return print_json(json_pack(
        "{s:I, s:I, s:I, s:o, s:I, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o}", "n",
        (json_int_t)a->n, "p", (json_int_t)a->p, "mu", (json_int_t)a->mu, "fit_seconds",
        json_number(f->seconds), "rounds", (json_int_t)f->rounds, "read_bandwidth",
        json_number(f->bandwidth), "effective_bandwidth", json_number(f->effective), "share",
        json_number(f->share), "round_share", json_number(f->round_share), "bayes_seconds",
        json_number(f->bayes_seconds), "bayes_times", json_number(f->bayes_times), "bayes_share",
        json_number(f->bayes_share), "rival_seconds",
        number_or_null(a->rival != NULL, f->rival_seconds), "speedup",
        number_or_null(a->rival != NULL, f->speedup), "exponent_n",
        number_or_null(!a->no_scaling, f->exponent_n), "exponent_p",
        number_or_null(!a->no_scaling, f->exponent_p)));
}

static int bench_main(int argc, char **argv)
{
    bench_args args = {0};
    operands rest;
    int code = options_parse(&bench_verb, &args, argc, argv, &rest);
    if (code != OPTIONS_FINE)
        return code;
    if (rest.count > 0)
        return usage_error("bench", "unexpected argument '%s'", rest.values[0]);
    if (args.sparse)
        return bench_sparse(&args);
    bench_results f = {0};
    roofs_error err = {0};
    roofs_status status = measure_all(&args, &f, &err);
    if (status != ROOFS_OK)
        return exit_with("bench", &err, exit_after(status));
    if (args.json)
        return print_results_json(&args, &f);
    print_results(&args, &f);
    return EXIT_FINE;
}

const verb bench_verb = {
    .name = "bench",
    .summary = "measure the speed of the fit on this machine",
    .usage = "[options]",
    .about =
        "Memory bandwidth limits a round, which reads the kept columns once. So the speed of the "
        "fit is given as a share of the bandwidth that this machine reaches at the same time.",
    .examples = bench_examples,
    .rows = bench_rows,
    .main = bench_main,
};
