/* roofs fit: reads a stream of features, keeps the model. */
#include "cli/fit.h"

#include "base/memory.h"
#include "base/status.h"
#include "cli/choose_mu.h"
#include "cli/folder.h"
#include "cli/inputs.h"
#include "cli/interrupt.h"
#include "cli/print.h"
#include "cli/progress.h"
#include "cli/trace.h"
#include "cli/verbs.h"
#include "linalg/block.h"
#include "stream/format.h"
#include "stream/response.h"

#include <inttypes.h>
#include <string.h>
#include <unistd.h>

typedef struct fit_args {
    const char *y, *output, *trace;
    input_args in;
    int json, explain, quiet;
    roofs_settings settings;
} fit_args;

#define AT(field) .at = offsetof(fit_args, field)

static const option_row rows[] = {
    {.name = "y",
     .kind = OPTION_TEXT,
     AT(y),
     .value = "FILE",
     .help = "the response: one number per sample; needed unless a LIBSVM file carries it"},
    {.name = "output",
     .letter = 'o',
     .kind = OPTION_TEXT,
     AT(output),
     .value = "FILE",
     .help = "where the model goes; without it, and for -, standard output"},
    {.name = "trace",
     .kind = OPTION_TEXT,
     AT(trace),
     .value = "FILE",
     .help = "write down every batch (time, memory, largest coefficients), for 'roofs report'"},
    INPUT_ROWS(offsetof(fit_args, in)),
    {.name = "json",
     .kind = OPTION_FLAG,
     AT(json),
     .help = "print a summary as a JSON object (then the model is only written with -o)"},
    {.name = "explain",
     .kind = OPTION_FLAG,
     AT(explain),
     .help = "print how much memory the fit would take, and do not fit"},
    {.name = "quiet",
     .letter = 'q',
     .kind = OPTION_FLAG,
     AT(quiet),
     .help = "no progress, no summary"},
    {0},
};

static const example examples[] = {
    {"keep 50 features", "roofs fit --y y.npy --mu 50 X.npy -o model.json"},
    {"several files as one stream, features in the columns",
     "roofs fit --y y.csv --mu 50 genes-*.csv.gz -o model.json"},
    {"from a pipe, at most 2 GiB of memory, numbers for a program",
     "zcat X.csv.gz | roofs fit --y y.csv --mu 50 --max-memory 2GiB --json -o model.json -"},
    {"a LIBSVM file, which carries the response", "roofs fit --mu 50 reviews.svm.xz -o model.json"},
    {"how many features to keep? (reads the files eleven times)",
     "roofs fit --y y.npy --mu auto X.npy -o model.json"},
    {"how much memory will it take?", "roofs fit --y y.npy --mu 4000 X.npy --explain"},
    {0},
};

/* ---- one fit ----------------------------------------------------------- */

typedef struct fit {
    const fit_args *args;
    roofs_settings settings; /* with the storage decided */
    double *y;
    int64_t n;
    source *source;
    roofs_estimator *estimator;
    const operands *files;
    int64_t taken;           /* features handed to the estimator, in all passes */
    fit_times times, traced; /* traced: up to the last batch in the trace */
    trace trace;
    missing_count missing; /* in one pass */
    progress bar;
} fit;

static void fit_free(fit *f)
{
    trace_abandon(&f->trace);
    roofs_destroy(f->estimator);
    source_close(f->source);
    memory_free(f->y);
}

static roofs_status open_features(void *user, source **out, roofs_error *err)
{
    const fit *f = user;
    source_options options = inputs_options(&f->args->in, f->n, 0);
    return source_open(out, f->files->values, f->files->count, &options, err);
}

static roofs_status open_source(fit *f, roofs_error *err)
{
    return open_features(f, &f->source, err);
}

static const char *const no_response =
    "the response, one number per sample (only a LIBSVM file, given alone, carries it)";

