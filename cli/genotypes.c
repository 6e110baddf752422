#include "cli/genotypes.h"

#include "base/digest.h"
#include "base/memory.h"
#include "cli/folder.h"
#include "cli/print.h"
#include "cli/process_comm.h"
#include "stream/folder.h"
#include "stream/response.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

const option_row genotype_file_rows[] = {
    {TEXT(genotype_options, bim, "bim", "FILE"),
     .help = "variants of the .bed file; otherwise the .bim file beside it"},
    {TEXT(genotype_options, fam, "fam", "FILE"),
     .help = "people of the .bed files; otherwise the .fam file beside each"},
    {TEXT(genotype_options, keep, "keep", "FILE"),
     .help = "use only these people of .bed files: lines of FID and IID, or of IID"},
    {TEXT(genotype_options, remove, "remove", "FILE"),
     .help = "leave these people of .bed files out: lines of FID and IID, or of IID"},
    {0},
};

const option_row variant_rows[] = {
    {TEXT(genotype_options, chromosomes, "chr", "LIST"),
     .help = "use only the variants of these chromosomes, such as 1-22,X"},
    {REAL(genotype_options, least_maf, "maf", "X", 0, 0.5), .standard = "0",
     .help = "leave variants out whose rarer allele has a frequency below X"},
    {REAL(genotype_options, most_missing, "geno", "X", 0, 1), .standard = "1",
     .help = "leave variants out that are missing for a larger share of the people than X"},
    {0},
};

const option_row phenotype_rows[] = {
    {TEXT(genotype_options, pheno, "pheno", "FILE"),
     .help = "the phenotypes of people in .bed files: FID, IID and columns of numbers; otherwise "
             "column 6 of the .fam file"},
    {TEXT(genotype_options, pheno_name, "pheno-name", "COLUMN"),
     .help = "the column of --pheno, or several: A,B; in a file without a header 1, 2, ..."},
    {TEXT(genotype_options, missing_code, "missing-code", "N"), .standard = "-9",
     .help = "the number that means a missing phenotype, besides NA; none: no number does"},
    {0},
};

const option_row covariate_rows[] = {
    {TEXT(genotype_options, covar, "covar", "FILE"),
     .help = "covariates of people in .bed files: FID, IID and columns of numbers; they are the "
             "first features"},
    {TEXT(genotype_options, covar_name, "covar-name", "NAMES"),
     .help = "the columns of --covar, separated by commas; otherwise all"},
    {0},
};

/* ---- who --------------------------------------------------------------- */

roofs_status genotypes_find(const operands *files, char **bed, roofs_error *err)
{
    roofs_status status = ROOFS_OK;
    *bed = NULL;
    for (int64_t k = 0; k < files->count && !*bed && status == ROOFS_OK; k++) {
        names paths = {0};
        status = folder_expand(files->values[k], &paths, err);
        for (int64_t j = 0; j < paths.count && !*bed && status == ROOFS_OK; j++)
            if (path_is_bed(names_get(&paths, j)))
                status = memory_copy_text(bed, names_get(&paths, j), err);
        names_free(&paths);
    }
    return status;
}

const char *genotypes_option(const genotype_options *o)
{
    return o->pheno         ? "--pheno"
           : o->pheno_name  ? "--pheno-name"
           : o->covar       ? "--covar"
           : o->covar_name  ? "--covar-name"
           : o->keep        ? "--keep"
           : o->remove      ? "--remove"
           : o->chromosomes ? "--chr"
           : o->bim         ? "--bim"
           : o->fam         ? "--fam"
                            : NULL;
}

void genotypes_free(genotypes *g)
{
    people_free(&g->people);
    *g = (genotypes){0};
}

static roofs_status check_options(const genotype_options *o, roofs_error *err)
{
    if (o->y && o->pheno)
        return fail(err, ROOFS_BAD_SETTING,
                    "--y and --pheno both give the response; leave one of them out");
    if (o->pheno_name && !o->pheno)
        return fail(err, ROOFS_BAD_SETTING,
                    "--pheno-name names a column of a file; give the file with --pheno");
    if (o->covar_name && !o->covar)
        return fail(err, ROOFS_BAD_SETTING,
                    "--covar-name names columns of a file; give the file with --covar");
    return ROOFS_OK;
}

roofs_status genotypes_choose(genotypes *g, const char *bed, const genotype_options *o,
                              int has_responses, roofs_error *err)
{
    double *given = NULL;
    people_request request = {.has_responses = has_responses};
    *g = (genotypes){.are_given = 1};
    TRY(check_options(o, err));
    if (has_responses && o->y)
        TRY(response_read(o->y, &given, &request.given_count, err));
    request.given = given;
    roofs_status status = people_choose(&g->people, bed, o, &request, err);
    memory_free(given);
    TRY(status);
    g->lead = (source_lead){.count = g->people.covariate_names.count,
                            .values = g->people.covariates,
                            .names = &g->people.covariate_names};
    return ROOFS_OK;
}

uint64_t genotypes_digest(const genotypes *g)
{
    const people *p = &g->people;
    const int64_t values = p->covariate_names.count * p->ids.words.count;
    const uint64_t ids = digest_of(p->ids.words.text, p->ids.words.used, 0);
    const uint64_t all = digest_of(p->covariates, values * (int64_t)sizeof *p->covariates, ids);
    return all ? all : 1;
}

void genotypes_to_source(const genotypes *g, source_options *options)
{
    if (!g->are_given)
        return;
    options->ids = (levels *)&g->people.ids; /* readers only find people in it */
    options->lead = g->lead.count > 0 ? &g->lead : NULL;
}

/* ---- messages ---------------------------------------------------------- */

