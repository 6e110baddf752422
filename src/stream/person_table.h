/* Tables of PLINK with a line per person: FID, IID, then numbers. For phenotypes and covariates. */
#ifndef STREAM_PERSON_TABLE_H
#define STREAM_PERSON_TABLE_H

#include "stream/fam.h"

typedef struct person_table {
    names columns;  /* the columns that were read */
    double *values; /* column c of person k of the .fam file is [c * people + k]; NaN = missing */
    int64_t people;
    unsigned char *found; /* for each person: the table has a line */
    int64_t coded;        /* values that were the missing code */
    int64_t strangers;    /* lines of people who are not in the .fam file */
} person_table;           /* an empty one is all zero */

/* `wanted`: names of columns, separated by commas; NULL = all. In a table without a header, columns
 * have the names 1, 2, ... after FID and IID. `missing_code`: see genotype_options; or NULL. */
roofs_status person_table_read(person_table *t, const char *path, const fam *people,
                               const char *wanted, const char *missing_code, roofs_error *err);
void person_table_free(person_table *t);

/* Numbers of the sixth column of a .fam file. `values` has a number for each person. */
roofs_status fam_responses(const fam *people, const char *path, const char *missing_code,
                           double *values, int64_t *coded, roofs_error *err);

/* A set of people: lines "FID IID" or "IID", with or without a header. */
roofs_status person_set_read(levels *set, const char *path, roofs_error *err);
int person_set_has(const levels *set, const fam *people, int64_t k);

#endif
