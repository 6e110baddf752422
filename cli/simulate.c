/* roofs simulate: a data set with a known answer, written in bounded memory. */
#include "cli/dataset.h"
#include "cli/interrupt.h"
#include "cli/print.h"
#include "cli/ranks.h"
#include "cli/verbs.h"
#include "stream/source.h"

#include <inttypes.h>

#define AT(field) .at = offsetof(simulate_args, field)

static const option_row rows[] = {
    {.name = "output",
     .letter = 'o',
     .kind = OPTION_TEXT,
     AT(folder),
     .value = "DIR",
     .required = 1,
     .help = "folder to write to; made where it is missing"},
    {.name = "n",
     .kind = OPTION_COUNT,
     AT(n),
     .value = "N",
     .required = 1,
     .low = 4,
     .high = 1e12,
     .help = "samples"},
    {.name = "p",
     .kind = OPTION_COUNT,
     AT(p),
     .value = "N",
     .required = 1,
     .low = 1,
     .high = 1e12,
     .help = "features"},
    {.name = "mu",
     .kind = OPTION_COUNT,
     AT(mu),
     .value = "N",
     .required = 1,
     .low = 1,
     .high = 1e12,
     .help = "features with a true coefficient, at most p"},
    {.name = "corruption",
     .kind = OPTION_REAL,
     AT(corruption),
     .value = "X",
     .standard = "0.1",
     .low = 0,
     .high = 1,
     .help = "share of the samples whose response is attacked; below 1"},
    {.name = "noise-var",
     .kind = OPTION_REAL,
     AT(noise_var),
     .value = "X",
     .standard = "0.1",
     .low = 0,
     .high = 1e12,
     .help = "variance of the noise on every response"},
    {.name = "order",
     .kind = OPTION_CHOICE,
     AT(order),
     .value = "WORD",
     .standard = "first",
     .choice = order_name,
     .help = "where the true features stand in the stream"},
    {.name = "attack",
     .kind = OPTION_CHOICE,
     AT(attack),
     .value = "WORD",
     .standard = "uniform",
     .choice = attack_name,
     .help = "what happens to corrupted responses"},
    {.name = "dtype",
     .kind = OPTION_CHOICE,
     AT(dtype),
     .value = "TYPE",
     .standard = "f64",
     .choice = dtype_name,
     .help = "type of the values of X"},
    {.name = "seed",
     .kind = OPTION_COUNT,
     AT(seed),
     .value = "N",
     .standard = "1",
     .low = 0,
     .high = 9.3e18,
     .help = "the same seed makes the same data on every machine"},
    {.name = "threads",
     .kind = OPTION_COUNT,
     AT(threads),
     .value = "N",
     .standard = "0",
     .low = 0,
     .high = 4096,
     .help = "threads to use; 0 = one per core; the data does not depend on it"},
    {.name = "quiet",
     .letter = 'q',
     .kind = OPTION_FLAG,
     AT(quiet),
     .help = "no progress, no closing words"},
    {0},
};

static const example examples[] = {
    {"1000 samples, 2000 features, 400 of them matter, 10% of the responses are corrupted",
     "roofs simulate -o data --n 1000 --p 2000 --mu 400 --corruption 0.1"},
    {"the same share, but the attacker uses a model of their own, in 32-bit floats",
     "roofs simulate -o data --n 1000 --p 2000 --mu 400 --attack other-model --dtype f32"},
    {0},
};

/* ---- the verb ---------------------------------------------------------- */

static int check(const simulate_args *a, const operands *rest)
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

/* Every rank has its part of the samples. */
static roofs_status join(const simulate_args *a, comm *ranks, roofs_error *err)
{
    const roofs_comm *with = ranks_here();
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
        code = check(&args, &rest);
    if (code != OPTIONS_FINE)
        return code;
    dataset d = {0};
    roofs_error err = {0};
    interrupt_watch();
    comm ranks = {0};
    roofs_status status = join(&args, &ranks, &err);
    if (status == ROOFS_OK)
        status = simulate(&args, &ranks, &d, &err);
    comm_leave(&ranks);
    if (status != ROOFS_OK)
        dataset_abandon(&d);
    if (interrupt_signal() && status != ROOFS_OK)
        return interrupt_exit("simulate", "; nothing was written");
    if (status != ROOFS_OK) {
        complain("simulate", "%s", err.text);
        return exit_after(status);
    }
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
    .examples = examples,
    .rows = rows,
    .main = simulate_main,
};
