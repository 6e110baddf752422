/* The checkpoint of `roofs fit`: the fit as the library saves it and, in front of it, a record of
 * the files that were read. */
#ifndef CLI_CHECKPOINT_H
#define CLI_CHECKPOINT_H

#include "base/comm.h"
#include "cli/inputs.h"
#include "cli/lock.h"
#include "stream/ledger.h"

#include <stdio.h>

typedef struct checkpoint {
    const char *path; /* NULL: no checkpoint is written */
    int64_t every;    /* batches between two checkpoints */
    int64_t waited;   /* batches since the last one */
    file_lock lock;

    /* the record */
    int recorded;          /* the fields below are known */
    input_args in;         /* how the files are read */
    char *names, *dataset; /* texts of `in` that the checkpoint owns */
    source_kind kind;
    int narrowed;          /* stored in 32 bits because no file had more */
    missing_count missing; /* in the first pass, so far */
    ledger read;

    /* of a fit whose samples are split over ranks */
    comm *comm;     /* NULL: they are not split */
    int64_t stamp;  /* of the shards that are valid now; 0 = none */
    int64_t shards; /* their number */
} checkpoint;

/* Takes the lock, and removes temporary files that killed processes left. */
roofs_status checkpoint_open(checkpoint *c, const char *path, roofs_error *err);
roofs_status checkpoint_claim(checkpoint *c, const char *path, roofs_error *err); /* rank 0 only */
void checkpoint_close(checkpoint *c); /* nothing on a zeroed one */

/* Records the files and options of a stream that begins. */
roofs_status checkpoint_record(checkpoint *c, const source *s, const input_args *in,
                               roofs_error *err);

/* Replaces the file: the old one stays until the new one is on the disk. */
roofs_status checkpoint_write(checkpoint *c, roofs_estimator *e, roofs_error *err);

/* Fills *c and loads the fit, see roofs_load. */
roofs_status checkpoint_read(checkpoint *c, const char *path, const roofs_settings *run,
                             roofs_estimator **e, roofs_error *err);

/* For the files of single ranks: writes the record and the fit to `path`; reads the record and goes
 * back to the beginning of the file. */
roofs_status checkpoint_write_file(checkpoint *c, roofs_estimator *e, const char *path,
                                   roofs_error *err);
roofs_status checkpoint_read_record(checkpoint *c, FILE *file, roofs_error *err);

/* A roofs_read and a roofs_write on a FILE. */
int64_t checkpoint_read_bytes(void *file, void *to, size_t size);
int checkpoint_write_bytes(void *file, const void *from, size_t size);

/* Puts the name of the file in front of the reason of a failure. */
roofs_status checkpoint_named(const char *path, roofs_status status, roofs_error *err);

/* Whether a file begins like a checkpoint. */
int is_checkpoint(const char *path);

#endif
