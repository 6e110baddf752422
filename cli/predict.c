/* roofs predict: predictions from a model and files of features. */
#include "base/memory.h"
#include "base/output.h"
#include "cli/folder.h"
#include "cli/given_numbers.h"
#include "cli/inputs.h"
#include "cli/interrupt.h"
#include "cli/loco.h"
#include "cli/lookup.h"
#include "cli/predict_genotypes.h"
#include "cli/print.h"
#include "cli/process_comm.h"
#include "cli/same_files.h"
#include "cli/tables.h"
#include "cli/verbs.h"
#include "stream/npy.h"

#include <math.h>
#include <string.h>

typedef struct predict_args {
    const char *output;
    int64_t samples;
    double level;   /* of the intervals; 0 = none */
    int64_t method; /* of the intervals: METHOD_... */
    int loco;       /* write predictions without each chromosome */
    const char *offset;
    input_args in;
} predict_args;

enum { METHOD_MODEL, METHOD_CV };

static const option_row predict_rows[] = {
    {OUTPUT(predict_args, output, "FILE"), .standard = "-",
     .help = "file for the predictions: text, one per line, for .csv, .txt and - (standard "
             "output); a .npy array otherwise"},
    {COUNT(predict_args, samples, "samples", 1, INT32_MAX - 1),
     .help = "number of samples; needed for triplets whose last samples have no values"},
    {REAL(predict_args, level, "interval", "LEVEL", 0.01, 0.9999),
     .help = "add the ends of an interval that holds a new, clean response with this probability"},
    {WORDS(predict_args, method, "interval-method", "METHOD", "model", "cv"), .standard = "model",
     .help = "model: wider where coefficients are uncertain; cv: the same width everywhere, by "
             "cross-validation; needs a model of 'roofs fit --intervals cv'"},
    {FLAG(predict_args, loco, "loco"),
     .help = "write a table for association tests: a row for each chromosome, with the predictions "
             "from the variants of all others; needs genotypes"},
    {TEXT(predict_args, offset, "offset", "NAME"),
     .help = "the offset of a model that was fitted with one: a column, a file or FILE:COLUMN; by "
             "default the column of the fit"},
    {GROUP(predict_args, in, input_rows)},
    {GROUP(predict_args, in.genotypes, covariate_rows)},
    {GROUP(predict_args, in.genotypes, genotype_file_rows)},
    {0},
};

static const example predict_examples[] = {
    {"write the predictions to an array", "roofs predict model.json X.npy -o yhat.npy"},
    {"add columns with the ends of 90% intervals",
     "roofs predict model.json X.npy --interval 0.9 -o yhat.csv"},
    {"write the predictions that REGENIE-style tools read, without each chromosome",
     "roofs predict model.json genotypes.bed --loco -o height.loco"},
    {"print the first predictions", "roofs predict model.json new-*.csv | head"},
    {0},
};

/* ---- reading ----------------------------------------------------------- */

typedef struct prediction {
    const predict_args *args;
    const char *model_path;
    operands files;
    const roofs_model *fitted;
    roofs_result model;
    interval interval; /* for METHOD_MODEL */
    double half;       /* of the width, for METHOD_CV */
    recipe recipe;     /* of the columns of tables */
    table_options table;
    int uses_recipe;
    predict_genotypes genotypes;
    loco loco;
    given_numbers offset;
    source *source;
    lookup sums;
} prediction;

static roofs_status open_features(prediction *p, roofs_error *err)
{
    source_options options = inputs_options(&p->args->in, p->args->samples, p->model.features_seen);
    if (p->args->samples > 0)
        options.n_owner = "--samples";
    const int32_t base = roofs_model_index_base(p->fitted);
    if (options.base == INDEX_AUTO && base >= 0)
        options.base = base ? INDEX_FROM_1 : INDEX_FROM_0;
    if (p->uses_recipe)
        options.table = &p->table;
    predict_genotypes_to_source(&p->genotypes, &options);
    if (p->recipe.fills)
        options.missing = MISSING_KEEP;
    else if (p->recipe.missing > MISSING_DROP)
        options.missing = p->recipe.missing;
    return source_open(&p->source, p->files.values, p->files.count, &options, err);
}

