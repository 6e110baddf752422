#include "cli/inputs.h"

#include "cli/folder.h"
#include "cli/interrupt.h"
#include "cli/print.h"
#include "cli/process_comm.h"
#include "cli/verbs.h"
#include "stream/format.h"

#include <string.h>
#include <unistd.h>

const char *input_format_name(int64_t k)
{
    return k == 0 ? "auto" : format_name(k - 1);
}

const option_row input_rows[] = {
    {WORDS(input_args, orient, "orient", "WORD", "auto", "features", "samples"), .standard = "auto",
     .help = "what a row of the files holds: one of the features, or one of the samples"},
    {CHOICE(input_args, format, "format", "WORD", input_format_name), .standard = "auto",
     .help = "format of the files; auto: from the name or the content"},
    {TEXT(input_args, names, "names", "FILE"),
     .help = "names of all features, one per line; they replace those in the files"},
    {TEXT(input_args, dataset, "dataset", "NAME"),
     .help = "dataset of HDF5 files; needed if a file has several"},
    {WORDS(input_args, header, "header", "WORD", "auto", "yes", "no"), .standard = "auto",
     .help = "whether text tables have names: in the first row, or with --orient features at the "
             "start of every row"},
    {FLAG(input_args, external, "external"),
     .help = "let HDF5 files take their values from other files"},
    {COUNT(input_args, expected.features, "expect-features", 1, 9e18),
     .help = "refuse files that have not exactly N features"},
    {COUNT(input_args, expected.samples, "expect-samples", 1, INT32_MAX - 1),
     .help = "refuse files that have not exactly N samples"},
    {COUNT(input_args, expected.values, "expect-values", 1, 9e18),
     .help = "refuse triplets that have not exactly N lines of values"},
    {WORDS(input_args, base, "index-base", "N", "auto", "0", "1"), .standard = "auto",
     .help = "the first index in sparse text; auto: 0 if a LIBSVM file has an index 0"},
    {WORDS(input_args, missing, "missing", "WORD", "error", "drop-feature", "median", "mean",
           "indicator"),
     .standard = "error", .help = "how to treat missing values"},
    {0},
};

source_options inputs_options(const input_args *a, int64_t n, int64_t features)
{
    return (source_options){.n = n > 0 ? n : a->expected.samples,
                            .n_owner = n > 0 ? NULL : "--expect-samples",
                            .header = (header_choice)a->header,
                            .external = a->external,
                            .expected = a->expected,
                            .is_stopped = interrupt_signal,
                            .rank = process_comm()->rank,
                            .ranks = process_comm()->size,
                            .features = features,
                            .orient = (orientation)a->orient,
                            .base = (index_base)a->base,
                            .missing = (missing_policy)a->missing,
                            .table = a->reads_tables ? &a->table : NULL,
                            .format = a->format > 0 ? format_name(a->format - 1) : NULL,
                            .dataset = a->dataset,
                            .names_path = a->names,
                            .genotypes = a->reads_genotypes ? &a->genotypes : NULL};
}

int inputs_have_stdin(const operands *files)
{
    for (int64_t k = 0; k < files->count; k++)
        if (path_is_standard(files->values[k]))
            return 1;
    return 0;
}

int inputs_check(const char *who, const operands *files)
{
    if (files->count == 0)
        return usage_error(who, "give at least one file with features (- is standard input)");
    if (inputs_have_stdin(files) && process_comm()->size > 1)
        return usage_error(who, "several ranks cannot share standard input; write the features to "
                                "a file first");
    if (inputs_have_stdin(files) && isatty(STDIN_FILENO))
        return usage_error(who, "- reads standard input, which is the keyboard; pipe a file into "
                                "it");
    return OPTIONS_FINE;
}

static int is_read(const char *path, const operands *files, const file_use *read)
{
    for (int64_t k = 0; k < files->count; k++)
        if (same_file(path, files->values[k]))
            return 1;
    for (; read->option; read++)
        if (read->path && same_file(path, read->path))
            return 1;
    return 0;
}

int inputs_check_written(const char *who, const operands *files, const file_use *read,
                         const file_use *written)
{
    for (const file_use *w = written; w->option; w++) {
        if (w->path && is_read(w->path, files, read))
            return usage_error(who,
                               "%s is an input and would be overwritten by %s; choose "
                               "another name",
                               w->path, w->option);
        for (const file_use *other = written; w->path && other < w; other++)
            if (other->path &&
                (strcmp(w->path, other->path) == 0 || same_file(w->path, other->path)))
                return usage_error(who, "%s and %s both write to %s; choose another name for one",
                                   other->option, w->option,
                                   path_is_standard(w->path) ? "standard output" : w->path);
    }
    return OPTIONS_FINE;
}

void inputs_print_listed(const source *s, int64_t features)
{
    const source_listed listed = source_listed_so_far(s);
    if (!source_is_by_name(s) || process_comm()->rank > 0)
        return;
    fprintf(stderr,
            "triplets: %s values of %s features; the last sample with a value is %s of %s\n",
            text_of_count(listed.values).text, text_of_count(features).text,
            text_of_count(listed.samples).text, text_of_count(source_samples(s)).text);
}

void inputs_complain(const char *who, const source *s, const roofs_error *err)
{
    const char *file = s && err->feature >= 0 ? source_file_of(s, err->feature) : NULL;
    if (file)
        complain(who, "%s: %s", file, err->text);
    else
        complain(who, "%s", err->text);
}

roofs_status inputs_read_model(roofs_model **out, const char *path, roofs_error *err)
{
    return roofs_model_read(out, path_is_standard(path) ? "/dev/stdin" : path, err);
}
