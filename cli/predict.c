/* roofs predict: a model and features in, predictions out. */
#include "base/memory.h"
#include "base/output.h"
#include "cli/folder.h"
#include "cli/inputs.h"
#include "cli/interrupt.h"
#include "cli/lookup.h"
#include "cli/print.h"
#include "cli/process_comm.h"
#include "cli/verbs.h"
#include "stream/npy.h"

#include <string.h>

typedef struct predict_args {
    const char *output;
    int64_t samples;
    input_args in;
} predict_args;

static const option_row predict_rows[] = {
    {OUTPUT(predict_args, output, "FILE"), .standard = "-",
     .help = "where the predictions go: text, one per line, for - (standard output), .csv and "
             ".txt; an array otherwise"},
    {COUNT(predict_args, samples, "samples", 1, INT32_MAX - 1),
     .help = "how many samples there are; triplets: the last ones may have no values at all"},
    {GROUP(predict_args, in, input_rows)},
    {0},
};

static const example predict_examples[] = {
    {"predictions as an array", "roofs predict model.json X.npy -o yhat.npy"},
    {"as text, to look at", "roofs predict model.json new-*.csv | head"},
    {0},
};

/* ---- reading ----------------------------------------------------------- */

typedef struct prediction {
    const predict_args *args;
    operands files;
    const roofs_model *fitted;
    roofs_result model;
    source *source;
    lookup sums;
} prediction;

static roofs_status open_features(prediction *p, roofs_error *err)
{
    source_options options = inputs_options(&p->args->in, p->args->samples, p->model.features_seen);
    options.n_owner = "--samples";
    const int32_t base = roofs_model_index_base(p->fitted);
    if (options.base == INDEX_AUTO && base >= 0)
        options.base = base ? INDEX_FROM_1 : INDEX_FROM_0;
    return source_open(&p->source, p->files.values, p->files.count, &options, err);
}

/* Positions in a list of names mean nothing: features that are zero are not in it. */
static roofs_status check_names(const prediction *p, roofs_error *err)
{
    if (!source_is_by_name(p->source) || p->sums.named || p->args->in.names)
        return ROOFS_OK;
    return fail(err, ROOFS_BAD_DATA,
                "triplets tell features by name, but those of the model have none; fit with names "
                "(--names), or give the features in another format");
}

/* A pipe can be read only once: so all of it is read. */
static roofs_status sum_features(prediction *p, roofs_error *err)
{
    int done = 0;
    TRY(open_features(p, err));
    TRY(lookup_create(&p->sums, &p->model, source_own_samples(p->source), err));
    TRY(check_names(p, err));
    p->sums.absent_is_zero = source_is_by_name(p->source);
    if (!inputs_have_stdin(&p->files)) {
        TRY(lookup_in_place(&p->sums, p->source, &done, err));
        if (done)
            return ROOFS_OK;
        source_close(p->source);
        p->source = NULL;
        TRY(open_features(p, err));
    }
    return lookup_scan(&p->sums, p->source, err);
}

/* ---- writing ----------------------------------------------------------- */

static int is_text_path(const char *path)
{
    return strcmp(path, "-") == 0 || path_ends_in(path, ".csv") || path_ends_in(path, ".txt");
}

static void write_some(const prediction *p, FILE *file, const double *values, int64_t count)
{
    if (!is_text_path(p->args->output))
        fwrite(values, sizeof *values, (size_t)count, file);
    for (int64_t i = 0; is_text_path(p->args->output) && i < count; i++)
        fprintf(file, "%.17g\n", values[i]);
}

/* Rank 0 writes the predictions of each rank, some at a time. */
static roofs_status write_shards(const prediction *p, comm *c, FILE *file, roofs_error *err)
{
    enum { SOME = 1 << 14 };
    double some[SOME];
    for (int64_t rank = 0; rank < c->with.size; rank++)
        for (int64_t at = 0, end = comm_shard(c, rank); at < end; at += SOME) {
            int64_t count = end - at < SOME ? end - at : SOME;
            const double *mine = rank == c->with.rank ? p->sums.sum + at : NULL;
            comm_take_from(c, rank, mine, count * (int64_t)sizeof *some, some);
            if (file)
                write_some(p, file, some, count);
        }
    return comm_status(c, err);
}

