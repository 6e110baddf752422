/* The people of a fit of genotypes: who they are, their responses and covariates. */
#ifndef STREAM_PEOPLE_H
#define STREAM_PEOPLE_H

#include "stream/genotypes.h"
#include "stream/person_table.h"

/* People who are left out. */
typedef struct people_counts {
    int64_t in_file;      /* of the first .fam file */
    int64_t not_kept;     /* by --keep */
    int64_t removed;      /* by --remove */
    int64_t no_response;  /* of the others: the phenotype is missing */
    int64_t coded;        /* phenotypes that were the missing code */
    int64_t no_covariate; /* of the others: a covariate is missing */
    int64_t strangers;    /* lines of the phenotypes of people who are not in the .fam file */
} people_counts;

typedef struct people {
    levels ids;           /* "FID IID" of each sample, in the order of the .fam file */
    names response_names; /* the phenotypes; "phenotype" is the sixth column of the .fam file */
    double *responses;    /* response r of sample i is [r * n + i] */
    names covariate_names;
    double *covariates; /* covariate c of sample i is [c * n + i] */
    people_counts counts;
} people; /* an empty one is all zero */

void people_free(people *p);

/* Where the responses are. */
typedef struct people_request {
    int has_responses; /* false: for predictions */
    const double
        *given; /* a response for each person of the .fam file; NULL = --pheno or column 6 */
    int64_t given_count;
} people_request;

/* Chooses the people. A person needs one of the responses (NaN: missing) and all covariates. */
roofs_status people_choose(people *p, const char *bed, const genotype_options *o,
                           const people_request *request, roofs_error *err);

/* The .fam file of a .bed file. Free *out with memory_free. */
roofs_status people_fam_path(const char *bed, const genotype_options *o, char **out,
                             roofs_error *err);

/* Sets is_in[k] for each person of a .fam file by --keep and --remove; `counts` may be NULL. */
roofs_status people_filter(const fam *f, const genotype_options *o, unsigned char *is_in,
                           people_counts *counts, roofs_error *err);

#endif
