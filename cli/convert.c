/* roofs convert: writes the features of input files to one file of another format. */
#include "base/memory.h"
#include "base/output.h"
#include "cli/folder.h"
#include "cli/genotypes.h"
#include "cli/given_response.h"
#include "cli/inputs.h"
#include "cli/interrupt.h"
#include "cli/print.h"
#include "cli/progress.h"
#include "cli/sink.h"
#include "cli/tables.h"
#include "cli/verbs.h"
#include "stream/npy.h"
#include "stream/response.h"
#include "stream/tfidf.h"

#include <inttypes.h>
#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef struct convert_args {
    const char *output, *y, *save_y, *rows, *use_idf, *save_idf;
    input_args in;
    int64_t features;
    int tfidf, quiet;
} convert_args;

static const option_row convert_rows[] = {
    {OUTPUT(convert_args, output, "FILE"), .required = 1,
     .help = "file to write; the ending gives the format: .npy .npz .csv .tsv .svm .triplets"},
    {TEXT(convert_args, y, "y", "NAME"),
     .help = "the response, for .svm files and --save-y: a file, a column of the tables, or "
             "FILE:COLUMN"},
    {TEXT(convert_args, save_y, "save-y", "FILE"),
     .help = "file for the response, such as that of a LIBSVM file (.npy or text)"},
    {TEXT(convert_args, rows, "rows", "FILE"),
     .help = "file with the samples to keep, counted from 0, in this order"},
    {COUNT(convert_args, features, "features", 1, 9e18), .help = "keep only the first N features"},
    {FLAG(convert_args, tfidf, "tfidf"),
     .help = "weigh counts of words: (1 + log count) * log(samples / samples with the word), then "
             "scale every sample to length 1"},
    {TEXT(convert_args, save_idf, "save-idf", "FILE"),
     .help = "file for log(samples / samples with the word), to be read by --use-idf"},
    {TEXT(convert_args, use_idf, "use-idf", "FILE"),
     .help = "like --tfidf, with the second factor read from this file"},
    {GROUP(convert_args, in, input_rows)},
    {GROUP(convert_args, in.table, table_rows)},
    {GROUP(convert_args, in.genotypes, variant_rows)},
    {GROUP(convert_args, in.genotypes, genotype_file_rows)},
    {QUIET(convert_args, quiet), .help = "no progress, no summary"},
    {0},
};

static const example convert_examples[] = {
    {"a text table as a NumPy array", "roofs convert genes.csv.gz -o genes.npy"},
    {"the features of a table with words and dates, and its response",
     "roofs convert houses.csv --y price --drop ID -o X.npz --save-y y.npy"},
    {"a LIBSVM file as a SciPy matrix, with the response in its own file",
     "roofs convert data.svm -o X.npz --save-y y.npy"},
    {"weigh words by tf-idf, then other texts with the same weights",
     "roofs convert train.svm --tfidf --save-idf idf.txt -o train.npz && "
     "roofs convert test.svm --use-idf idf.txt -o test.npz"},
    {0},
};

/* ---- a conversion ------------------------------------------------------ */

typedef struct conversion {
    const convert_args *args;
    operands files;
    source *source;
    given_response response;
    levels ids; /* of the samples, from the table of the response */
    table_options table;
    double *y;       /* the response of all samples, then of the chosen ones; NULL: no response */
    int64_t n;       /* samples of the files */
    int64_t *chosen; /* NULL: all samples */
    int64_t samples; /* to write */
    double *idf;
    int64_t idf_count;
    tfidf weights;
    sparse all, subset; /* a block, and its chosen samples */
    sink sink;
    int64_t features, entries; /* written */
    missing_count missing;
    progress bar;
} conversion;

static void conversion_free(conversion *c)
{
    source_close(c->source);
    given_response_free(&c->response);
    levels_free(&c->ids);
    memory_free(c->y);
    memory_free(c->chosen);
    memory_free(c->idf);
    tfidf_free(&c->weights);
    sparse_free(&c->all);
    sparse_free(&c->subset);
    sink_abandon(&c->sink);
}

static int uses_tfidf(const convert_args *a)
{
    return a->tfidf || a->use_idf;
}

