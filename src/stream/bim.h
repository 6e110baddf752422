/* The variants of a .bim file of PLINK, and their names as features. */
#ifndef STREAM_BIM_H
#define STREAM_BIM_H

#include "table/names.h"

/* Views. a1 is the allele that is counted. */
typedef struct variant {
    const char *chromosome, *id, *position, *a1, *a2;
} variant;

typedef struct bim {
    char *text; /* the fields of all variants, each ended by 0 */
    int64_t used, capacity;
    int64_t *starts; /* of the first field of each variant */
    int64_t count, start_capacity;
    unsigned char *naming; /* how each variant is named; NULL before bim_name_variants */
    int64_t renamed;       /* variants whose name is not their ID */
} bim;                     /* an empty one is all zero */

roofs_status bim_read(bim *b, const char *path, roofs_error *err);
void bim_free(bim *b);
variant bim_variant(const bim *b, int64_t k);

/* The IDs of the variants of all files of a stream: 63 bits of a digest, and whether it occurs
 * several times. */
typedef struct variant_ids {
    uint64_t *table; /* open addressing; 0 = empty; the lowest bit: several times */
    int64_t size, count;
    int64_t files; /* that were added */
} variant_ids;     /* an empty set is all zero */

void variant_ids_free(variant_ids *v);

/* Adds the IDs of file number `file`; does nothing if it was added before. */
roofs_status variant_ids_add(variant_ids *v, int64_t file, const bim *b, roofs_error *err);

/* Decides the names, when all files of the stream are in `v`. A variant is named by its ID. If the
 * ID is "." or occurs several times, by chromosome:position:A1:A2; and if that is not unique,
 * either, by chromosome:position:A1:A2#line. */
roofs_status bim_name_variants(bim *b, const variant_ids *v, roofs_error *err);

/* Adds the name of variant k to a list. */
roofs_status bim_add_name(const bim *b, int64_t k, names *list, roofs_error *err);

/* "1" for "chr1", "23" for "X", and so on: names of the same chromosome become equal. */
enum { CHROMOSOME_MOST = 64 };
void chromosome_normal(const char *text, char out[CHROMOSOME_MOST]);

#endif
