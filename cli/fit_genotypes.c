#include "cli/fit_genotypes.h"

#include "base/memory.h"
#include "cli/folder.h"
#include "cli/print.h"
#include "cli/verbs.h"

#include <string.h>

/* Files of PLINK 2 are refused when they are opened, with the command that converts them. */
static int has_pgen(const operands *files)
{
    for (int64_t k = 0; k < files->count; k++)
        if (path_ends_in(files->values[k], ".pgen"))
            return 1;
    return 0;
}

int fit_check_genotypes(const input_args *in, const operands *files, int *are_given)
{
    roofs_error err;
    char *bed = NULL;
    const roofs_status status = genotypes_find(files, &bed, &err);
    const char *option = genotypes_option(&in->genotypes);
    *are_given = status == ROOFS_OK && (bed || has_pgen(files));
    memory_free(bed);
    if (*are_given && in->names)
        return usage_error("fit", "--names does not apply to genotypes: the .bim file has names");
    if (status == ROOFS_OK && !*are_given && option)
        return usage_error("fit", "%s is for genotypes, but no .bed file is given", option);
    return OPTIONS_FINE;
}

static roofs_status open_people(fit_session *f, const char *bed, double **y, int64_t *n,
                                roofs_error *err)
{
    genotypes *g = &f->genotypes;
    TRY(genotypes_choose(g, bed, &f->in.genotypes, 1, err));
    if (g->people.response_names.count > 1)
        return fail(err, ROOFS_BAD_SETTING, "--pheno-name: give one phenotype");
    if (!f->out.quiet)
        genotypes_print_people("fit", g, &f->in.genotypes);
    *n = g->people.ids.words.count;
    TRY(fit_session_open(f, *n, &f->source, err));
    const int64_t own = source_own_samples(f->source);
    TRY(memory_get(y, own, sizeof **y, "the response", err));
    memcpy(*y, g->people.responses + source_first_sample(f->source), (size_t)own * sizeof **y);
    return ROOFS_OK;
}

roofs_status fit_open_genotypes(fit_session *f, const char *y_path, double **y, int64_t *n,
                                roofs_error *err)
{
    char *bed;
    TRY(genotypes_find(&f->files, &bed, err));
    f->in.genotypes.y = y_path;
    roofs_status status = bed ? open_people(f, bed, y, n, err) : ROOFS_OK;
    memory_free(bed);
    return status;
}

roofs_status fit_describe_genotypes(fit_session *f, json_t **out, roofs_error *err)
{
    source_options options = fit_session_options(f, roofs_samples(f->estimator));
    source *fitted = f->source;
    *out = NULL;
    if (!f->genotypes.are_given)
        return ROOFS_OK;
    options.expected = (source_expectation){0};
    options.names_path = NULL;
    f->source = NULL;
    roofs_status status = f->checkpoint.path ? fit_session_reopen(f, 0, &options, err)
                                             : source_open(&f->source, f->files.values,
                                                           f->files.count, &options, err);
    if (status == ROOFS_OK)
        status = genotypes_to_json(&f->genotypes, f->model, f->source, out, err);
    source_close(f->source);
    f->source = fitted;
    return status;
}