static roofs_status open_source(conversion *c, roofs_error *err)
{
    source_options options = inputs_options(&c->args->in, c->n, c->idf_count);
    options.unpacked = 1;
    options.table = &c->table;
    options.ids = c->ids.words.count > 0 ? &c->ids : NULL;
    source_close(c->source);
    c->source = NULL;
    return source_open(&c->source, c->files.values, c->files.count, &options, err);
}

/* ---- rows and responses ------------------------------------------------ */

static roofs_status choose_row(conversion *c, int64_t k, double number, roofs_error *err)
{
    if (!(number >= 0 && number < (double)c->n) || number != (double)(int64_t)number)
        return fail(err, ROOFS_BAD_DATA, "%s: no sample %g; samples are counted from 0 to %" PRId64,
                    c->args->rows, number, c->n - 1);
    c->chosen[k] = (int64_t)number;
    return ROOFS_OK;
}

static int by_number(const void *left, const void *right)
{
    const double a = *(const double *)left, b = *(const double *)right;
    return (a > b) - (a < b);
}

/* Sorts the numbers. */
static roofs_status check_rows_differ(const conversion *c, double *numbers, roofs_error *err)
{
    qsort(numbers, (size_t)c->samples, sizeof *numbers, by_number);
    for (int64_t k = 1; k < c->samples; k++)
        if (numbers[k] == numbers[k - 1])
            return fail(err, ROOFS_BAD_DATA, "%s: sample %.0f is listed twice", c->args->rows,
                        numbers[k]);
    return ROOFS_OK;
}

static roofs_status read_rows(conversion *c, roofs_error *err)
{
    double *numbers;
    c->samples = c->n;
    if (!c->args->rows)
        return ROOFS_OK;
    TRY(response_read(c->args->rows, &numbers, &c->samples, err));
    roofs_status status =
        memory_get(&c->chosen, c->samples, sizeof *c->chosen, "a choice of samples", err);
    for (int64_t k = 0; k < c->samples && !status; k++)
        status = choose_row(c, k, numbers[k], err);
    if (!status)
        status = check_rows_differ(c, numbers, err);
    memory_free(numbers);
    return status;
}

/* Takes --y or else the labels of the file, and keeps those of the chosen samples. */
static roofs_status choose_responses(conversion *c, roofs_error *err)
{
    const double *labels = c->y ? c->y : source_labels(c->source);
    double *chosen;
    if (!labels)
        return ROOFS_OK;
    TRY(memory_get(&chosen, c->samples, sizeof *chosen, "the response", err));
    for (int64_t i = 0; i < c->samples; i++)
        chosen[i] = labels[c->chosen ? c->chosen[i] : i];
    memory_free(c->y);
    c->y = chosen;
    return ROOFS_OK;
}

static roofs_status write_numbers(const char *path, const double *numbers, int64_t count,
                                  roofs_error *err)
{
    output out;
    TRY(output_open(&out, path, err));
    if (path_ends_in(path, ".npy")) {
        npy_write_header(out.file, "<f8", 1, &count);
        fwrite(numbers, sizeof *numbers, (size_t)count, out.file);
    } else {
        for (int64_t k = 0; k < count; k++)
            fprintf(out.file, "%.17g\n", numbers[k]);
    }
    return output_commit(&out, err);
}

/* Called just before sink_commit, so that an earlier failure leaves no files. */
static roofs_status save_numbers(const conversion *c, roofs_error *err)
{
    const convert_args *a = c->args;
    if (a->save_y)
        TRY(write_numbers(a->save_y, c->y, c->samples, err));
    if (a->save_idf)
        TRY(write_numbers(a->save_idf, c->weights.idf, c->features, err));
    return ROOFS_OK;
}

/* ---- blocks ------------------------------------------------------------ */

/* The source has already replaced missing values as --missing asks: others are errors. */
static roofs_status check_finite(const conversion *c, roofs_error *err)
{
    const sparse *s = &c->all;
    for (int64_t k = 0; k < s->count; k++)
        for (int64_t at = s->starts[k]; at < s->starts[k + 1]; at++)
            if (!isfinite(s->values[at])) {
                fail(err, ROOFS_BAD_DATA,
                     "feature %" PRId64 ", sample %" PRId64 " (counted from 0): %s",
                     c->features + k, s->samples[at],
                     isnan(s->values[at]) ? "the value is missing; fill it in or use --missing"
                                          : "the value is infinite");
                return blame(err, c->features + k, ROOFS_BAD_DATA);
            }
    return ROOFS_OK;
}