/* The offset of the option, or the column of the fit. */
static roofs_status prepare_offset(prediction *p, roofs_error *err)
{
    const char *name = roofs_model_offset(p->fitted), *given = p->args->offset;
    if (!name && given)
        return fail(err, ROOFS_BAD_SETTING,
                    "the model was fitted without an offset; leave --offset out");
    if (name && !given && !*name)
        return fail(err, ROOFS_BAD_SETTING,
                    "the model was fitted with an offset: give that of the new samples with "
                    "--offset FILE, or as a column");
    return given_numbers_parse(&p->offset, SPECIAL_OFFSET, given ? given : name, &p->table, err);
}

/* What is added to the predictions; NULL if the model has no offset. */
static roofs_status read_offset(prediction *p, double **offset, roofs_error *err)
{
    const levels *ids = source_ids(p->source);
    const input_args in = {.header = p->args->in.header, .table = p->table};
    const given_stream s = {.source = p->source,
                            .in = &in,
                            .ids = ids->words.count > 0 ? (levels *)ids : NULL,
                            .n = source_samples(p->source)};
    const char *name = p->offset.at.column;
    if (!p->offset.at.path && name && !source_special(p->source, SPECIAL_OFFSET) &&
        !p->args->offset)
        return fail(err, ROOFS_BAD_DATA,
                    "the model was fitted with the offset \"%.80s\", but the files have no such "
                    "column; add it, or give the offset with --offset FILE or --offset COLUMN",
                    name);
    return given_numbers_take(&p->offset, &s, offset, err);
}

/* Tables are read by the recipe of the model. Without one, its features are columns of numbers, and
 * other columns may hold anything; --names gives columns other names. */
static roofs_status prepare_tables(prediction *p, roofs_error *err)
{
    TRY(tables_from_model(p->fitted, &p->recipe, err));
    p->uses_recipe = (p->recipe.count > 0 || roofs_model_offset(p->fitted)) && !p->args->in.names;
    p->table = (table_options){.fitted = &p->recipe,
                               .id = p->recipe.id,
                               .thousands = p->recipe.thousands,
                               .decimal_comma = p->recipe.decimal_comma};
    if (p->recipe.id && strcmp(p->recipe.id, "FID IID") == 0)
        p->table.id = NULL; /* of genotypes, not a column of a table */
    TRY(prepare_offset(p, err));
    const int64_t asked = p->args->in.missing;
    if (!p->recipe.is_given || asked == MISSING_ERROR || asked == p->recipe.missing)
        return ROOFS_OK;
    return fail(err, ROOFS_BAD_SETTING,
                "--missing is part of the model (%s), with the statistics of the fit; leave it out",
                missing_policy_name(p->recipe.missing));
}

/* Triplets without names cannot be matched by position: they do not list features that are zero. */
static roofs_status prediction_check_names(const prediction *p, roofs_error *err)
{
    if (!source_is_by_name(p->source) || p->sums.named || p->args->in.names)
        return ROOFS_OK;
    return fail(err, ROOFS_BAD_DATA,
                "triplets identify features by name, but the features of the model have no names; "
                "fit with --names, or give the features in another format");
}

/* A model with names, but files without: a header may have been lost. */
static void warn_if_by_position(const prediction *p)
{
    if (p->sums.named && p->model.selected > 0 && !source_kind_of(p->source).named &&
        process_comm()->rank == 0)
        complain("predict",
                 "warning: the features of the model have names, but %s has none: features are "
                 "taken in the order of the fit",
                 source_file_at(p->source, 0));
}