static roofs_status write_predictions(const prediction *p, comm *c, roofs_error *err)
{
    output out = {0};
    const int is_root = comm_is_root(c);
    TRY(comm_agree(c, is_root ? output_open(&out, p->args->output, err) : ROOFS_OK, err));
    if (is_root && !is_text_path(p->args->output))
        npy_write_header(out.file, "<f8", 1, &c->total);
    TRY(write_shards(p, c, out.file, err));
    return comm_agree(c, is_root ? output_commit(&out, err) : ROOFS_OK, err);
}

/* ---- the verb ---------------------------------------------------------- */

static int finish_prediction(prediction *p, roofs_status status, roofs_error *err)
{
    int code = EXIT_FINE;
    comm ranks = {0};
    roofs_status joined =
        comm_join(&ranks, process_comm(), status == ROOFS_OK ? p->sums.n : 1, err);
    status = joined == ROOFS_OK ? comm_agree(&ranks, status, err) : joined;
    if (status != ROOFS_OK && interrupt_signal()) {
        code = interrupt_exit("predict", "; nothing was written");
    } else if (status != ROOFS_OK) {
        inputs_complain("predict", p->source, err);
        code = exit_after_input(status);
    } else if (write_predictions(p, &ranks, err) != ROOFS_OK) {
        code = exit_with("predict", err, EXIT_FAILED);
    } else if (p->sums.absent > 0 && comm_is_root(&ranks)) {
        fprintf(stderr, "predict: %s of the %s features of the model are not listed: taken as 0\n",
                text_of_count(p->sums.absent).text, text_of_count(p->model.selected).text);
    }
    comm_leave(&ranks);
    lookup_destroy(&p->sums);
    source_close(p->source);
    return code;
}

static int predict(const predict_args *args, const char *model_path, operands files)
{
    roofs_error err = {.feature = -1};
    roofs_model *model = NULL;
    if (check_writable(args->output, &err) != ROOFS_OK)
        return exit_with("predict", &err, EXIT_FAILED);
    roofs_status status = inputs_read_model(&model, model_path, &err);
    if (status != ROOFS_OK)
        return exit_with("predict", &err, exit_after_input(status));
    prediction p = {.args = args, .files = files, .fitted = model};
    roofs_model_view(model, &p.model);
    p.sums.model = &p.model;
    int code = finish_prediction(&p, sum_features(&p, &err), &err);
    roofs_model_destroy(model);
    return code;
}

static int predict_main(int argc, char **argv)
{
    predict_args args = {0};
    operands rest;
    int code = options_parse(&predict_verb, &args, argc, argv, &rest);
    if (code != OPTIONS_FINE)
        return code;
    if (rest.count == 0)
        return usage_error("predict", "a model is needed, then files with features");
    if (args.in.missing == MISSING_DROP)
        return usage_error("predict", "every selected feature is needed: --missing drop-feature "
                                      "cannot be used here");
    operands files = {rest.values + 1, rest.count - 1};
    const file_use written[] = {{"-o", args.output}, {0}};
    const file_use read[] = {{"MODEL", rest.values[0]}, {"--names", args.in.names}, {0}};
    code = inputs_check("predict", &files);
    if (code == OPTIONS_FINE)
        code = inputs_check_written("predict", &files, read, written);
    if (code != OPTIONS_FINE)
        return code;
    if (strcmp(rest.values[0], "-") == 0 && inputs_have_stdin(&files))
        return usage_error("predict", "- can stand for the model or for the features, not both");
    interrupt_install();
    return predict(&args, rest.values[0], files);
}

const verb predict_verb = {
    .name = "predict",
    .summary = "predict the response of samples from a model and features",
    .usage = "model.json FILES... [-o yhat.npy] [options]",
    .about = "Features are found by name where the model and the files have names, whatever their "
             "order, and by their place in the stream otherwise. Where the files have them in the "
             "places they had during the fit, only the selected features are read; otherwise, and "
             "from a pipe, all are read, and one that comes before its turn is held in memory. The "
             "sum is made in the order of the model: it has the same bits for every order.\n\n"
             "Indices of LIBSVM files are counted as in the file of the fit, unless --index-base "
             "says otherwise. In triplets what is not listed is 0: features of the model that "
             "never occur count as 0, and without --samples the largest sample is the last.",
    .examples = predict_examples,
    .rows = predict_rows,
    .main = predict_main,
};