/* Reads the next features: *chosen points to their chosen samples and *view is a view of them. The
 * names are in *block; block->count is 0 at the end. */
static roofs_status next_features(conversion *c, const sparse **chosen, roofs_block *view,
                                  roofs_block *block, roofs_error *err)
{
    enum { TOGETHER = 100 };
    int64_t left = c->args->features ? c->args->features - c->features : TOGETHER;
    TRY(source_next(c->source, left < TOGETHER ? left : TOGETHER, block, err));
    if (interrupt_signal())
        return ROOFS_CANCELLED;
    sparse_clear(&c->all);
    TRY(sparse_append(&c->all, block, err));
    TRY(check_finite(c, err));
    if (c->chosen) {
        sparse_clear(&c->subset);
        TRY(sparse_choose_samples(&c->all, c->chosen, c->samples, &c->subset, err));
    }
    *chosen = c->chosen ? &c->subset : &c->all;
    sparse_view(*chosen, 0, (*chosen)->count, view);
    return ROOFS_OK;
}

static roofs_status measure_words(conversion *c, roofs_error *err)
{
    const sparse *chosen;
    roofs_block block, view;
    for (;;) {
        TRY(next_features(c, &chosen, &view, &block, err));
        if (c->features == 0)
            TRY(tfidf_create(&c->weights, c->samples, c->idf, c->idf_count, err));
        if (block.count == 0)
            break;
        TRY(tfidf_measure(&c->weights, &view, err));
        c->features += block.count;
        progress_show(&c->bar, c->features, "");
    }
    if (c->idf && !c->args->features && c->features < c->idf_count)
        return fail(err, ROOFS_BAD_DATA,
                    "%s has weights of %" PRId64 " features, but the files have %" PRId64
                    "; weights and features must have the same order",
                    c->args->use_idf, c->idf_count, c->features);
    tfidf_measured(&c->weights);
    c->features = 0;
    return open_source(c, err);
}

static roofs_status write_features(conversion *c, roofs_error *err)
{
    const sparse *chosen;
    roofs_block block, view;
    for (;;) {
        TRY(next_features(c, &chosen, &view, &block, err));
        if (c->features == 0) /* a block was read: the number of samples is no mere claim */
            TRY(sink_open(&c->sink, c->args->output, c->samples, c->y, err));
        if (block.count == 0)
            return ROOFS_OK;
        if (uses_tfidf(c->args))
            tfidf_weigh(&c->weights, c->features, &view, chosen->values);
        TRY(sink_features(&c->sink, chosen, block.names, err));
        c->features += block.count;
        c->entries += sparse_entries(chosen);
        progress_show(&c->bar, c->features, "");
    }
}

/* ---- the verb ---------------------------------------------------------- */

static roofs_status read_inputs(conversion *c, roofs_error *err)
{
    const convert_args *a = c->args;
    c->table = a->in.table;
    if (a->y)
        TRY(given_response_parse(&c->response, a->y, err));
    if (c->response.path)
        TRY(given_response_read(&c->response, &a->in, 0, &c->y, &c->n, &c->ids, err));
    else
        c->table.response = c->response.column;
    if (a->use_idf)
        TRY(response_read(a->use_idf, &c->idf, &c->idf_count, err));
    TRY(open_source(c, err));
    TRY(source_check_sizes(c->source, a->features == 0, err));
    c->n = source_samples(c->source);
    if (c->table.response)
        TRY(given_response_take(&c->response, c->source, &c->y, &c->n, err));
    TRY(source_check_columns(c->source, err));
    TRY(read_rows(c, err));
    TRY(choose_responses(c, err));
    if (a->save_y && !c->y)
        return fail(
            err, ROOFS_BAD_DATA,
            "--save-y: the files contain no response; give it with --y, or give one LIBSVM file");
    return ROOFS_OK;
}

static roofs_status convert_all(conversion *c, roofs_error *err)
{
    const convert_args *a = c->args;
    TRY(read_inputs(c, err));
    if (uses_tfidf(a))
        TRY(measure_words(c, err));
    TRY(write_features(c, err));
    TRY(source_finish(c->source, err));
    c->missing = source_missing(c->source);
    TRY(sink_end(&c->sink, err));
    TRY(interrupt_check(err));
    TRY(save_numbers(c, err));
    return sink_commit(&c->sink, err);
}