/* Reads only the selected features if it can. A pipe is read completely: it cannot be reopened. */
static roofs_status sum_features(prediction *p, double **offset, roofs_error *err)
{
    int done = 0;
    TRY(open_features(p, err));
    TRY(source_check_sizes(p->source, 0, err));
    TRY(source_check_fitted(p->source, err));
    TRY(read_offset(p, offset, err));
    const int has_variance = p->args->level > 0 && p->args->method == METHOD_MODEL;
    TRY(lookup_create(&p->sums, &p->model, has_variance ? &p->interval : NULL,
                      source_own_samples(p->source), err));
    TRY(prediction_check_names(p, err));
    warn_if_by_position(p);
    p->sums.fills = p->recipe.fills;
    p->sums.absent_value = p->genotypes.absent_value;
    p->sums.part = p->loco.chromosome;
    p->sums.parts = p->loco.chromosomes.count;
    p->sums.absent_is_zero = source_is_by_name(p->source);
    const int by_column = p->uses_recipe && source_has_column(p->source, NULL);
    if (!by_column && !p->genotypes.absent_value && !inputs_have_stdin(&p->files)) {
        TRY(lookup_in_place(&p->sums, p->source, &done, err));
        if (done)
            return source_finish(p->source, err);
        source_close(p->source);
        p->source = NULL;
        TRY(open_features(p, err));
    }
    TRY(lookup_scan(&p->sums, p->source, err));
    return source_finish(p->source, err);
}

static roofs_status check_predictions(const prediction *p, roofs_error *err)
{
    for (int64_t i = 0; i < p->sums.n; i++)
        if (!isfinite(p->sums.sum[i]))
            return fail(err, ROOFS_BAD_DATA,
                        "the prediction of sample %lld (counted from 0) is beyond the largest "
                        "number; use another unit for the features or the response",
                        (long long)(source_first_sample(p->source) + i));
    return ROOFS_OK;
}

static roofs_status make_predictions(prediction *p, roofs_error *err)
{
    double *offset = NULL;
    TRY(prepare_tables(p, err));
    TRY(predict_genotypes_begin(&p->genotypes, p->fitted, &p->files, &p->args->in.genotypes, err));
    if (p->args->loco)
        TRY(loco_begin(&p->loco, &p->model, &p->genotypes.variants, err));
    roofs_status status = sum_features(p, &offset, err);
    for (int64_t i = 0; offset && status == ROOFS_OK && i < p->sums.n; i++)
        p->sums.sum[i] += offset[i];
    memory_free(offset);
    return status == ROOFS_OK ? check_predictions(p, err) : status;
}

/* ---- writing ----------------------------------------------------------- */

static int is_text_path(const char *path)
{
    return path_is_standard(path) || path_ends_in(path, ".csv") || path_ends_in(path, ".txt");
}

enum { COLUMNS_MOST = 3 }; /* prediction, low, high */

static int64_t columns_of(const prediction *p)
{
    return p->args->level > 0 ? COLUMNS_MOST : 1;
}

/* The IDs of the samples, if the model and the tables have them and the output is text. */
static const levels *ids_of(const prediction *p)
{
    const levels *ids = source_ids(p->source);
    return is_text_path(p->args->output) && ids->words.count == source_samples(p->source) ? ids
                                                                                          : NULL;
}

/* A field of a text table, in quotes where it needs them. */
static void write_field(FILE *file, const char *text)
{
    const int quoted = strpbrk(text, ",\"\r\n") != NULL;
    if (quoted)
        putc('"', file);
    for (; *text; text++) {
        if (*text == '"')
            putc('"', file);
        putc(*text, file);
    }
    if (quoted)
        putc('"', file);
}

/* The ID of a person is two fields: "FID IID". */
static void write_id(const prediction *p, FILE *file, const char *id)
{
    const char *space = strchr(id, ' ');
    if (!p->genotypes.genotypes.are_given || !space) {
        write_field(file, id);
        return;
    }
    char fid[512];
    snprintf(fid, sizeof fid, "%.*s", (int)(space - id), id);
    write_field(file, fid);
    putc(',', file);
    write_field(file, space + 1);
}

