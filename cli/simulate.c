/* roofs simulate: a data set with a known answer, written in bounded memory. */
#include "cli/dataset.h"
#include "cli/interrupt.h"
#include "cli/print.h"
#include "cli/process_comm.h"
#include "cli/verbs.h"
#include "stream/source.h"

#include <inttypes.h>

static const option_row simulate_rows[] = {
    {OUTPUT(simulate_args, folder, "DIR"), .required = 1,
     .help = "folder to write to; made where it is missing"},
    {COUNT(simulate_args, n, "n", 4, 1e12), .required = 1, .help = "samples"},
    {COUNT(simulate_args, p, "p", 1, 1e12), .required = 1, .help = "features"},
    {COUNT(simulate_args, mu, "mu", 1, 1e12), .required = 1,
     .help = "features with a true coefficient, at most p"},
    {REAL(simulate_args, corruption, "corruption", "X", 0, 1), .standard = "0.1",
     .help = "share of the samples whose response is attacked; below 1"},
    {REAL(simulate_args, noise_var, "noise-var", "X", 0, 1e12), .standard = "0.1",
     .help = "variance of the noise on every response"},
    {CHOICE(simulate_args, order, "order", "WORD", order_name), .standard = "first",
     .help = "where the true features stand in the stream"},
    {CHOICE(simulate_args, attack, "attack", "WORD", attack_name), .standard = "uniform",
     .help = "what happens to corrupted responses"},
    {CHOICE(simulate_args, dtype, "dtype", "TYPE", dtype_name), .standard = "f64",
     .help = "type of the values of X"},
    {COUNT(simulate_args, seed, "seed", 0, 9.3e18), .standard = "1",
     .help = "the same seed makes the same data on every machine"},
    {THREADS(simulate_args, threads), .standard = "0",
     .help = "threads to use; 0 = one per core; the data does not depend on it"},
    {QUIET(simulate_args, quiet), .help = "no progress, no closing words"},
    {0},
};

static const example simulate_examples[] = {
    {"1000 samples, 2000 features, 400 of them matter, 10% of the responses are corrupted",
     "roofs simulate -o data --n 1000 --p 2000 --mu 400 --corruption 0.1"},
    {"the same share, but the attacker uses a model of their own, in 32-bit floats",
     "roofs simulate -o data --n 1000 --p 2000 --mu 400 --attack other-model --dtype f32"},
    {0},
};

/* ---- the verb ---------------------------------------------------------- */

static int check_simulate(const simulate_args *a, const operands *rest)
{
    if (rest->count > 0)
        return usage_error("simulate", "'%s' is one word too many", rest->values[0]);
    if (a->mu > a->p)
        return usage_error("simulate", "--mu must be from 1 to p = %" PRId64 "; it is %" PRId64,
                           a->p, a->mu);
    if (a->corruption >= 1)
        return usage_error("simulate", "--corruption must be from 0 to below 1; it is %g",
                           a->corruption);
    return OPTIONS_FINE;
}

static roofs_status simulate(const simulate_args *a, comm *ranks, dataset *d, roofs_error *err)
{
    simulation what = {.n = a->n,
                       .p = a->p,
                       .mu = a->mu,
                       .corruption = a->corruption,
                       .noise_var = a->noise_var,
                       .random_order = a->order == 1,
                       .attack = (attack)a->attack,
                       .seed = (uint64_t)a->seed,
                       .ranks = ranks};
    TRY(dataset_open(d, ranks, a, err));
    simulator *s = NULL;
    roofs_status status = comm_agree(ranks, simulator_create(&s, &what, a->threads, err), err);
    if (status == ROOFS_OK)
        status = dataset_write(d, a, s, err);
    if (status == ROOFS_OK)
        status = dataset_commit(d, err);
    simulator_destroy(s);
    return status;
}

/* Every rank makes its shard of the samples. */
static roofs_status join_ranks(const simulate_args *a, comm *ranks, roofs_error *err)
{
    const roofs_comm *with = process_comm();
    return comm_join(ranks, with,
                     shard_begin(a->n, with->rank + 1, with->size) -
                         shard_begin(a->n, with->rank, with->size),
                     err);
}

static int simulate_main(int argc, char **argv)
{
    simulate_args args = {0};
    operands rest;
    int code = options_parse(&simulate_verb, &args, argc, argv, &rest);
    if (code == OPTIONS_FINE)
        code = check_simulate(&args, &rest);
    if (code != OPTIONS_FINE)
        return code;
    dataset d = {0};
    roofs_error err = {0};
    interrupt_install();
    comm ranks = {0};
    roofs_status status = join_ranks(&args, &ranks, &err);
    if (status == ROOFS_OK)
        status = simulate(&args, &ranks, &d, &err);
    comm_leave(&ranks);
    if (status != ROOFS_OK)
        dataset_abandon(&d);
    if (interrupt_signal() && status != ROOFS_OK)
        return interrupt_exit("simulate", "; nothing was written");
    if (status != ROOFS_OK)
        return exit_with("simulate", &err, exit_after(status));
    if (!args.quiet)
        fprintf(stderr,
                "%s: X.npy (%s features of %s samples), y.npy, beta.npy, clean.npy, truth.json\n",
                d.folder.path, text_of_count(args.p).text, text_of_count(args.n).text);
    return EXIT_FINE;
}

const verb simulate_verb = {
    .name = "simulate",
    .summary = "make a data set with known features and corrupted samples",
    .usage = "-o DIR --n N --p N --mu N [--corruption X] [options]",
    .about =
        "Writes X.npy (one feature per row), y.npy, beta.npy (the true coefficients), clean.npy "
        "(1 = not corrupted) and truth.json (how it was made). 'roofs evaluate' compares a "
        "fitted model with them.",
    .examples = simulate_examples,
    .rows = simulate_rows,
    .main = simulate_main,
};