static void print_count(int64_t count, const char *what, int *any)
{
    if (count == 0)
        return;
    fprintf(stderr, "%s%s %s", *any ? ", " : "", text_of_count(count).text, what);
    *any = 1;
}

void genotypes_print_people(const char *who, const genotypes *g, const genotype_options *o)
{
    const people_counts *c = &g->people.counts;
    int any = 0;
    if (!g->are_given || process_comm()->rank > 0)
        return;
    fprintf(stderr, "people     %s of %s in the .fam file",
            text_of_count(g->people.ids.words.count).text, text_of_count(c->in_file).text);
    if (g->people.ids.words.count < c->in_file)
        fputs("; left out: ", stderr);
    print_count(c->not_kept, "not in --keep", &any);
    print_count(c->removed, "in --remove", &any);
    print_count(c->no_response, "without a phenotype", &any);
    print_count(c->no_covariate, "without a covariate", &any);
    fputc('\n', stderr);
    if (c->coded > 0)
        complain(who,
                 "%s phenotypes are %s, which means missing; if it is a value, give "
                 "--missing-code none",
                 text_of_count(c->coded).text, o->missing_code);
    if (c->strangers > 0)
        complain(who, "%s of %s are people who are not in the .fam file",
                 text_of_count(c->strangers).text, o->pheno);
}

genotype_counts genotype_counts_sum(genotype_counts a, genotype_counts b, int64_t sign)
{
    int64_t left[GENOTYPE_COUNTS], right[GENOTYPE_COUNTS];
    memcpy(left, &a, sizeof a);
    memcpy(right, &b, sizeof b);
    for (int k = 0; k < GENOTYPE_COUNTS; k++)
        left[k] += sign * right[k];
    memcpy(&a, left, sizeof a);
    return a;
}

genotype_counts genotypes_counts(const genotypes *g)
{
    return genotype_counts_sum(g->base, genotype_counts_sum(g->consumed, g->skipped, -1), 1);
}

void genotypes_print_summary(const genotypes *g)
{
    const genotype_counts c = genotypes_counts(g);
    int any = 0;
    if (!g->are_given || process_comm()->rank > 0)
        return;
    fprintf(stderr, "variants   %s", text_of_count(c.variants).text);
    if (c.by_chromosome + c.by_maf + c.by_missing > 0)
        fputs("; left out: ", stderr);
    print_count(c.by_chromosome, "by --chr", &any);
    print_count(c.by_maf, "by --maf", &any);
    print_count(c.by_missing, "by --geno", &any);
    any = 0;
    if (c.constant + c.renamed > 0)
        fputs("; of the others: ", stderr);
    print_count(c.constant, "are the same for all people", &any);
    print_count(c.empty, "of these missing for all people", &any);
    print_count(c.renamed, "have no ID of their own and are named by place", &any);
    fputc('\n', stderr);
}

/* ---- the model --------------------------------------------------------- */

static roofs_status want(levels *wanted, const char *name, roofs_error *err)
{
    if (!name || levels_find(wanted, name, (int64_t)strlen(name)) >= 0)
        return ROOFS_OK;
    return levels_add(wanted, name, (int64_t)strlen(name), err);
}

/* The features of the model and of its groups. */
static roofs_status collect_names(const roofs_result *v, levels *wanted, roofs_error *err)
{
    for (int64_t k = 0; k < v->selected; k++)
        TRY(want(wanted, v->features[k].name, err));
    for (int64_t k = 0; k < v->groups; k++)
        for (int64_t j = 0; j < v->group[k].count; j++)
            TRY(want(wanted, v->group[k].members[j].name, err));
    return ROOFS_OK;
}

static json_t *counts_to_json(const genotypes *g)
{
    const people_counts *p = &g->people.counts;
    const genotype_counts c = genotypes_counts(g);
    return json_pack("{s:{s:I,s:I,s:I,s:I,s:I}, s:{s:I,s:I,s:I,s:I,s:I,s:I,s:I}}", "people",
                     "in_file", (json_int_t)p->in_file, "not_kept", (json_int_t)p->not_kept,
                     "removed", (json_int_t)p->removed, "no_phenotype", (json_int_t)p->no_response,
                     "no_covariate", (json_int_t)p->no_covariate, "variants", "in_files",
                     (json_int_t)c.variants, "by_chr", (json_int_t)c.by_chromosome, "by_maf",
                     (json_int_t)c.by_maf, "by_geno", (json_int_t)c.by_missing, "constant",
                     (json_int_t)c.constant, "all_missing", (json_int_t)c.empty, "renamed",
                     (json_int_t)c.renamed);
}

static json_t *names_to_json(const names *list)
{
    json_t *out = json_array();
    for (int64_t k = 0; out && k < list->count; k++)
        json_array_append_new(out, json_string(names_get(list, k)));
    return out;
}

roofs_status genotypes_to_json(const genotypes *g, const roofs_model *m, const source *s,
                               json_t **out, roofs_error *err)
{
    roofs_result v;
    levels wanted = {0};
    json_t *variants = json_array();
    *out = NULL;
    roofs_model_view(m, &v);
    roofs_status status = collect_names(&v, &wanted, err);
    if (status == ROOFS_OK)
        status = source_describe_variants(s, &wanted, variants, err);
    levels_free(&wanted);
    if (status == ROOFS_OK) {
        *out =
            json_pack("{s:s, s:o, s:o, s:O}", "response", names_get(&g->people.response_names, 0),
                      "covariates", names_to_json(&g->people.covariate_names), "counts",
                      counts_to_json(g), "variants", variants);
        status = *out ? ROOFS_OK : fail(err, ROOFS_NO_MEMORY, "no memory for variants");
    }
    json_decref(variants);
    return status;
}
