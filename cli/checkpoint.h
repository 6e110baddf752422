/* The checkpoint of `roofs fit`: the fit as the library saves it, and behind it what was read,
 * of which files and how. */
#ifndef CLI_CHECKPOINT_H
#define CLI_CHECKPOINT_H

#include "base/section.h"
#include "cli/inputs.h"
#include "cli/lock.h"
#include "linalg/comm.h"
#include "stream/ledger.h"

#include <stdio.h>

typedef struct checkpoint {
    const char *path; /* NULL: none is kept */
    int64_t every;    /* batches between two of them */
    int64_t waited;   /* since the last */
    file_lock lock;

    int recorded;          /* what follows is known */
    input_args in;         /* how the files are read */
    char *names, *dataset; /* its texts, where they are the checkpoint's own */
    source_kind kind;
    int narrowed;          /* stored in 32 bits because no file had more */
    missing_count missing; /* in the first pass, so far */
    ledger read;

    /* of a fit whose samples are split over ranks */
    comm *ranks;   /* NULL = they are not */
    int64_t stamp; /* of the parts that count now; 0 = none */
    int64_t parts; /* how many these are */
} checkpoint;

/* Takes the lock, and removes what killed processes left half written. */
roofs_status checkpoint_open(checkpoint *c, const char *path, roofs_error *err);
roofs_status checkpoint_claim(checkpoint *c, const char *path, roofs_error *err); /* of rank 0 */
void checkpoint_close(checkpoint *c); /* nothing on a zeroed one */

/* The files and options of a stream that begins. */
roofs_status checkpoint_record(checkpoint *c, const source *s, const input_args *in,
                               roofs_error *err);

/* Replaces the file: until the new one is on the disk the old one stays. */
roofs_status checkpoint_write(checkpoint *c, roofs_estimator *e, roofs_error *err);

/* Fills *c and makes the fit, see roofs_load. */
roofs_status checkpoint_read(checkpoint *c, const char *path, const roofs_settings *run,
                             roofs_estimator **e, roofs_error *err);

/* The section before the fit, and the fit; for parts.c. */
roofs_status checkpoint_put(checkpoint *c, roofs_estimator *e, FILE *file, roofs_error *err);
roofs_status checkpoint_take_record(checkpoint *c, const section_source *from, archive *a,
                                    roofs_error *err);
int64_t checkpoint_get_bytes(void *file, void *to, size_t size); /* a roofs_read on a FILE */

/* A failure with the name of its file before the reason. */
roofs_status checkpoint_named(const char *path, roofs_status status, roofs_error *err);

/* Whether a file begins like a checkpoint. */
int is_checkpoint(const char *path);

#endif