/* `first`: the number of the first sample. */
static void write_values(const prediction *p, FILE *file, int64_t first, const double *values,
                         int64_t samples)
{
    const int64_t columns = columns_of(p);
    const levels *ids = ids_of(p);
    if (!is_text_path(p->args->output)) {
        fwrite(values, sizeof *values, (size_t)(samples * columns), file);
        return;
    }
    for (int64_t i = 0; i < samples * columns; i++) {
        if (ids && i % columns == 0) {
            write_id(p, file, names_get(&ids->words, first + i / columns));
            putc(',', file);
        }
        fprintf(file, "%.17g%c", values[i], (i + 1) % columns == 0 ? '\n' : ',');
    }
}

/* The columns of `samples` samples of this rank from `at` on. */
static void fill_values(const prediction *p, int64_t at, int64_t samples, double *values)
{
    const int64_t columns = columns_of(p);
    for (int64_t i = 0; i < samples; i++, values += columns) {
        *values = p->sums.sum[at + i];
        if (columns > 1 && p->args->method == METHOD_CV) {
            values[1] = *values - p->half;
            values[2] = *values + p->half;
        } else if (columns > 1)
            interval_ends(&p->interval, *values, p->sums.variance[at + i], &values[1], &values[2]);
    }
}

/* Rank 0 writes the predictions of each rank, in blocks. */
static roofs_status write_shards(const prediction *p, comm *c, FILE *file, roofs_error *err)
{
    enum { BLOCK = 1 << 12 };
    double own[BLOCK * COLUMNS_MOST], values[BLOCK * COLUMNS_MOST];
    const int64_t row = columns_of(p) * (int64_t)sizeof *values;
    for (int64_t rank = 0, first = 0; rank < c->with.size; first += comm_shard(c, rank++))
        for (int64_t at = 0, end = comm_shard(c, rank); at < end; at += BLOCK) {
            int64_t count = end - at < BLOCK ? end - at : BLOCK;
            if (rank == c->with.rank)
                fill_values(p, at, count, own);
            comm_take_from(c, rank, rank == c->with.rank ? own : NULL, count * row, values);
            if (file)
                write_values(p, file, first + at, values, count);
        }
    return comm_status(c, err);
}

static void write_head(const prediction *p, FILE *file, int64_t samples)
{
    const int64_t shape[] = {samples, COLUMNS_MOST};
    const int has_ends = columns_of(p) > 1;
    if (!is_text_path(p->args->output))
        npy_write_header(file, "<f8", has_ends ? 2 : 1, shape);
    if (is_text_path(p->args->output) && ids_of(p)) {
        write_id(p, file, p->genotypes.genotypes.are_given ? "FID IID" : p->recipe.id);
        fputs(has_ends ? "," : ",prediction\n", file);
    }
    if (is_text_path(p->args->output) && has_ends)
        fputs("prediction,low,high\n", file);
}

static roofs_status write_loco(const prediction *p, roofs_error *err)
{
    output out = {0};
    TRY(output_open(&out, p->args->output, err));
    loco_write(&p->loco, out.file, &p->genotypes.genotypes.people.ids.words, p->sums.n,
               p->sums.without);
    roofs_status status = interrupt_check(err);
    if (status != ROOFS_OK)
        output_abandon(&out);
    TRY(status);
    return output_commit(&out, err);
}

static roofs_status write_predictions(const prediction *p, comm *c, roofs_error *err)
{
    output out = {0};
    const int is_root = comm_is_root(c);
    if (p->args->loco)
        return write_loco(p, err);
    TRY(comm_agree(c, is_root ? output_open(&out, p->args->output, err) : ROOFS_OK, err));
    if (is_root)
        write_head(p, out.file, c->total);
    roofs_status status = write_shards(p, c, out.file, err);
    if (status == ROOFS_OK)
        status = comm_agree(c, interrupt_check(err), err);
    if (status != ROOFS_OK)
        output_abandon(&out);
    TRY(status);
    return comm_agree(c, is_root ? output_commit(&out, err) : ROOFS_OK, err);
}

