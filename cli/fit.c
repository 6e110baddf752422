/* roofs fit: reads a stream of features and writes a model. */
#include "base/block.h"
#include "base/digest.h"
#include "base/memory.h"
#include "cli/choose_mu.h"
#include "cli/fit_about.h"
#include "cli/fit_extras.h"
#include "cli/fit_genotypes.h"
#include "cli/fit_reads.h"
#include "cli/fit_session.h"
#include "cli/folder.h"
#include "cli/folds.h"
#include "cli/interrupt.h"
#include "cli/print.h"
#include "cli/same_files.h"
#include "cli/several.h"
#include "cli/verbs.h"
#include "stream/format.h"

#include <inttypes.h>
#include <string.h>
#include <unistd.h>

typedef struct fit_args {
    const char *y, *checkpoint;
    int64_t every;
    output_options out;
    input_args in;
    int explain;
    int64_t orders;
    int64_t intervals; /* INTERVALS_... */
    extra_args extra;
    roofs_settings settings;
} fit_args;

enum { INTERVALS_MODEL, INTERVALS_CV };

static const option_row fit_rows[] = {
    {TEXT(fit_args, y, "y", "NAME"),
     .help = "the response: a column of the tables, a file with one number per sample, or "
             "FILE:COLUMN; several: A,B or FILE:A,B; a LIBSVM file needs none"},
    {GROUP(fit_args, extra, extra_rows)},
    {GROUP(fit_args, out, output_rows)},
    {TEXT(fit_args, checkpoint, "checkpoint", "FILE"),
     .help = "save the fit for 'roofs resume', to continue it or to add features later"},
    {COUNT(fit_args, every, "checkpoint-every", 1, 1e15), .standard = "100",
     .help = "batches between two checkpoints; another one is saved at the end and on Ctrl-C"},
    {COUNT(fit_args, orders, "orders", 1, 1000), .standard = "1",
     .help = "fit the features in so many orders and report how often each is selected"},
    {WORDS(fit_args, intervals, "intervals", "METHOD", "model", "cv"), .standard = "model",
     .help = "intervals of predictions: model: from the errors of the coefficients; cv: also by "
             "cross-validation, with five further fits"},
    {GROUP(fit_args, in, input_rows)},
    {GROUP(fit_args, in.table, table_rows)},
    {GROUP(fit_args, in.genotypes, phenotype_rows)},
    {GROUP(fit_args, in.genotypes, covariate_rows)},
    {GROUP(fit_args, in.genotypes, variant_rows)},
    {GROUP(fit_args, in.genotypes, genotype_file_rows)},
    {FLAG(fit_args, explain, "explain"),
     .help = "print the memory that the fit needs and how often it reads the files, and exit"},
    {0},
};

static const example fit_examples[] = {
    {"select features", "roofs fit --y y.npy X.npy -o model.json"},
    {"fit a table: the response is a column, others are words or dates",
     "roofs fit houses.csv --y price --id ID -o model.json"},
    {"fit several responses, reading the features once: writes model.height.json, ...",
     "roofs fit --y people.csv:height,weight X.npy -o model.json"},
    {"fit genotypes of PLINK", "roofs fit x.bed --pheno p.txt --pheno-name height -o m.json"},
    {"keep 50 features at most", "roofs fit --y y.npy --mu 50 X.npy -o model.json"},
    {"read several files as one stream, features in columns",
     "roofs fit --y y.csv --mu 50 genes-*.csv.gz -o model.json"},
    {"read a pipe, use at most 2 GiB of memory, print a summary for a program",
     "zcat X.csv.gz | roofs fit --y y.csv --mu 50 --max-memory 2GiB --json -o model.json -"},
    {"read a LIBSVM file, which holds the response, too",
     "roofs fit --mu 50 reviews.svm.xz -o model.json"},
    {"choose the number of features by cross-validation (reads the files up to 23 times)",
     "roofs fit --y y.npy --mu auto X.npy -o model.json"},
    {"save checkpoints, so that an interrupted fit can be resumed",
     "roofs fit --y y.npy --mu 50 genes/ --checkpoint fit.ck -o model.json"},
    {"show how the selection depends on the order of the features",
     "roofs fit --y y.npy X.npy --orders 10 -o model.json"},
    {"select groups of features, at most a tenth of them false",
     "roofs fit --y y.npy X.npy --fdr 0.1 -o model.json"},
    {"print the memory that a fit needs", "roofs fit --y y.npy --mu 4000 X.npy --explain"},
    {"print where the time goes", "roofs fit --y y.npy X.npy --profile -o model.json"},
    {0},
};