/* The response stands in a file of its own, or in the rows of the one file. */
static roofs_status open_inputs(fit *f, roofs_error *err)
{
    if (f->args->y) {
        TRY(response_read(f->args->y, &f->y, &f->n, err));
        return open_source(f, err);
    }
    TRY(open_source(f, err));
    const double *labels = source_labels(f->source);
    if (!labels)
        return fail(err, ROOFS_BAD_SETTING, "--y FILE is needed: %s", no_response);
    f->n = source_samples(f->source);
    TRY(memory_get(&f->y, f->n, sizeof *f->y, "the response", err));
    memcpy(f->y, labels, (size_t)f->n * sizeof *f->y);
    return ROOFS_OK;
}

static roofs_status decide_mu(fit *f, roofs_error *err)
{
    if (f->settings.mu != MU_AUTO)
        return ROOFS_OK;
    mu_question q = {.settings = f->settings,
                     .y = f->y,
                     .n = f->n,
                     .features = source_features(f->source),
                     .quiet = f->args->quiet,
                     .open = open_features,
                     .user = f};
    TRY(choose_mu(&q, &f->settings.mu, err));
    if (!f->args->quiet)
        fprintf(stderr, "mu         %" PRId64 ", chosen by cross-validation\n", f->settings.mu);
    return ROOFS_OK;
}

static roofs_status fit_open(fit *f, roofs_error *err)
{
    double start = seconds_now();
    TRY(open_inputs(f, err));
    f->settings = f->args->settings;
    if (strcmp(f->settings.storage, "auto") == 0)
        f->settings.storage = source_dtype(f->source) == ROOFS_F32 ? "f32" : "f64";
    f->times.reading += seconds_now() - start;
    return decide_mu(f, err);
}

static int watch(void *user, const roofs_progress *now)
{
    fit *f = user;
    char detail[200];
    snprintf(detail, sizeof detail, "batch %s.%s  selected %s  trusted %s",
             text_of_count(now->batch).text, text_of_count(now->round).text,
             text_of_count(now->selected).text, text_of_count(now->trusted).text);
    progress_show(&f->bar, f->taken, detail);
    return interrupt_signal();
}

static roofs_status next_block(fit *f, roofs_block *block, roofs_error *err)
{
    double start = seconds_now();
    roofs_status status = source_next(f->source, f->settings.batch, block, err);
    f->times.reading += seconds_now() - start;
    if (status == ROOFS_OK && interrupt_signal())
        return ROOFS_CANCELLED;
    return status;
}

/* What is wrong with the data here is wrong with the responses. */
static roofs_status fit_create(fit *f, roofs_error *err)
{
    double start = seconds_now();
    roofs_status status = roofs_create(&f->estimator, &f->settings, f->y, f->n, err);
    f->times.fitting += seconds_now() - start;
    if (status == ROOFS_BAD_DATA) {
        roofs_error reason = *err;
        return fail(err, status, "%s: %s", f->args->y ? f->args->y : f->files->values[0],
                    reason.text);
    }
    return status;
}

static roofs_status trace_now(fit *f, roofs_error *err)
{
    double reading = f->times.reading - f->traced.reading;
    double fitting = f->times.fitting - f->traced.fitting;
    f->traced = f->times;
    return trace_batch(&f->trace, f->estimator, reading, fitting, err);
}

/* Everything the source has, once. */
static roofs_status one_pass(fit *f, roofs_error *err)
{
    roofs_block block = {0};
    for (;;) {
        TRY(next_block(f, &block, err));
        if (block.count == 0)
            return ROOFS_OK;
        f->taken += block.count;
        double start = seconds_now();
        roofs_status status = roofs_consume(f->estimator, &block, err);
        f->times.fitting += seconds_now() - start;
        if (status != ROOFS_OK)
            return status;
        TRY(trace_now(f, err));
    }
}

static roofs_status read_again(fit *f, roofs_error *err)
{
    TRY(roofs_next_pass(f->estimator, err));
    source_close(f->source);
    f->source = NULL;
    return open_source(f, err);
}

