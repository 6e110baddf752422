#include "cli/inputs.h"

#include "cli/folder.h"
#include "cli/print.h"
#include "cli/process_comm.h"
#include "cli/verbs.h"
#include "stream/format.h"

#include <string.h>
#include <unistd.h>

static const char *orient_name(int64_t k)
{
    static const char *const words[] = {"auto", "features", "samples"};
    return k < 3 ? words[k] : NULL;
}

static const char *base_name(int64_t k)
{
    static const char *const words[] = {"auto", "0", "1"};
    return k < 3 ? words[k] : NULL;
}

static const char *missing_name(int64_t k)
{
    static const char *const words[] = {"error", "drop-feature", "median"};
    return k < 3 ? words[k] : NULL;
}

const char *input_format_name(int64_t k)
{
    return k == 0 ? "auto" : format_name(k - 1);
}

const option_row input_rows[] = {
    {CHOICE(input_args, orient, "orient", "WORD", orient_name), .standard = "auto",
     .help = "what a row of the files is: one of the features or one of the samples"},
    {CHOICE(input_args, format, "format", "WORD", input_format_name), .standard = "auto",
     .help = "what the files are; auto: told by name ending or content"},
    {TEXT(input_args, names, "names", "FILE"),
     .help = "names of all features, one per line, instead of those in the files"},
    {TEXT(input_args, dataset, "dataset", "NAME"),
     .help = "which dataset of HDF5 files; not needed where they have only one"},
    {CHOICE(input_args, base, "index-base", "N", base_name), .standard = "auto",
     .help = "the first index in sparse text; auto: 0 where a LIBSVM file has an index 0"},
    {CHOICE(input_args, missing, "missing", "WORD", missing_name), .standard = "error",
     .help = "what becomes of missing values"},
    {0},
};

source_options inputs_options(const input_args *a, int64_t n, int64_t features)
{
    return (source_options){.n = n,
                            .rank = process_comm()->rank,
                            .ranks = process_comm()->size,
                            .features = features,
                            .orient = (orientation)a->orient,
                            .base = (index_base)a->base,
                            .missing = (missing_policy)a->missing,
                            .format = a->format > 0 ? format_name(a->format - 1) : NULL,
                            .dataset = a->dataset,
                            .names_path = a->names};
}

int inputs_have_stdin(const operands *files)
{
    for (int64_t k = 0; k < files->count; k++)
        if (strcmp(files->values[k], "-") == 0)
            return 1;
    return 0;
}

int inputs_check(const char *who, const operands *files)
{
    if (files->count == 0)
        return usage_error(who, "no file with features is given (- is standard input)");
    if (inputs_have_stdin(files) && process_comm()->size > 1)
        return usage_error(who, "several ranks cannot share standard input; write it to a file "
                                "first");
    if (inputs_have_stdin(files) && isatty(STDIN_FILENO))
        return usage_error(who, "- reads standard input, but that is the keyboard: pipe a file in");
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
            return usage_error(who, "%s is read and would be overwritten by %s", w->path,
                               w->option);
        for (const file_use *other = written; w->path && other < w; other++)
            if (other->path &&
                (strcmp(w->path, other->path) == 0 || same_file(w->path, other->path)))
                return usage_error(who, "%s and %s both write to %s", other->option, w->option,
                                   strcmp(w->path, "-") == 0 ? "standard output" : w->path);
    }
    return OPTIONS_FINE;
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
    return roofs_model_read(out, strcmp(path, "-") == 0 ? "/dev/stdin" : path, err);
}