/* All ranks must have the same model and files. */
static roofs_status same_prediction(const prediction *p, comm *c, roofs_error *err)
{
    const char *others[] = {p->model_path, p->args->in.names, NULL};
    const comm_point samples = {.call = "the samples of the files",
                                .count = source_samples(p->source)};
    TRY(comm_agree_at(c, samples, ROOFS_OK, err));
    return same_files(c, p->source, others, err);
}

/* ---- the verb ---------------------------------------------------------- */

static int finish_prediction(prediction *p, roofs_status status, roofs_error *err)
{
    int code = EXIT_FINE;
    comm ranks = {0};
    status = comm_join(&ranks, process_comm(), status == ROOFS_OK ? p->sums.n : 1, status, err);
    if (status != ROOFS_OK && interrupt_signal()) {
        code = interrupt_exit("predict", "; nothing was written");
    } else if (status != ROOFS_OK) {
        inputs_complain("predict", p->source, err);
        code = exit_after_input(status);
    } else if (same_prediction(p, &ranks, err) != ROOFS_OK) {
        code = exit_with("predict", err, EXIT_DATA);
    } else if (write_predictions(p, &ranks, err) != ROOFS_OK) {
        code = interrupt_signal() ? interrupt_exit("predict", "; nothing was written")
                                  : exit_with("predict", err, EXIT_FAILED);
    } else {
        tables_print_notes("predict", p->source, 0);
        inputs_print_listed(p->source, source_position(p->source));
        if (comm_is_root(&ranks)) {
            genotypes_print_people("predict", &p->genotypes.genotypes, &p->genotypes.options);
            predict_genotypes_print(&p->genotypes, &p->model);
        }
        if (p->sums.absent > 0 && !p->genotypes.absent_value && comm_is_root(&ranks))
            complain("predict",
                     "%s of the %s features of the model are not in the files and count as 0",
                     text_of_count(p->sums.absent).text, text_of_count(p->model.selected).text);
    }
    comm_leave(&ranks);
    lookup_destroy(&p->sums);
    source_close(p->source);
    recipe_free(&p->recipe);
    predict_genotypes_free(&p->genotypes);
    loco_free(&p->loco);
    given_numbers_free(&p->offset);
    return code;
}

/* The half width at the next level that the model has. */
static roofs_status find_half_width(prediction *p, const char *path, roofs_error *err)
{
    const double rounding = 1e-9;
    const int64_t have = p->model.half_widths;
    const int64_t k = (int64_t)ceil(p->args->level * ROOFS_HALF_WIDTH_STEPS - rounding) - 1;
    if (have == 0)
        return fail(err, ROOFS_BAD_DATA,
                    "%s: the model has no intervals by cross-validation; fit it with --intervals "
                    "cv",
                    path);
    if (k >= have)
        return fail(err, ROOFS_BAD_DATA,
                    "%s: the model has intervals by cross-validation up to level %.3g, not %.15g",
                    path, (double)have / ROOFS_HALF_WIDTH_STEPS, p->args->level);
    p->half = p->model.half_width[k];
    return ROOFS_OK;
}

static roofs_status begin_interval(prediction *p, const char *path, roofs_error *err)
{
    if (p->args->level == 0)
        return ROOFS_OK;
    if (p->args->method == METHOD_CV)
        return find_half_width(p, path, err);
    return interval_begin(&p->interval, &p->model, p->args->level, path, err);
}

/* What a rank does before it reads features. Returns OPTIONS_FINE, or the exit code. */
static int prepare_prediction(const predict_args *args, const char *model_path, roofs_model **model)
{
    roofs_error err = {0};
    if (process_comm()->rank == 0 && check_writable(args->output, &err) != ROOFS_OK)
        return exit_with("predict", &err, EXIT_FAILED);
    roofs_status status = inputs_read_model(model, model_path, &err);
    return status == ROOFS_OK ? OPTIONS_FINE : exit_with("predict", &err, exit_after_input(status));
}

