/* Genotypes for the verbs that read them: options, the people of a fit, what a model stores. */
#ifndef CLI_GENOTYPES_H
#define CLI_GENOTYPES_H

#include "cli/inputs.h"
#include "stream/people.h"

/* The options that fill a genotype_options: see GROUP. */
extern const option_row genotype_file_rows[], variant_rows[], phenotype_rows[], covariate_rows[];

/* Of a fit of genotypes. */
typedef struct genotypes {
    int are_given; /* false: the files are of other formats, and the rest is all zero */
    people people;
    source_lead lead;         /* the covariates */
    genotype_counts base;     /* read before the source was opened */
    genotype_counts skipped;  /* the count of the source that `base` includes */
    genotype_counts consumed; /* the count of the source up to the last consumed batch */
} genotypes;

/* The first .bed file among the files and in folders; *bed is NULL if there is none. Free it with
 * memory_free. */
roofs_status genotypes_find(const operands *files, char **bed, roofs_error *err);

/* An option that is only for genotypes, if one is given; otherwise NULL. */
const char *genotypes_option(const genotype_options *o);

/* Chooses the people of a fit, or of predictions, which need no responses. */
roofs_status genotypes_choose(genotypes *g, const char *bed, const genotype_options *o,
                              int has_responses, roofs_error *err);

/* A digest of the people and their covariates, never 0. */
uint64_t genotypes_digest(const genotypes *g);
void genotypes_free(genotypes *g);

/* Sets what a stream needs to know of the people. */
void genotypes_to_source(const genotypes *g, source_options *options);

/* Prints on standard error who is left out and why. */
void genotypes_print_people(const char *who, const genotypes *g, const genotype_options *o);

/* The counts of the first pass, so far. */
genotype_counts genotypes_counts(const genotypes *g);

/* Prints the line "variants" of the summary. */
void genotypes_print_summary(const genotypes *g);

/* The object "genotypes" of a model. `s`: a stream of all files. */
roofs_status genotypes_to_json(const genotypes *g, const roofs_model *m, const source *s,
                               json_t **out, roofs_error *err);

/* Counts in a fixed order, for checkpoints. */
enum { GENOTYPE_COUNTS = sizeof(genotype_counts) / sizeof(int64_t) };
genotype_counts genotype_counts_sum(genotype_counts a, genotype_counts b, int64_t sign);

#endif