static roofs_status fit_stream(fit *f, roofs_error *err)
{
    TRY(fit_create(f, err));
    roofs_set_monitor(f->estimator, watch, f);
    TRY(one_pass(f, err));
    f->missing = source_missing(f->source);
    for (int64_t pass = 2; pass <= f->settings.passes; pass++) {
        TRY(read_again(f, err));
        TRY(one_pass(f, err));
    }
    return ROOFS_OK;
}

static roofs_status fit_finish(fit *f, roofs_error *err)
{
    double start = seconds_now();
    roofs_status status = roofs_finish(f->estimator, err);
    f->times.fitting += seconds_now() - start;
    return status == ROOFS_OK ? trace_now(f, err) : status;
}

static roofs_status fit_run(fit *f, roofs_error *err)
{
    progress_begin(&f->bar, "fit", source_features(f->source) * f->settings.passes, f->args->quiet);
    roofs_status status = fit_stream(f, err);
    if (status == ROOFS_OK)
        status = fit_finish(f, err);
    progress_end(&f->bar);
    return status;
}

/* ---- what is left of it ------------------------------------------------ */

/* NULL: the model is not wanted. */
static const char *model_path(const fit_args *a)
{
    return a->output ? a->output : a->json ? NULL : "-";
}

static roofs_status write_model(const fit *f, roofs_error *err)
{
    const char *path = model_path(f->args);
    roofs_model *model = NULL;
    if (!path)
        return ROOFS_OK;
    TRY(roofs_model_create(&model, f->estimator, err));
    roofs_status status = roofs_model_write(model, path, err);
    roofs_model_destroy(model);
    return status;
}

static int fit_tell(fit *f)
{
    roofs_error err = {0};
    roofs_result result;
    roofs_status status = write_model(f, &err);
    if (status == ROOFS_OK)
        status = trace_commit(&f->trace, &err);
    if (status == ROOFS_OK)
        status = roofs_view(f->estimator, &result, &err);
    if (status != ROOFS_OK) {
        complain("fit", "%s", err.text);
        return exit_after(status);
    }
    if (f->args->json)
        return fit_print_json(&result, &f->times, &f->missing);
    if (!f->args->quiet)
        fit_print_summary(&result, &f->times, &f->missing);
    return EXIT_FINE;
}

/* ---- the verb ---------------------------------------------------------- */

/* Reading again is more than a pipe can. */
static int check_pipes(const fit_args *a, const operands *files)
{
    if (!inputs_have_stdin(files) || (a->settings.passes <= 1 && a->settings.mu != MU_AUTO))
        return OPTIONS_FINE;
    if (a->settings.mu == MU_AUTO)
        return usage_error("fit", "--mu auto reads the data several times, which a pipe cannot; "
                                  "write it to a file first");
    return usage_error("fit",
                       "--passes %" PRId64 " reads the data again, which a pipe cannot; "
                       "write it to a file first",
                       a->settings.passes);
}

static int check_settings(const fit_args *a)
{
    roofs_error err;
    roofs_settings set = a->settings;
    if (set.mu == MU_AUTO && a->explain)
        return usage_error("fit", "--explain needs the number of features: --mu N, not auto");
    if (set.mu == MU_AUTO)
        set.mu = 1; /* any that is allowed */
    if (roofs_settings_check(&set, &err))
        return usage_error("fit", "%s", err.text);
    return OPTIONS_FINE;
}

static int check(const fit_args *a, const operands *files)
{
    const file_use read[] = {{"--y", a->y}, {"--names", a->in.names}, {0}};
    const file_use written[] = {{"-o", model_path(a)}, {"--trace", a->trace}, {0}};
    int code = inputs_check("fit", files);
    if (code == OPTIONS_FINE)
        code = inputs_check_written("fit", files, read, written);
    if (code != OPTIONS_FINE)
        return code;
    if (!a->y && (files->count > 1 || !format_may_be_labelled(files->values[0])))
        return usage_error("fit", "--y FILE is needed: %s", no_response);
    int y_from_pipe = a->y && strcmp(a->y, "-") == 0;
    if (y_from_pipe && (inputs_have_stdin(files) || isatty(STDIN_FILENO)))
        return usage_error("fit", "--y - reads standard input, but that is %s",
                           inputs_have_stdin(files) ? "already among the files" : "the keyboard");
    if (check_pipes(a, files) != OPTIONS_FINE)
        return EXIT_USAGE;
    if (a->json && a->output && strcmp(a->output, "-") == 0)
        return usage_error("fit", "--json and -o - both want standard output");
    return check_settings(a);
}