static int predict_files(const predict_args *args, const char *model_path, operands files)
{
    roofs_error err = {.feature = -1};
    roofs_model *model = NULL;
    int code = process_agree(prepare_prediction(args, model_path, &model));
    if (code != OPTIONS_FINE) {
        roofs_model_destroy(model);
        return code;
    }
    prediction p = {.args = args, .model_path = model_path, .files = files, .fitted = model};
    roofs_model_view(model, &p.model);
    p.sums.model = &p.model;
    roofs_status status = begin_interval(&p, model_path, &err);
    code = status == ROOFS_OK ? finish_prediction(&p, make_predictions(&p, &err), &err)
                              : exit_with("predict", &err, EXIT_DATA);
    roofs_model_destroy(model);
    return code;
}

static int check_predict(const predict_args *args, const operands *rest)
{
    if (rest->count == 0)
        return usage_error("predict", "give a model and files with features");
    if (args->in.missing == MISSING_DROP)
        return usage_error("predict", "predictions need every selected feature; use --missing "
                                      "median instead of drop-feature");
    if (args->loco && process_comm()->size > 1)
        return usage_error("predict", "--loco needs all samples in one process");
    if (args->loco && args->level > 0)
        return usage_error("predict", "--loco writes no intervals; leave --interval out");
    const operands files = {rest->values + 1, rest->count - 1};
    const file_use written[] = {{"-o", args->output}, {0}};
    const file_use read[] = {
        {"MODEL", rest->values[0]}, {"--names", args->in.names}, {"--offset", args->offset}, {0}};
    int code = inputs_check("predict", &files);
    if (code == OPTIONS_FINE)
        code = inputs_check_written("predict", &files, read, written);
    if (code != OPTIONS_FINE)
        return code;
    if (path_is_standard(rest->values[0]) && inputs_have_stdin(&files))
        return usage_error("predict", "the model and the features cannot both come from standard "
                                      "input; give one of them in a file");
    return OPTIONS_FINE;
}

static int predict_main(int argc, char **argv)
{
    predict_args args = {0};
    operands rest;
    int code = options_parse(&predict_verb, &args, argc, argv, &rest);
    if (code == OPTIONS_FINE)
        code = check_predict(&args, &rest);
    code = process_agree(code);
    if (code != OPTIONS_FINE)
        return code;
    const operands files = {rest.values + 1, rest.count - 1};
    interrupt_install();
    return predict_files(&args, rest.values[0], files);
}

const verb predict_verb = {
    .name = "predict",
    .summary = "predict the response of samples from a model and features",
    .usage = "model.json FILES... [-o yhat.npy] [--interval LEVEL] [options]",
    .about =
        "Features are matched by name if the model and the files have names, and by position "
        "in the stream otherwise. With names the files may have any order: the predictions "
        "are the same to the bit. If the features have the positions of the fit, only the "
        "selected ones are read. Otherwise, and from a pipe, all are read, and selected "
        "features that arrive early are held in memory.\n\n"
        "Columns of tables are found by name and read as in the fit; other columns may hold "
        "anything. Words that the fit did not have are counted and reported. After a fit with "
        "--id, text begins with the ID.\n\n"
        "Variants of genotypes (.bed) are found by ID, or by chromosome and position, and by their "
        "alleles: where A1 and A2 are exchanged, the other one is counted. Variants that are not "
        "in "
        "the files count as their mean in the fit. Text begins with FID and IID.\n\n"
        "Missing values are replaced as in the fit, with its statistics.\n\n"
        "A model that was fitted with --offset needs the offset of the new samples, and adds it: a "
        "column of the same name, or --offset.\n\n"
        "Indices in LIBSVM files begin with 0 or 1 as in the fit, unless --index-base is "
        "given. In triplets, values that are not listed are 0; so are features of the model "
        "that do not occur. Without --samples, the largest sample number is the last.\n\n"
        "--interval 0.9 adds the columns low and high: a new, clean response is between them "
        "with a probability of 90%. Text then has a header, and an array has three columns. "
        "The model must be of method roofs-bayes. Measured coverage is in docs/uncertainty.md.",
    .examples = predict_examples,
    .rows = predict_rows,
    .main = predict_main,
};