/* ---- inputs and settings ----------------------------------------------- */

/* A fit before its estimator exists. The functions below complete the settings in `args`. */
typedef struct fit_beginning {
    fit_args *args;
    double *y;
    int64_t n; /* samples of all ranks */
    given_response response;
    fit_extras extras;
    levels ids; /* of the samples, if another table than those of the features has them */
    fit_session session;
} fit_beginning;

static const char *const no_response =
    "give the response with --y: a column of the table, or a FILE with one number per sample (only "
    "a single LIBSVM file needs none)";

static roofs_status check_ranks(int64_t n, const roofs_comm *ranks, roofs_error *err)
{
    if (n >= ranks->size)
        return ROOFS_OK;
    return fail(err, ROOFS_BAD_DATA,
                "%" PRId64 " samples cannot be split over %" PRId64 " ranks; use fewer ranks", n,
                ranks->size);
}

/* The response of a file, or of a column of the tables. */
static roofs_status open_with_response(fit_beginning *b, roofs_error *err)
{
    fit_session *f = &b->session;
    given_response *g = &b->response;
    TRY(given_response_parse(g, b->args->y, err));
    f->in.table.response = g->path ? NULL : g->column;
    if (g->path) {
        TRY(given_response_read(g, &f->in, b->args->settings.max_memory, &b->y, &b->n, &b->ids,
                                err));
        f->ids = b->ids.words.count > 0 ? &b->ids : NULL;
        TRY(check_ranks(b->n, process_comm(), err));
        TRY(fit_session_open(f, b->n, &f->source, err));
        if (!g->column && source_has_column(f->source, b->args->y) && process_comm()->rank == 0)
            complain("fit", "--y %s is the file of this name, not the column", b->args->y);
        return ROOFS_OK;
    }
    TRY(fit_session_open(f, 0, &f->source, err));
    TRY(given_response_take(g, f->source, &b->y, &b->n, err));
    return check_ranks(b->n, process_comm(), err);
}

/* The covariates come first in the stream. */
static void force_covariates(fit_beginning *b)
{
    if (b->session.genotypes.lead.count > b->args->settings.always)
        b->args->settings.always = b->session.genotypes.lead.count;
}

/* Reads the response from its own file, or from the only file of features. */
static roofs_status open_inputs(fit_beginning *b, roofs_error *err)
{
    fit_session *f = &b->session;
    const roofs_comm *ranks = process_comm();
    TRY(extras_prepare(&b->extras, &b->args->extra, f, &b->args->settings, err));
    TRY(fit_open_genotypes(f, b->args->y, &b->y, &b->n, err));
    force_covariates(b);
    if (f->genotypes.are_given)
        return check_ranks(b->n, ranks, err);
    if (b->args->y)
        return open_with_response(b, err);
    TRY(fit_session_open(f, 0, &f->source, err));
    const double *labels = source_labels(f->source);
    if (!labels)
        return fail(err, ROOFS_BAD_SETTING, "%s", no_response);
    b->n = source_samples(f->source);
    TRY(check_ranks(b->n, ranks, err));
    const int64_t own = source_own_samples(f->source);
    TRY(memory_get(&b->y, own, sizeof *b->y, "the response", err));
    memcpy(b->y, labels + source_first_sample(f->source), (size_t)own * sizeof *b->y);
    return ROOFS_OK;
}

static roofs_status open_for_choice(void *user, source **out, roofs_error *err)
{
    const fit_beginning *b = user;
    return fit_session_open(&b->session, b->n, out, err);
}

