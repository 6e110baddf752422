/* roofs report: a model as a page for the browser. */
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
     .help = "where the page goes; - is standard output"},
    {TEXT(report_args, trace, "trace", "FILE"),
     .help = "what 'roofs fit --trace' wrote: adds the path of the coefficients, time and memory"},
    {0},
};

static const example report_examples[] = {
    {"a page about a fit", "roofs report model.json -o report.html"},
    {"with the path of the coefficients, time and memory per batch",
     "roofs fit --y y.npy --mu 50 X.npy -o model.json --trace trace.jsonl && "
     "roofs report model.json --trace trace.jsonl -o report.html"},
    {"from one program to the next", "roofs report - -o - < model.json > report.html"},
    {0},
};

static const char *name_of(const char *path)
{
    const char *slash = strrchr(path, '/');
    if (strcmp(path, "-") == 0)
        return "standard input";
    return slash ? slash + 1 : path;
}

static roofs_status write_whole(const char *path, const char *text, size_t size, roofs_error *err)
{
    output out;
    TRY(output_open(&out, path, err));
    fwrite(text, 1, size, out.file);
    return output_commit(&out, err);
}

/* Builds the page in memory, so that a failed plot leaves no file behind. */
static roofs_status report_make_page(const report_args *args, const roofs_model *model,
                                     const trace_lines *lines, const char *path, roofs_error *err)
{
    char *text = NULL;
    size_t size = 0;
    FILE *page = open_memstream(&text, &size);
    if (!page)
        return fail(err, ROOFS_NO_MEMORY, "no memory for the page");
    roofs_status status = fit_page(page, model, lines, name_of(path), err);
    int full = ferror(page);
    if ((fclose(page) != 0 || full) && status == ROOFS_OK)
        status = fail(err, ROOFS_NO_MEMORY, "no memory for the page");
    if (status == ROOFS_OK)
        status = write_whole(args->output, text, size, err);
    free(text);
    return status;
}

static int report_run(const report_args *args, const char *path)
{
    roofs_error err = {.feature = -1};
    roofs_model *model = NULL;
    roofs_status status = plot_ready(&err);
    if (status == ROOFS_OK)
        status = check_writable(args->output, &err);
    if (status != ROOFS_OK) {
        complain("report", "%s", err.text);
        return EXIT_FAILED;
    }
    trace_lines lines = {0};
    status = inputs_read_model(&model, path, &err);
    if (status == ROOFS_OK && args->trace)
        status = trace_read(&lines, args->trace, &err);
    if (status != ROOFS_OK) {
        complain("report", "%s", err.text);
        roofs_model_destroy(model);
        trace_free(&lines);
        return exit_after_input(status);
    }
    status = report_make_page(args, model, &lines, path, &err);
    roofs_model_destroy(model);
    trace_free(&lines);
    if (status == ROOFS_OK)
        return EXIT_FINE;
    complain("report", "%s", err.text);
    return EXIT_FAILED;
}

static int report_main(int argc, char **argv)
{
    report_args args = {0};
    operands rest;
    int code = options_parse(&report_verb, &args, argc, argv, &rest);
    if (code != OPTIONS_FINE)
        return code;
    if (rest.count != 1)
        return usage_error("report", "one model is needed; %" PRId64 " are given", rest.count);
    if (same_file(args.output, rest.values[0]))
        return usage_error("report", "%s is read and would be overwritten by -o", args.output);
    return report_run(&args, rest.values[0]);
}

const verb report_verb = {
    .name = "report",
    .summary = "write a page about a model: coefficients, residuals, trust, the stream",
    .usage = "model.json -o report.html",
    .about = "One HTML file that needs nothing else: no network, light and dark, for phones and "
             "large screens. The plots are drawn by gnuplot, which must be installed.",
    .examples = report_examples,
    .rows = report_rows,
    .main = report_main,
};
