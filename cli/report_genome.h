/* The picture of probabilities along the genome. */
#ifndef CLI_REPORT_GENOME_H
#define CLI_REPORT_GENOME_H

#include "stream/variants.h"

#include <stdio.h>

/* A section with one figure. */
roofs_status figure_genome(FILE *page, const roofs_result *m, const variant_list *variants,
                           roofs_error *err);

#endif
