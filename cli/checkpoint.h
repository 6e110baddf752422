/* The checkpoint of `roofs fit`: a record of the files that were read, then the fit as the library
 * saves it. */
#ifndef CLI_CHECKPOINT_H
#define CLI_CHECKPOINT_H

#include "base/comm.h"
#include "base/section.h"
#include "cli/genotypes.h"
#include "cli/inputs.h"
#include "cli/lock.h"
#include "stream/ledger.h"

#include <stdio.h>

enum { CHECKPOINT_LISTS = 5 + SPECIALS + 2 }; /* texts of the options of tables */
enum { CHECKPOINT_GENOTYPES = 11 };           /* texts of the options of genotypes */

typedef struct checkpoint {
    const char *path; /* NULL: no checkpoint is written */
    int64_t every;    /* batches between two checkpoints */
    int64_t waited;   /* batches since the last checkpoint */
    file_lock lock;

    /* the record */
    int recorded;          /* false: a fit that another program saved */
    input_args in;         /* how the files are read */
    char *names, *dataset; /* texts of `in` that the checkpoint owns */
    char *lists[CHECKPOINT_LISTS];
    char *genotype_texts[CHECKPOINT_GENOTYPES];
    genotype_counts genotypes; /* in the first pass, so far */
    uint64_t people;           /* a digest of the IDs of the people; 0 = no genotypes */
    const char *offset;        /* see fit_session */
    char *recipes;             /* of the columns of tables that were read, as JSON; NULL = none */
    source_kind kind;
    int narrowed;          /* features are stored in 32 bits because all files had 32 bits */
    missing_count missing; /* in the first pass, so far */
    ledger read;

    /* for samples that are split over ranks */
    comm *comm;     /* NULL: one rank */
    int64_t stamp;  /* of the valid shards; 0 = none */
    int64_t shards; /* the number of valid shards */
} checkpoint;

/* Locks the file, and removes temporary files that killed processes left. All ranks call
 * checkpoint_open; checkpoint_claim does the work of rank 0. */
roofs_status checkpoint_open(checkpoint *c, const char *path, roofs_error *err);
roofs_status checkpoint_claim(checkpoint *c, const char *path, roofs_error *err);
void checkpoint_close(checkpoint *c); /* does nothing on a zeroed checkpoint */

/* Records the files and options of a new stream. */
roofs_status checkpoint_record(checkpoint *c, const source *s, const input_args *in,
                               roofs_error *err);

/* Replaces the file. The old file stays until the new one is on the disk. */
roofs_status checkpoint_write(checkpoint *c, roofs_estimator *e, roofs_error *err);

/* Fills *c and loads the fit; `execution` is the `run` of roofs_load. */
roofs_status checkpoint_read(checkpoint *c, const char *path, const roofs_settings *execution,
                             roofs_estimator **e, roofs_error *err);

/* For the file of one rank. checkpoint_write_file writes the record and the fit.
 * checkpoint_read_record reads the record and rewinds the file. */
roofs_status checkpoint_write_file(checkpoint *c, roofs_estimator *e, const char *path,
                                   roofs_error *err);
roofs_status checkpoint_read_record(checkpoint *c, FILE *file, roofs_error *err);

/* Reads the first section of a checkpoint into *a. Returns its name in `name`. */
roofs_status checkpoint_first_section(FILE *file, char name[SECTION_NAME + 1], archive *a,
                                      roofs_error *err);

/* The functions roofs_read and roofs_write for a FILE. */
int64_t checkpoint_read_bytes(void *file, void *to, size_t size);
int checkpoint_write_bytes(void *file, const void *from, size_t size);

/* True if the file begins like a checkpoint. */
int is_checkpoint(const char *path);

#endif