/* The default of mu, with what is known of the stream. All ranks take the smallest one. */
static roofs_status resolve_mu(fit_beginning *b, roofs_error *err)
{
    fit_session *f = &b->session;
    roofs_settings *set = &b->args->settings;
    const comm_point given = {.call = "mu", .count = set->mu};
    roofs_status status = roofs_settings_resolve(set, source_own_samples(f->source), b->n,
                                                 source_features(f->source), err);
    TRY(comm_agree_at(&f->comm, given, status, err));
    set->mu = -(int64_t)comm_largest_of(&f->comm, -(double)set->mu);
    return comm_status(&f->comm, err);
}

/* Cross-validation chooses mu. Which of the features are selected is left to the probabilities, as
 * with the default. */
static roofs_status decide_mu(fit_beginning *b, roofs_error *err)
{
    const fit_session *f = &b->session;
    roofs_settings *set = &b->args->settings;
    const int is_auto = set->mu == MU_AUTO;
    if (is_auto)
        set->mu = 0;
    TRY(resolve_mu(b, err));
    if (!is_auto)
        return ROOFS_OK;
    mu_question q = {.settings = set,
                     .y = b->y,
                     .weight = b->extras.weight,
                     .n = b->n,
                     .features = source_features(f->source),
                     .quiet = f->out.quiet,
                     .open = open_for_choice,
                     .user = b};
    TRY(choose_mu(&q, &set->mu, err));
    if (!f->out.quiet)
        fprintf(stderr, "mu         %" PRId64 ", chosen by cross-validation\n", set->mu);
    return ROOFS_OK;
}

/* --storage auto stores features of 32 bits in 32 bits. */
static void decide_storage(fit_beginning *b)
{
    const roofs_dtype dtype = source_kind_of(b->session.source).dtype;
    const int narrow = dtype == ROOFS_F32;
    if (b->args->settings.storage != ROOFS_STORAGE_AUTO || dtype_is_packed(dtype))
        return;
    b->args->settings.storage = narrow ? ROOFS_STORAGE_F32 : ROOFS_STORAGE_F64;
    b->session.checkpoint.narrowed = narrow;
}

/* BAD_DATA means bad responses: adds the name of their file to the message. */
static roofs_status create_estimator(fit_beginning *b, roofs_error *err)
{
    fit_session *f = &b->session;
    double start = seconds_now();
    roofs_status status =
        roofs_create_weighted(&f->estimator, &b->args->settings, b->y, b->extras.weight,
                              source_own_samples(f->source), process_comm(), err);
    f->times.fitting += seconds_now() - start;
    if (status != ROOFS_BAD_DATA)
        return status;
    return error_in_file(b->response.path ? b->response.path : f->files.values[0], status, err);
}

/* `roofs resume` opens only the files that are left: without the first one it has no IDs. */
static roofs_status check_join(const fit_beginning *b, roofs_error *err)
{
    const fit_session *f = &b->session;
    if (!f->in.table.id || (!f->ids && !source_file_at(f->source, 1)))
        return ROOFS_OK;
    return fail(err, ROOFS_BAD_SETTING,
                "--checkpoint cannot save a fit of tables that --id joins; join them first, or fit "
                "without --checkpoint");
}

static roofs_status open_checkpoint(fit_beginning *b, roofs_error *err)
{
    checkpoint *c = &b->session.checkpoint;
    if (!b->args->checkpoint)
        return ROOFS_OK;
    TRY(comm_agree(&b->session.comm, check_join(b, err), err));
    c->comm = &b->session.comm;
    c->every = b->args->every;
    c->people = b->session.genotypes.are_given ? genotypes_digest(&b->session.genotypes) : 0;
    c->offset = b->session.offset;
    TRY(comm_agree(c->comm, checkpoint_record(c, b->session.source, &b->session.in, err), err));
    roofs_status status = checkpoint_open(c, b->args->checkpoint, err);
    return status == ROOFS_IO ? ROOFS_FAILED : status; /* the checkpoint is not an input */
}

