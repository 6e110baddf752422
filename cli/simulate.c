/* roofs simulate: a data set with known coefficients, written in bounded memory. */
#include "base/digest.h"
#include "cli/dataset.h"
#include "cli/interrupt.h"
#include "cli/print.h"
#include "cli/process_comm.h"
#include "cli/verbs.h"
#include "stream/source.h"

#include <inttypes.h>
#include <limits.h>

static const option_row simulate_rows[] = {
    {OUTPUT(simulate_args, folder, "DIR"), .required = 1,
     .help = "folder to write to; created if it is missing"},
    {COUNT(simulate_args, n, "n", 4, 1e12), .required = 1, .help = "samples"},
    {COUNT(simulate_args, p, "p", 1, 1e12), .required = 1, .help = "features"},
    {COUNT(simulate_args, mu, "mu", 1, 1e12), .required = 1,
     .help = "features with a nonzero true coefficient, at most p"},
    {REAL(simulate_args, corruption, "corruption", "X", 0, 1), .standard = "0.1",
     .help = "share of the samples whose response is corrupted; below 1"},
    {REAL(simulate_args, noise_var, "noise-var", "X", 0, 1e12), .standard = "0.1",
     .help = "variance of the noise on every response"},
    {CHOICE(simulate_args, order, "order", "WORD", order_name), .standard = "first",
     .help = "position of the true features in the stream"},
    {CHOICE(simulate_args, attack, "attack", "WORD", attack_name), .standard = "uniform",
     .help = "how responses are corrupted"},
    {CHOICE(simulate_args, dtype, "dtype", "TYPE", dtype_name), .standard = "f64",
     .help = "type of the values of X"},
    {COUNT(simulate_args, seed, "seed", 0, 9.3e18), .standard = "1",
     .help = "the same seed makes the same data on every machine"},
    {THREADS(simulate_args, threads), .standard = "0",
     .help = "threads to use; 0 = one per core; the data does not depend on it"},
    {QUIET(simulate_args, quiet), .help = "no progress, no summary"},
    {0},
};

static const example simulate_examples[] = {
    {"1000 samples, 2000 features (400 with an effect), 10% of the responses corrupted",
     "roofs simulate -o data --n 1000 --p 2000 --mu 400 --corruption 0.1"},
    {"corrupted responses follow another model; values as 32-bit floats",
     "roofs simulate -o data --n 1000 --p 2000 --mu 400 --attack other-model --dtype f32"},
    {0},
};

static int check_simulate(const simulate_args *a, const operands *rest)
{
    if (rest->count > 0)
        return usage_error("simulate", "unexpected argument '%s'", rest->values[0]);
    if (a->mu > a->p)
        return usage_error("simulate", "--mu must be from 1 to p = %" PRId64 "; it is %" PRId64,
                           a->p, a->mu);
    if (a->corruption >= 1)
        return usage_error("simulate", "--corruption must be from 0 to below 1; it is %g",
                           a->corruption);
    return OPTIONS_FINE;
}

/* Every rank generates a shard of the samples. */
static roofs_status join_ranks(const simulate_args *a, comm *ranks, roofs_error *err)
{
    const roofs_comm *with = process_comm();
    const int64_t numbers[] = {a->n, a->p, a->mu, a->order, a->attack, a->dtype, a->seed};
    const double reals[] = {a->corruption, a->noise_var};
    const comm_point at = {
        .call = "the options of roofs simulate",
        .digest = digest_of(reals, sizeof reals, digest_of(numbers, sizeof numbers, 0))};
    TRY(comm_join(ranks, with,
                  shard_begin(a->n, with->rank + 1, with->size) -
                      shard_begin(a->n, with->rank, with->size),
                  ROOFS_OK, err));
    return comm_agree_at(ranks, at, ROOFS_OK, err);
}

static int simulate_main(int argc, char **argv)
{
    simulate_args args = {0};
    operands rest;
    int code = options_parse(&simulate_verb, &args, argc, argv, &rest);
    if (code == OPTIONS_FINE)
        code = check_simulate(&args, &rest);
    code = process_agree(code);
    if (code != OPTIONS_FINE)
        return code;
    folder made = {0};
    roofs_error err = {0};
    interrupt_install();
    comm ranks = {0};
    roofs_status status = join_ranks(&args, &ranks, &err);
    if (status == ROOFS_OK)
        status = dataset_make(&args, &ranks, &made, &err);
    comm_leave(&ranks);
    if (interrupt_signal() && status != ROOFS_OK)
        return interrupt_exit("simulate", "; nothing was written");
    if (status != ROOFS_OK)
        return exit_with("simulate", &err, exit_after(status));
    if (args.quiet)
        return EXIT_FINE;
    print_clean(stderr, made.path, INT_MAX);
    fprintf(stderr,
            ": X.npy (%s feature%s of %s samples), y.npy, beta.npy, clean.npy, truth.json\n",
            text_of_count(args.p).text, plural(args.p), text_of_count(args.n).text);
    return EXIT_FINE;
}

const verb simulate_verb = {
    .name = "simulate",
    .summary = "make a data set with known features and corrupted samples",
    .usage = "-o DIR --n N --p N --mu N [--corruption X] [options]",
    .about =
        "Writes X.npy (one feature per row), y.npy, beta.npy (the true coefficients), clean.npy "
        "(1 = not corrupted) and truth.json (the options used). 'roofs evaluate' compares a "
        "fitted model with them.",
    .examples = simulate_examples,
    .rows = simulate_rows,
    .main = simulate_main,
};
