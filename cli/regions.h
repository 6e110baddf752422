/* Credible groups of variants as regions of the genome. */
#ifndef CLI_REGIONS_H
#define CLI_REGIONS_H

#include "cli/print.h"
#include "stream/variants.h"

/* Where the members of a group are, on the chromosome of the most probable one. */
typedef struct region {
    const char *chromosome;
    int64_t from, to;
    int64_t elsewhere; /* members on other chromosomes, or without a place */
} region;

/* False if the place of the most probable member is not known. */
int region_of(const variant_list *variants, const roofs_group *g, region *out);

/* The position of a variant; 0 if it is not a number. */
int64_t variant_position(const fitted_variant *v);

/* "chr2:1234-5678" */
typedef struct region_text {
    char text[120];
} region_text;

region_text text_of_region(const region *r);

#endif