/* The option that needs files: it reads the features again. NULL if there is none. */
static const char *option_that_rereads(const fit_args *a)
{
    return a->settings.mu == MU_AUTO                  ? "--mu auto"
           : a->intervals == INTERVALS_CV             ? "--intervals cv"
           : a->orders > 1                            ? "--orders"
           : a->settings.groups == ROOFS_GROUPS_EXACT ? "--groups exact"
           : a->settings.passes > 1                   ? "--passes"
                                                      : NULL;
}

/* Named pipes and devices, too, cannot be read again. */
static roofs_status check_rereads(fit_beginning *b, roofs_error *err)
{
    fit_session *f = &b->session;
    const char *option = option_that_rereads(b->args);
    roofs_status status = ROOFS_OK;
    if (option && !fit_session_can_reread(f))
        status = fail(err, ROOFS_BAD_SETTING,
                      "%s reads the features several times, but not all of them are in files that "
                      "can be read again; write them to a file first",
                      option);
    return comm_agree(&f->comm, status, err);
}

/* Options that decide which calls the ranks make. */
static uint64_t digest_of_options(const fit_args *a)
{
    const int64_t choices[] = {a->explain, a->checkpoint != NULL, a->every,
                               fit_model_path(&a->out) != NULL};
    return digest_of(choices, sizeof choices, 0);
}

/* All ranks must have the same options, responses and files. */
static roofs_status open_same_inputs(fit_beginning *b, roofs_error *err)
{
    const fit_args *a = b->args;
    comm *c = &b->session.comm;
    const char *others[] = {NULL, NULL, NULL, NULL, NULL};
    const comm_point options = {.call = "the options of roofs fit", .digest = digest_of_options(a)};
    TRY(comm_agree_at(c, options, ROOFS_OK, err));
    roofs_status own = open_inputs(b, err);
    if (own == ROOFS_OK)
        own = extras_take(&b->extras, &b->session, &b->args->settings, b->y, b->n, err);
    TRY(comm_agree_at(c, (comm_point){.call = "the samples", .count = own ? 0 : b->n}, own, err));
    const char *const paths[] = {b->response.path, a->in.names, b->extras.weights.at.path,
                                 b->extras.offset.at.path};
    for (size_t k = 0, count = 0; k < sizeof paths / sizeof *paths; k++)
        if (paths[k])
            others[count++] = paths[k];
    return same_files(c, b->session.source, others, err);
}

static roofs_status begin_fit(fit_beginning *b, roofs_error *err)
{
    fit_session *f = &b->session;
    double start = seconds_now();
    TRY(open_same_inputs(b, err));
    decide_storage(b);
    f->times.reading += seconds_now() - start;
    TRY(comm_agree(&f->comm, source_check_columns(f->source, err), err));
    fit_session_print_notes(f);
    TRY(check_rereads(b, err));
    if (b->args->intervals == INTERVALS_CV)
        TRY(folds_check(b->n, "--intervals cv", err));
    TRY(decide_mu(b, err));
    f->orders = b->args->orders;
    f->with_cv = b->args->intervals == INTERVALS_CV;
    f->y = b->y;
    if (b->args->explain)
        return ROOFS_OK;
    TRY(open_checkpoint(b, err));
    return create_estimator(b, err);
}

/* AUTO: the types of the files decide. */
static roofs_dtype stored_type(const roofs_settings *set, const source *from)
{
    if (set->storage == ROOFS_STORAGE_AUTO)
        return source_kind_of(from).dtype;
    return set->storage == ROOFS_STORAGE_F32 ? ROOFS_F32 : ROOFS_F64;
}

static roofs_status explain_fit(fit_beginning *b, roofs_error *err)
{
    const roofs_settings *set = &b->args->settings;
    roofs_block block;
    int64_t filled = 0; /* mean number of values of a feature in the first batch; 0 = dense */
    TRY(begin_fit(b, err));
    TRY(source_next(b->session.source, set->batch, &block, err));
    if (block.count > 0 && block_is_sparse(&block))
        filled = (block_start(&block, block.count) - block_start(&block, 0)) / block.count + 1;
    const roofs_dtype storage = stored_type(set, b->session.source);
    TRY(fit_explain(set, b->n, storage, filled, b->args->out.prefetch,
                    source_table_bytes(b->session.source), err));
    fit_explain_reads(set, &b->session, b->args->orders, b->args->intervals == INTERVALS_CV);
    return ROOFS_OK;
}

