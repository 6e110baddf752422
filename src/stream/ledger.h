/* What has been read of each file of a stream: the number of features and a digest of their
 * values. A checkpoint stores it, so that `resume` can detect changed files. The digest is the
 * same for dense and sparse values and for 32 and 64 bits. */
#ifndef STREAM_LEDGER_H
#define STREAM_LEDGER_H

#include "base/archive.h"
#include "stream/source.h"

/* Of one file, in one pass. */
typedef struct ledger_count {
    int64_t features;
    uint64_t digest;
} ledger_count;

typedef struct ledger_file {
    char *path;         /* as given; "-" is standard input */
    ledger_count now;   /* in this pass */
    ledger_count first; /* in the first pass, if this is a later one */
    int ended;          /* read to its end in this pass */
} ledger_file;

typedef struct ledger {
    ledger_file *files; /* in the order of the stream */
    int64_t count, capacity;
    int64_t offset; /* the source's first file is files[offset] */
    int64_t at;     /* the file being read */
    int later;      /* not the first pass */
    int blind;      /* no digest, only counts: a rank reads only its own samples */
    double *values; /* scratch of the digest */
    int64_t *places;
    int64_t *from; /* the file of each feature of the current block */
    int64_t whole; /* features of the last of these files; -1 = unknown */
    int64_t capacities[3];
} ledger;

void ledger_free(ledger *l);
roofs_status ledger_append(ledger *l, const char *path, roofs_error *err);

/* Starts a source whose first file is files[offset]. */
void ledger_begin(ledger *l, int64_t offset);

/* ledger_locate records which files the last block of the source is from. ledger_add counts the
 * block after it has been used; the source may have read the next one by then. */
roofs_status ledger_locate(ledger *l, const source *s, const roofs_block *block, roofs_error *err);
roofs_status ledger_add(ledger *l, const roofs_block *block, roofs_error *err);

/* Ends a pass; starts the next one. In later passes every file must be the same as in the first. */
roofs_status ledger_end_pass(ledger *l, roofs_error *err);
void ledger_next_pass(ledger *l);

/* Reads the features of files[k] that were read in this pass again, `most` at a time, and refuses
 * them if they differ. `s` must be at the start of the file. */
roofs_status ledger_verify(ledger *l, int64_t k, source *s, int64_t most, roofs_error *err);

void ledger_transfer(ledger *l, archive *a);

#endif