static void print_conversion(const conversion *c)
{
    if (c->args->quiet)
        return;
    tables_print_notes("convert", c->source, 0);
    print_clean(stderr, c->args->output, INT_MAX);
    fprintf(stderr, ": %s sample%s, %s feature%s, %s nonzero value%s\n",
            text_of_count(c->samples).text, plural(c->samples), text_of_count(c->features).text,
            plural(c->features), text_of_count(c->entries).text, plural(c->entries));
    if (!c->y && sink_has_labels(c->args->output))
        fputs("every label is 0; give the response with --y\n", stderr);
    inputs_print_listed(c->source, source_position(c->source));
    if (c->missing.values > 0)
        fprintf(stderr, "missing: %s value%s in %s feature%s\n",
                text_of_count(c->missing.values).text, plural(c->missing.values),
                text_of_count(c->missing.features).text, plural(c->missing.features));
}

static int convert(const convert_args *args, operands files)
{
    roofs_error err = {.feature = -1};
    conversion c = {.args = args, .files = files};
    const char *const written[] = {args->output, args->save_y, args->save_idf};
    for (int k = 0; k < 3; k++)
        if (written[k] && check_writable(written[k], &err) != ROOFS_OK)
            return exit_with("convert", &err, EXIT_FAILED);
    progress_begin(&c.bar, "convert", 0, args->quiet);
    roofs_status status = convert_all(&c, &err);
    progress_end(&c.bar);
    int code = EXIT_FINE;
    if (status == ROOFS_OK) {
        print_conversion(&c);
    } else if (interrupt_signal()) {
        code = interrupt_exit("convert", "; nothing was written");
    } else {
        inputs_complain("convert", c.source, &err);
        code = status == ROOFS_IO ? EXIT_FAILED : exit_after_input(status);
    }
    conversion_free(&c);
    return code;
}

static int check_convert(const convert_args *a, const operands *files)
{
    const file_use read[] = {{"--y", a->y},
                             {"--rows", a->rows},
                             {"--use-idf", a->use_idf},
                             {"--names", a->in.names},
                             {0}};
    const file_use written[] = {
        {"-o", a->output}, {"--save-y", a->save_y}, {"--save-idf", a->save_idf}, {0}};
    int code = inputs_check("convert", files);
    if (code == OPTIONS_FINE)
        code = inputs_check_written("convert", files, read, written);
    if (code != OPTIONS_FINE)
        return code;
    if (!sink_supports(a->output))
        return usage_error("convert", "-o %s: the ending must be one of %s", a->output,
                           sink_endings());
    if (uses_tfidf(a) && inputs_have_stdin(files))
        return usage_error("convert", "tf-idf reads the data twice; write standard input to a file "
                                      "first");
    if (a->save_idf && !a->tfidf)
        return usage_error("convert", "--save-idf needs --tfidf");
    if (a->y && !a->save_y && !sink_has_labels(a->output))
        return usage_error("convert",
                           "%s cannot contain the response of --y; write a .svm file, or "
                           "give --save-y",
                           a->output);
    if (a->tfidf && a->use_idf)
        return usage_error(
            "convert", "--tfidf computes the weights, --use-idf reads them; give one of the two");
    return OPTIONS_FINE;
}

static int convert_main(int argc, char **argv)
{
    convert_args args = {.in = {.reads_tables = 1, .reads_genotypes = 1, .genotypes.filters = 1}};
    operands files;
    int code = options_parse(&convert_verb, &args, argc, argv, &files);
    if (code == OPTIONS_FINE)
        code = check_convert(&args, &files);
    if (code != OPTIONS_FINE)
        return code;
    interrupt_install();
    return convert(&args, files);
}

const verb convert_verb = {
    .name = "convert",
    .summary = "write features in another format, weigh words, choose samples",
    .usage = "FILES... -o FILE [options]",
    .about =
        "Several files are one stream, as for fit. docs/formats.md describes the formats. .csv, "
        ".tsv, .npz and .triplets files keep the names of features. .svm files count features "
        "from 1, .triplets files count samples from 0.",
    .examples = convert_examples,
    .rows = convert_rows,
    .main = convert_main,
};
