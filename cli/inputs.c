#include "cli/inputs.h"

#include "cli/folder.h"
#include "cli/print.h"
#include "cli/verbs.h"
#include "stream/format.h"

#include <string.h>
#include <unistd.h>

const char *orient_name(int64_t k)
{
    static const char *const names[] = {"auto", "features", "samples"};
    return k < 3 ? names[k] : NULL;
}

const char *base_name(int64_t k)
{
    static const char *const names[] = {"auto", "0", "1"};
    return k < 3 ? names[k] : NULL;
}

const char *missing_name(int64_t k)
{
    static const char *const names[] = {"error", "drop-feature", "median"};
    return k < 3 ? names[k] : NULL;
}

const char *input_format_name(int64_t k)
{
    return k == 0 ? "auto" : format_name(k - 1);
}

source_options inputs_options(const input_args *a, int64_t n, int64_t features)
{
    return (source_options){.n = n,
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

int inputs_check(const char *who, const operands *files, const char *output)
{
    if (files->count == 0)
        return usage_error(who, "no file with features is given (- is standard input)");
    if (inputs_have_stdin(files) && isatty(STDIN_FILENO))
        return usage_error(who, "- reads standard input, but that is the keyboard: pipe a file in");
    for (int64_t k = 0; output && k < files->count; k++)
        if (same_file(output, files->values[k]))
            return usage_error(who, "%s is read and would be overwritten by -o", output);
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
