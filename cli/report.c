/* roofs report: an HTML page about a model. */
#include "base/output.h"
#include "cli/folder.h"
#include "cli/inputs.h"
#include "cli/print.h"
#include "cli/report_fit.h"
#include "cli/report_plot.h"
#include "cli/verbs.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

typedef struct report_args {
    const char *output, *trace;
} report_args;

static const option_row report_rows[] = {
    {OUTPUT(report_args, output, "FILE"), .required = 1,
     .help = "the page to write; - is standard output"},
    {TEXT(report_args, trace, "trace", "FILE"),
     .help = "file of 'roofs fit --trace'; adds the paths of the coefficients, time and memory"},
    {0},
};

static const example report_examples[] = {
    {"write a page about a fit", "roofs report model.json -o report.html"},
    {"add the paths of the coefficients, time and memory per batch",
     "roofs fit --y y.npy --mu 50 X.npy -o model.json --trace trace.jsonl && "
     "roofs report model.json --trace trace.jsonl -o report.html"},
    {"read from a pipe and write to one", "roofs report - -o - < model.json > report.html"},
    {0},
};

static const char *report_title(const char *path)
{
    const char *slash = strrchr(path, '/');
    if (strcmp(path, "-") == 0)
        return "standard input";
    return slash ? slash + 1 : path;
}

static roofs_status report_save(const char *path, const char *text, size_t size, roofs_error *err)
{
    output out;
    TRY(output_open(&out, path, err));
    fwrite(text, 1, size, out.file);
    return output_commit(&out, err);
}

/* Builds the page in memory, so that a failed plot leaves no file behind. */
static roofs_status report_write(const report_args *args, const roofs_model *model,
                                 const trace_lines *lines, const char *path, roofs_error *err)
{
    char *text = NULL;
    size_t size = 0;
    FILE *page = open_memstream(&text, &size);
    if (!page)
        return fail(err, ROOFS_NO_MEMORY, "no memory for the page");
    roofs_status status = fit_page(page, model, lines, report_title(path), err);
    int full = ferror(page);
    if ((fclose(page) != 0 || full) && status == ROOFS_OK)
        status = fail(err, ROOFS_NO_MEMORY, "no memory for the page");
    if (status == ROOFS_OK)
        status = report_save(args->output, text, size, err);
    free(text);
    return status;
}

static roofs_status report_read(const report_args *args, const char *path, roofs_model **model,
                                trace_lines *lines, roofs_error *err)
{
    TRY(inputs_read_model(model, path, err));
    return args->trace ? trace_read(lines, args->trace, err) : ROOFS_OK;
}

static int report(const report_args *args, const char *path)
{
    roofs_error err = {.feature = -1};
    roofs_model *model = NULL;
    trace_lines lines = {0};
    if (plot_ready(&err) != ROOFS_OK || check_writable(args->output, &err) != ROOFS_OK)
        return exit_with("report", &err, EXIT_FAILED);
    int code = exit_after_input(report_read(args, path, &model, &lines, &err));
    if (code == EXIT_FINE && report_write(args, model, &lines, path, &err) != ROOFS_OK)
        code = EXIT_FAILED;
    roofs_model_destroy(model);
    trace_free(&lines);
    return code == EXIT_FINE ? code : exit_with("report", &err, code);
}

static int report_main(int argc, char **argv)
{
    report_args args = {0};
    operands rest;
    int code = options_parse(&report_verb, &args, argc, argv, &rest);
    if (code != OPTIONS_FINE)
        return code;
    if (rest.count != 1)
        return usage_error("report", "give one model; %" PRId64 " are given", rest.count);
    if (same_file(args.output, rest.values[0]))
        return usage_error("report", "-o would overwrite the model %s; choose another file",
                           args.output);
    return report(&args, rest.values[0]);
}

const verb report_verb = {
    .name = "report",
    .summary = "write a page about a model: coefficients, residuals, trusted samples, batches",
    .usage = "model.json -o report.html",
    .about = "Writes one HTML file that needs no network and follows the light or dark mode of the "
             "browser. gnuplot draws the plots; it must be installed.",
    .examples = report_examples,
    .rows = report_rows,
    .main = report_main,
};
