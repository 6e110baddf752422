/* roofs convert: features from files of any format into one file of another. */
#include "base/memory.h"
#include "base/output.h"
#include "cli/folder.h"
#include "cli/inputs.h"
#include "cli/interrupt.h"
#include "cli/print.h"
#include "cli/progress.h"
#include "cli/sink.h"
#include "cli/verbs.h"
#include "stream/npy.h"
#include "stream/response.h"
#include "stream/tfidf.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

typedef struct convert_args {
    const char *output, *y, *save_y, *rows, *use_idf, *save_idf;
    input_args in;
    int64_t features;
    int tfidf, quiet;
} convert_args;

#define AT(field) .at = offsetof(convert_args, field)
#define FILE_ROW(option, field, text)                                                              \
    {                                                                                              \
        .name = (option), .kind = OPTION_TEXT, AT(field), .value = "FILE", .help = (text)          \
    }

static const option_row rows[] = {
    {.name = "output",
     .letter = 'o',
     .kind = OPTION_TEXT,
     AT(output),
     .value = "FILE",
     .required = 1,
     .help = "what to write; the ending tells the format: .npy .npz .csv .tsv .svm .triplets"},
    FILE_ROW("y", y, "the response, to be written into .svm files"),
    FILE_ROW("save-y", save_y, "where the response of a LIBSVM file goes (.npy, otherwise text)"),
    FILE_ROW("rows", rows, "samples to keep, by their numbers from 0, in this order"),
    {.name = "features",
     .kind = OPTION_COUNT,
     AT(features),
     .value = "N",
     .low = 1,
     .high = 9e18,
     .help = "keep the first N features only"},
    {.name = "tfidf",
     .kind = OPTION_FLAG,
     AT(tfidf),
     .help = "weigh counts of words: (1 + log count) log(samples / samples with the word), then "
             "samples of length 1"},
    FILE_ROW("save-idf", save_idf,
             "where log(samples / samples with the word) goes, for --use-idf"),
    FILE_ROW("use-idf", use_idf, "like --tfidf, with the second factor from this file"),
    INPUT_ROWS(offsetof(convert_args, in)),
    {.name = "quiet",
     .letter = 'q',
     .kind = OPTION_FLAG,
     AT(quiet),
     .help = "no progress, no summary"},
    {0},
};

static const example examples[] = {
    {"a text table as a NumPy array", "roofs convert genes.csv.gz -o genes.npy"},
    {"a LIBSVM file for SciPy, the response beside it",
     "roofs convert data.svm -o X.npz --save-y y.npy"},
    {"words weighed by tf-idf; new texts with the same weights",
     "roofs convert train.svm --tfidf --save-idf idf.txt -o train.npz && "
     "roofs convert test.svm --use-idf idf.txt -o test.npz"},
    {0},
};

/* ---- what a conversion needs ------------------------------------------- */

typedef struct conversion {
    const convert_args *args;
    operands files;
    source *source;
    double *y; /* of all samples, then of the chosen ones; NULL: there is none */
    int64_t n; /* samples of the files */
    int64_t *chosen;
    int64_t chosen_count; /* -1: all samples are */
    double *idf;
    int64_t idf_count;
    tfidf weights;
    sparse all, some; /* a block, and what was chosen of it */
    sink sink;
    int64_t features, entries; /* written */
    missing_count missing;
    progress bar;
} conversion;

static void conversion_free(conversion *c)
{
    source_close(c->source);
    memory_free(c->y);
    memory_free(c->chosen);
    memory_free(c->idf);
    tfidf_free(&c->weights);
    sparse_free(&c->all);
    sparse_free(&c->some);
    sink_abandon(&c->sink);
}

static int weighs(const convert_args *a)
{
    return a->tfidf || a->use_idf;
}

static roofs_status open_source(conversion *c, roofs_error *err)
{
    source_options options = inputs_options(&c->args->in, c->n, c->idf_count);
    source_close(c->source);
    c->source = NULL;
    return source_open(&c->source, c->files.values, c->files.count, &options, err);
}

/* ---- rows and responses ------------------------------------------------ */

static roofs_status check_row(const conversion *c, double number, unsigned char *taken,
                              roofs_error *err)
{
    if (!(number >= 0 && number < (double)c->n) || number != (double)(int64_t)number)
        return fail(err, ROOFS_BAD_DATA,
                    "%s: there is no sample %g; they are counted from 0 to %" PRId64, c->args->rows,
                    number, c->n - 1);
    if (taken[(int64_t)number]++)
        return fail(err, ROOFS_BAD_DATA, "%s: sample %g is listed twice", c->args->rows, number);
    return ROOFS_OK;
}

static roofs_status check_rows(conversion *c, const double *numbers, roofs_error *err)
{
    unsigned char *taken;
    TRY(memory_get(&taken, c->n, 1, "a choice of samples", err));
    roofs_status status = ROOFS_OK;
    for (int64_t k = 0; k < c->chosen_count && !status; k++)
        status = check_row(c, numbers[k], taken, err);
    memory_free(taken);
    return status;
}

