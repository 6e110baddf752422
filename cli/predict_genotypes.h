/* Predictions from genotypes: people by ID, variants by ID or place and by their alleles. */
#ifndef CLI_PREDICT_GENOTYPES_H
#define CLI_PREDICT_GENOTYPES_H

#include "cli/genotypes.h"
#include "stream/variants.h"

typedef struct predict_genotypes {
    genotypes genotypes; /* are_given: a .bed file is among the files */
    variant_list variants;
    genotype_options options;
    double *absent_value; /* see lookup; NULL: the model has no variants */
} predict_genotypes;      /* an empty one is all zero */

/* Chooses the people, if there is a .bed file. */
roofs_status predict_genotypes_begin(predict_genotypes *g, const roofs_model *m,
                                     const operands *files, const genotype_options *o,
                                     roofs_error *err);
void predict_genotypes_free(predict_genotypes *g);
void predict_genotypes_to_source(const predict_genotypes *g, source_options *options);

/* Prints which variants of the model are not in the files, or exchange their alleles. */
void predict_genotypes_print(const predict_genotypes *g, const roofs_result *model);

#endif
