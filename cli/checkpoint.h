/* The checkpoint of `roofs fit`: the fit as the library saves it, and behind it what was read,
 * of which files and how. */
#ifndef CLI_CHECKPOINT_H
#define CLI_CHECKPOINT_H

#include "cli/inputs.h"
#include "cli/lock.h"
#include "stream/ledger.h"

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
} checkpoint;

/* Takes the lock, and removes what killed processes left half written. */
roofs_status checkpoint_open(checkpoint *c, const char *path, roofs_error *err);
void checkpoint_close(checkpoint *c); /* nothing on a zeroed one */

/* The files and options of a stream that begins. */
roofs_status checkpoint_record(checkpoint *c, const source *s, const input_args *in,
                               roofs_error *err);

/* Replaces the file: until the new one is on the disk the old one stays. */
roofs_status checkpoint_write(checkpoint *c, roofs_estimator *e, roofs_error *err);

/* Fills *c and makes the fit, see roofs_load. */
roofs_status checkpoint_read(checkpoint *c, const char *path, const roofs_settings *run,
                             roofs_estimator **e, roofs_error *err);

/* Whether a file begins like a checkpoint. */
int is_checkpoint(const char *path);

#endif
