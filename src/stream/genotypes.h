/* How files of genotypes become features, and what reading them has found. */
#ifndef STREAM_GENOTYPES_H
#define STREAM_GENOTYPES_H

#include "base/status.h"

typedef struct genotype_options {
    int filters;               /* chromosomes, least_maf and most_missing apply */
    const char *bim, *fam;     /* other files than those beside the .bed; or NULL */
    const char *keep, *remove; /* files with the people to use, or not */
    const char *chromosomes;   /* the list of --chr; NULL = all */
    double least_maf;          /* the smallest frequency of the rarer allele */
    double most_missing;       /* the largest share of people without a value */
    const char *pheno, *pheno_name;
    const char *y;            /* the file of --y: a response for each person; or NULL */
    const char *missing_code; /* a number that means a missing phenotype; "none" = no number */
    const char *covar, *covar_name;
    const struct variant_list *fitted; /* of a model: read only these; no other filter applies */
} genotype_options;

/* Of the variants that were read so far. */
typedef struct genotype_counts {
    int64_t variants;           /* in the files, the ones below included */
    int64_t by_chromosome;      /* left out by --chr */
    int64_t by_maf, by_missing; /* left out by --maf, by --geno */
    int64_t constant;           /* of the others: the same value for all people */
    int64_t empty;              /* of these: no value for any person */
    int64_t renamed;            /* named by their place */
    int64_t swapped;            /* `fitted`: A1 and A2 are exchanged */
    int64_t other_alleles;      /* `fitted`: left out, because the alleles differ */
} genotype_counts;

/* What the codes of a .bed file stand for, by how often each occurs: two copies of A1, missing (the
 * mean of the others; 0 if there are none), one copy, none. */
void genotype_levels(const int64_t counts[4], double level[4]);

/* True if the path ends as a .bed file does, or the file begins like one. */
int path_is_bed(const char *path);

#endif