static int fail_fit(const fit *f, roofs_status status, const roofs_error *err)
{
    if (interrupt_signal())
        return interrupt_exit("fit", "; no model was written");
    inputs_complain("fit", f->source, err);
    return exit_after_input(status);
}

/* Values of a sparse feature, on average over the first batch; 0 where they are dense. */
static roofs_status look_how_full(const fit *f, int64_t *filled, roofs_error *err)
{
    roofs_block block;
    *filled = 0;
    TRY(source_next(f->source, f->settings.batch, &block, err));
    if (block.count > 0 && block_is_sparse(&block))
        *filled = (block_start(&block, block.count) - block_start(&block, 0)) / block.count + 1;
    return ROOFS_OK;
}

static int explain(const fit *f)
{
    roofs_error err = {0};
    roofs_dtype storage = strcmp(f->settings.storage, "f32") == 0 ? ROOFS_F32 : ROOFS_F64;
    int64_t filled = 0;
    roofs_status status = look_how_full(f, &filled, &err);
    if (status == ROOFS_OK)
        status = fit_explain(&f->settings, f->n, storage, filled, &err);
    return status == ROOFS_OK ? EXIT_FINE : fail_fit(f, status, &err);
}

static int run(const fit_args *args, const operands *files)
{
    roofs_error err = {.feature = -1};
    if (args->output && !args->explain && check_writable(args->output, &err) != ROOFS_OK) {
        complain("fit", "%s", err.text);
        return EXIT_FAILED;
    }
    fit f = {.args = args, .files = files};
    roofs_status status = trace_open(&f.trace, args->explain ? NULL : args->trace, &err);
    if (status == ROOFS_OK)
        status = fit_open(&f, &err);
    int code;
    if (status == ROOFS_OK && args->explain) {
        code = explain(&f);
    } else {
        if (status == ROOFS_OK)
            status = fit_run(&f, &err);
        code = status == ROOFS_OK ? fit_tell(&f) : fail_fit(&f, status, &err);
    }
    fit_free(&f);
    return code;
}

static int fit_main(int argc, char **argv)
{
    fit_args args = {0};
    operands files;
    int code = options_parse(&fit_verb, &args, argc, argv, &files);
    if (code == OPTIONS_FINE)
        code = check(&args, &files);
    if (code != OPTIONS_FINE)
        return code;
    interrupt_watch();
    return run(&args, &files);
}

const verb fit_verb = {
    .name = "fit",
    .summary = "select features from a stream and fit them, whatever part of y is corrupted",
    .usage = "[--y FILE] --mu N FILES... [-o model.json] [options]",
    .about =
        "FILES hold the features, all of the same samples in the same order; several files are "
        "one stream. The features are taken in batches; after each, at most mu are kept.\n\n"
        "--mu auto tries up to 8 numbers, from 2 to a quarter of the samples, each on parts of the "
        "samples, and judges them on the others by their smallest errors (the largest may be "
        "corrupted). It takes about 40 times as long as one fit and needs memory for all 8.\n\n"
        "--missing drop-feature gives a feature with missing values no weight; --missing median "
        "puts the median of its other values in their place; both count them.\n\n"
        "--json prints n, features_seen, selected, trusted, rounds, missing_values, "
        "missing_features, fit_seconds (without reading), read_seconds, peak_bytes and stop.",
    .examples = examples,
    .rows = rows,
    .has_settings = 1,
    .settings_at = offsetof(fit_args, settings),
    .main = fit_main,
};