/* ---- several responses ------------------------------------------------- */

/* The option that works with one response only. NULL if none is given. */
static const char *option_of_one_response(const fit_args *a)
{
    return a->checkpoint                  ? "--checkpoint"
           : a->settings.mu == MU_AUTO    ? "--mu auto"
           : a->orders > 1                ? "--orders"
           : a->intervals == INTERVALS_CV ? "--intervals cv"
           : a->out.trace                 ? "--trace"
           : a->out.profile               ? "--profile"
                                          : NULL;
}

static int fit_several(fit_beginning *b)
{
    roofs_error err = {.feature = -1};
    several_question q = {.shared = &b->session, .explain = b->args->explain};
    roofs_status status =
        extras_prepare(&b->extras, &b->args->extra, &b->session, &b->args->settings, &err);
    if (status == ROOFS_OK)
        status = several_open(&q, b->args->y, &err);
    if (status == ROOFS_OK)
        status = extras_take(&b->extras, &b->session, &b->args->settings, NULL, q.y.n, &err);
    if (status == ROOFS_OK) {
        force_covariates(b);
        decide_storage(b);
        status = check_rereads(b, &err);
    }
    q.settings = b->args->settings;
    const int code =
        status == ROOFS_OK ? several_fit(&q, &err) : fit_session_fail(&b->session, status, &err);
    several_close(&q);
    return code;
}

static int check_several(const fit_args *a)
{
    const char *option = option_of_one_response(a);
    if (!several_are_asked(a->y, &a->in))
        return OPTIONS_FINE;
    if (option)
        return usage_error("fit",
                           "%s works with one response, but several are named; fit them one "
                           "by one",
                           option);
    if (process_comm()->size > 1)
        return usage_error("fit", "several responses need all samples in one process; use 'roofs "
                                  "fit', or one rank");
    if (!a->explain && !a->out.json && (!a->out.output || path_is_standard(a->out.output)))
        return usage_error("fit", "several responses are named: give -o FILE.json, and the models "
                                  "are written to FILE.NAME.json; or -o FOLDER/");
    return OPTIONS_FINE;
}

/* ---- the verb ---------------------------------------------------------- */

static int check_pipes(const fit_args *a, const operands *files)
{
    int has_stdin = inputs_have_stdin(files);
    if (path_is_standard(a->y) && has_stdin)
        return usage_error("fit", "--y - and - both read standard input; give the response in a "
                                  "file");
    if (path_is_standard(a->y) && isatty(STDIN_FILENO))
        return usage_error("fit", "--y - reads standard input, which is the keyboard; pipe a file "
                                  "into it");
    if (has_stdin && option_that_rereads(a))
        return usage_error("fit",
                           "%s reads the features several times, but a pipe can be read only "
                           "once; write them to a file first",
                           option_that_rereads(a));
    return OPTIONS_FINE;
}

static int check_settings(const fit_args *a)
{
    roofs_error err;
    roofs_settings set = a->settings;
    if (set.mu == MU_AUTO && a->explain)
        return usage_error("fit", "--explain needs a number of features: give --mu N, not --mu "
                                  "auto");
    if (set.mu == MU_AUTO)
        set.mu = 0;
    if (roofs_settings_check(&set, &err))
        return usage_error("fit", "%s", err.text);
    return OPTIONS_FINE;
}