static roofs_status read_rows(conversion *c, roofs_error *err)
{
    double *numbers;
    c->chosen_count = -1;
    if (!c->args->rows)
        return ROOFS_OK;
    TRY(response_read(c->args->rows, &numbers, &c->chosen_count, err));
    roofs_status status = check_rows(c, numbers, err);
    if (!status)
        status =
            memory_get(&c->chosen, c->chosen_count, sizeof *c->chosen, "a choice of samples", err);
    for (int64_t k = 0; k < c->chosen_count && !status; k++)
        c->chosen[k] = (int64_t)numbers[k];
    memory_free(numbers);
    return status;
}

/* The labels of the file, where there is no --y; then only those of the chosen samples. */
static roofs_status choose_responses(conversion *c, roofs_error *err)
{
    const double *labels = c->y ? c->y : source_labels(c->source);
    int64_t count = c->chosen ? c->chosen_count : c->n;
    double *kept;
    if (!labels)
        return ROOFS_OK;
    TRY(memory_get(&kept, count, sizeof *kept, "the response", err));
    for (int64_t i = 0; i < count; i++)
        kept[i] = labels[c->chosen ? c->chosen[i] : i];
    memory_free(c->y);
    c->y = kept;
    return ROOFS_OK;
}

static roofs_status write_numbers(const char *path, const double *numbers, int64_t count,
                                  roofs_error *err)
{
    output out;
    size_t length = strlen(path);
    TRY(output_open(&out, path, err));
    if (length > 4 && strcmp(path + length - 4, ".npy") == 0) {
        npy_write_header(out.file, "<f8", 1, &count);
        fwrite(numbers, sizeof *numbers, (size_t)count, out.file);
    } else {
        for (int64_t k = 0; k < count; k++)
            fprintf(out.file, "%.17g\n", numbers[k]);
    }
    return output_commit(&out, err);
}

/* What goes beside the features; the last thing but one, or it would outlive a failure. */
static roofs_status save_numbers(const conversion *c, roofs_error *err)
{
    const convert_args *a = c->args;
    if (a->save_y)
        TRY(write_numbers(a->save_y, c->y, c->chosen ? c->chosen_count : c->n, err));
    if (a->save_idf)
        TRY(write_numbers(a->save_idf, c->weights.idf, c->features, err));
    return ROOFS_OK;
}

/* ---- blocks ------------------------------------------------------------ */

/* What is missing has been mended by now, or it is wrong, as is infinity. */
static roofs_status check_values(const conversion *c, roofs_error *err)
{
    const sparse *s = &c->all;
    for (int64_t k = 0; k < s->count; k++)
        for (int64_t at = s->starts[k]; at < s->starts[k + 1]; at++)
            if (!isfinite(s->values[at])) {
                fail(err, ROOFS_BAD_DATA,
                     "feature %" PRId64 ", sample %" PRId64 " (counted from 0): %s",
                     c->features + k, s->samples[at],
                     isnan(s->values[at]) ? "the value is missing; fill it, or see --missing"
                                          : "the value is infinite");
                return blame(err, c->features + k, ROOFS_BAD_DATA);
            }
    return ROOFS_OK;
}

/* The next features with the chosen samples in *some; none = the end. */
static roofs_status next_features(conversion *c, const sparse **some, roofs_block *block,
                                  roofs_error *err)
{
    enum { TOGETHER = 100 };
    int64_t left = c->args->features ? c->args->features - c->features : TOGETHER;
    TRY(source_next(c->source, left < TOGETHER ? left : TOGETHER, block, err));
    if (interrupt_signal())
        return ROOFS_CANCELLED;
    sparse_clear(&c->all);
    TRY(sparse_append(&c->all, block, err));
    TRY(check_values(c, err));
    *some = &c->all;
    if (!c->chosen)
        return ROOFS_OK;
    sparse_clear(&c->some);
    TRY(sparse_choose_samples(&c->all, c->chosen, c->chosen_count, &c->some, err));
    *some = &c->some;
    return ROOFS_OK;
}

static roofs_status measure(conversion *c, roofs_error *err)
{
    const sparse *some;
    roofs_block block, view;
    for (;;) {
        TRY(next_features(c, &some, &block, err));
        if (block.count == 0)
            break;
        sparse_view(some, 0, some->count, &view);
        TRY(tfidf_measure(&c->weights, &view, err));
        c->features += block.count;
        progress_show(&c->bar, c->features, "");
    }
    if (c->idf && !c->args->features && c->features < c->idf_count)
        return fail(err, ROOFS_BAD_DATA,
                    "%s has weights of %" PRId64 " features, but the files have %" PRId64
                    "; they are matched by place",
                    c->args->use_idf, c->idf_count, c->features);
    tfidf_measured(&c->weights);
    c->features = 0;
    return open_source(c, err);
}

