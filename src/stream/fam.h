/* The people of a .fam file of PLINK. A person is identified by "FID IID". */
#ifndef STREAM_FAM_H
#define STREAM_FAM_H

#include "table/levels.h"

typedef struct fam {
    levels ids;      /* code k is the person of line k */
    names responses; /* the sixth column as text; "NA" where a line has five */
    int64_t *iid_at; /* the place of the IID in "FID IID" */
    int64_t at_capacity;
} fam; /* an empty one is all zero */

roofs_status fam_read(fam *f, const char *path, roofs_error *err);
void fam_free(fam *f);

/* "FID IID" and IID of person k; views. */
const char *fam_id(const fam *f, int64_t k);
const char *fam_iid(const fam *f, int64_t k);

/* The path of a file beside a .bed file: x.bed, x.bed.gz and x give x.fam for the ending ".fam".
 * Free *out with memory_free. */
roofs_status path_beside(const char *bed, const char *ending, char **out, roofs_error *err);

#endif