static int check_fit(const fit_args *a, const operands *files)
{
    const genotype_options *g = &a->in.genotypes;
    const file_use read[] = {{"--y", a->y},
                             {"--names", a->in.names},
                             {"--pheno", g->pheno},
                             {"--covar", g->covar},
                             {"--keep", g->keep},
                             {"--remove", g->remove},
                             {"--bim", g->bim},
                             {"--fam", g->fam},
                             {"--weights", a->extra.weights},
                             {"--offset", a->extra.offset},
                             {"--always", a->extra.always},
                             {0}};
    const file_use written[] = {{"-o", fit_model_path(&a->out)},
                                {"--trace", a->out.trace},
                                {"--checkpoint", a->checkpoint},
                                {0}};
    int code = inputs_check("fit", files);
    if (code == OPTIONS_FINE)
        code = inputs_check_written("fit", files, read, written);
    if (code != OPTIONS_FINE)
        return code;
    int are_genotypes = 0;
    if (fit_check_genotypes(&a->in, files, &are_genotypes) != OPTIONS_FINE)
        return EXIT_USAGE;
    if (!a->y && !are_genotypes && (files->count > 1 || !format_may_be_labelled(files->values[0])))
        return usage_error("fit", "%s", no_response);
    if (check_pipes(a, files) != OPTIONS_FINE)
        return EXIT_USAGE;
    if (process_comm()->size > 1 && (a->settings.mu == MU_AUTO || a->in.missing != MISSING_ERROR ||
                                     a->intervals == INTERVALS_CV))
        return usage_error("fit", "--mu auto, --intervals cv and --missing need all samples in one "
                                  "process; use 'roofs fit', or one rank");
    if (a->out.json && (path_is_standard(a->out.output) || path_is_standard(a->out.trace)))
        return usage_error("fit", "--json and %s - both write to standard output; give %s a file",
                           path_is_standard(a->out.output) ? "-o" : "--trace",
                           path_is_standard(a->out.output) ? "-o" : "--trace");
    if (path_is_standard(a->checkpoint))
        return usage_error("fit", "--checkpoint must be a file, not standard output");
    if (check_several(a) != OPTIONS_FINE ||
        extras_check(&a->extra, a->y, a->orders) != OPTIONS_FINE)
        return EXIT_USAGE;
    return check_settings(a);
}

static int fit_files(fit_args *args, const operands *files)
{
    roofs_error err = {.feature = -1};
    fit_beginning b = {.args = args,
                       .session = {.out = args->out, .in = args->in, .files = *files}};
    fit_session *f = &b.session;
    int code = EXIT_FINE;
    if (args->explain)
        f->out.output = f->out.trace = NULL;
    const int several = several_are_asked(args->y, &args->in);
    if (several)
        f->out.output = NULL; /* every response has a file of its own */
    roofs_status status = fit_session_prepare(f, &err);
    f->out.output = args->explain ? NULL : args->out.output;
    if (status == ROOFS_OK && several)
        code = fit_several(&b);
    else if (status != ROOFS_OK)
        code = exit_with("fit", &err, exit_after(status));
    else if (!args->explain)
        code = fit_session_finish(f, begin_fit(&b, &err), &err);
    else if ((status = explain_fit(&b, &err)) != ROOFS_OK)
        code = fit_session_fail(f, status, &err);
    fit_session_free(f);
    given_response_free(&b.response);
    extras_free(&b.extras);
    levels_free(&b.ids);
    memory_free(b.y);
    return code;
}

static int fit_main(int argc, char **argv)
{
    fit_args args = {.out.verb = "fit",
                     .in = {.reads_tables = 1, .reads_genotypes = 1, .genotypes.filters = 1}};
    operands files;
    int code = options_parse(&fit_verb, &args, argc, argv, &files);
    if (code == OPTIONS_FINE)
        code = check_fit(&args, &files);
    code = process_agree(code);
    if (code != OPTIONS_FINE)
        return code;
    interrupt_install();
    return fit_files(&args, &files);
}

const verb fit_verb = {
    .name = "fit",
    .summary = "select features from a stream and fit them, robust to corrupted responses",
    .usage = "[--y NAME] [--mu N] FILES... [-o model.json] [options]",
    .about = fit_about,
    .examples = fit_examples,
    .rows = fit_rows,
    .settings = SETTINGS_ALL,
    .settings_at = offsetof(fit_args, settings),
    .main = fit_main,
};