static roofs_status write_features(conversion *c, roofs_error *err)
{
    const sparse *some;
    roofs_block block, view;
    for (;;) {
        TRY(next_features(c, &some, &block, err));
        if (block.count == 0)
            return ROOFS_OK;
        sparse_view(some, 0, some->count, &view);
        if (weighs(c->args))
            tfidf_weigh(&c->weights, c->features, &view, some->values);
        TRY(sink_features(&c->sink, some, block.names, err));
        c->features += block.count;
        c->entries += sparse_entries(some);
        progress_show(&c->bar, c->features, "");
    }
}

/* ---- all of it --------------------------------------------------------- */

static roofs_status prepare(conversion *c, roofs_error *err)
{
    const convert_args *a = c->args;
    if (a->y)
        TRY(response_read(a->y, &c->y, &c->n, err));
    if (a->use_idf)
        TRY(response_read(a->use_idf, &c->idf, &c->idf_count, err));
    TRY(open_source(c, err));
    c->n = source_samples(c->source);
    TRY(read_rows(c, err));
    TRY(choose_responses(c, err));
    if (a->save_y && !c->y)
        return fail(err, ROOFS_BAD_DATA,
                    "--save-y: the files carry no response (a LIBSVM file, given alone, does)");
    return ROOFS_OK;
}

static roofs_status convert_all(conversion *c, roofs_error *err)
{
    const convert_args *a = c->args;
    TRY(prepare(c, err));
    int64_t samples = c->chosen ? c->chosen_count : c->n;
    if (weighs(a)) {
        TRY(tfidf_create(&c->weights, samples, c->idf, c->idf_count, err));
        TRY(measure(c, err));
    }
    TRY(sink_open(&c->sink, a->output, samples, c->y, err));
    TRY(write_features(c, err));
    c->missing = source_missing(c->source);
    TRY(save_numbers(c, err));
    return sink_commit(&c->sink, err);
}

static void tell(const conversion *c)
{
    int64_t samples = c->chosen ? c->chosen_count : c->n;
    if (c->args->quiet)
        return;
    fprintf(stderr, "%s: %s samples, %s features, %s values other than 0\n", c->args->output,
            text_of_count(samples).text, text_of_count(c->features).text,
            text_of_count(c->entries).text);
    if (!c->y && sink_has_labels(c->args->output))
        fprintf(stderr, "%s: no response is known (see --y): every label is 0\n", c->args->output);
    if (c->missing.values > 0)
        fprintf(stderr, "missing: %s values in %s features\n",
                text_of_count(c->missing.values).text, text_of_count(c->missing.features).text);
}

static int run(const convert_args *args, operands files)
{
    roofs_error err = {.feature = -1};
    conversion c = {.args = args, .files = files};
    const char *const written[] = {args->output, args->save_y, args->save_idf};
    for (int k = 0; k < 3; k++)
        if (written[k] && check_writable(written[k], &err) != ROOFS_OK) {
            complain("convert", "%s", err.text);
            return EXIT_FAILED;
        }
    progress_begin(&c.bar, "convert", 0, args->quiet);
    roofs_status status = convert_all(&c, &err);
    progress_end(&c.bar);
    int code = EXIT_FINE;
    if (status == ROOFS_OK) {
        tell(&c);
    } else if (interrupt_signal()) {
        code = interrupt_exit("convert", "; nothing was written");
    } else {
        inputs_complain("convert", c.source, &err);
        code = status == ROOFS_IO ? EXIT_FAILED : exit_after_input(status);
    }
    conversion_free(&c);
    return code;
}

static int check(const convert_args *a, const operands *files)
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
    if (!sink_knows(a->output))
        return usage_error("convert", "-o %s: the ending must be one of %s", a->output,
                           sink_endings());
    if (weighs(a) && inputs_have_stdin(files))
        return usage_error("convert", "tf-idf reads the data twice, which a pipe cannot; write it "
                                      "to a file first");
    if (a->save_idf && !a->tfidf)
        return usage_error("convert", "--save-idf needs --tfidf");
    if (a->y && !a->save_y && !sink_has_labels(a->output))
        return usage_error("convert",
                           "--y has no place in %s: write a .svm file, or the response "
                           "with --save-y",
                           a->output);
    if (a->tfidf && a->use_idf)
        return usage_error("convert", "--tfidf learns the weights, --use-idf takes them: give one");
    return OPTIONS_FINE;
}

static int convert_main(int argc, char **argv)
{
    convert_args args = {0};
    operands files;
    int code = options_parse(&convert_verb, &args, argc, argv, &files);
    if (code == OPTIONS_FINE)
        code = check(&args, &files);
    if (code != OPTIONS_FINE)
        return code;
    interrupt_watch();
    return run(&args, files);
}

const verb convert_verb = {
    .name = "convert",
    .summary = "write features in another format, weigh words, choose samples",
    .usage = "FILES... -o FILE [options]",
    .about = "Several files are one stream, as for fit. Formats: docs/formats.md. Feature names "
             "are kept where the format has a place for them (.csv .tsv .npz .triplets). Indices "
             "in .svm files are counted from 1, samples in .triplets from 0.",
    .examples = examples,
    .rows = rows,
    .main = convert_main,
};
