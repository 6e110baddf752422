/* What was read of a stream, file by file: how many features, and a digest of their values.
 * A checkpoint keeps it, so that going on with other data is noticed. The digest does not
 * depend on how the values are held: dense or sparse, in 32 or 64 bits. */
#ifndef STREAM_LEDGER_H
#define STREAM_LEDGER_H

#include "base/archive.h"
#include "stream/source.h"

/* Of a file, in one pass. */
typedef struct ledger_count {
    int64_t features;
    uint64_t digest;
} ledger_count;

typedef struct ledger_file {
    char *path;         /* as it was given; "-" is standard input */
    ledger_count now;   /* in this pass */
    ledger_count first; /* in the first pass, when this is a later one */
    int ended;          /* in this pass nothing of it is left */
} ledger_file;

typedef struct ledger {
    ledger_file *files; /* in the order of the stream */
    int64_t count, capacity;
    int64_t offset; /* the source's first file is files[offset] */
    int64_t at;     /* the file being read */
    int later;      /* not the first pass */
    int blind;      /* features are counted, their digest stays 0: a rank sees part of the values */
    double *values; /* scratch of the digest */
    int64_t *places;
    int64_t *from; /* the file of each feature of the block that is used next */
    int64_t whole; /* features that the last of these files has; -1 = not known */
    int64_t room[3];
} ledger;

void ledger_free(ledger *l);
roofs_status ledger_append(ledger *l, const char *path, roofs_error *err);

/* A source begins, whose first file is files[offset]. */
void ledger_begin(ledger *l, int64_t offset);

/* Which files the last block of the source is from. What it holds is counted when it has been used:
 * the source may have read on by then. */
roofs_status ledger_look(ledger *l, const source *s, const roofs_block *block, roofs_error *err);
roofs_status ledger_add(ledger *l, const roofs_block *block, roofs_error *err);

/* The pass is over; the next one begins, with the first file. In a later pass files are
 * compared with what they were in the first one. */
roofs_status ledger_end_pass(ledger *l, roofs_error *err);
void ledger_next_pass(ledger *l);

/* Reads what was read of files[k] again, as far as it came in this pass, and refuses it where
 * it is not the same. `s` stands at the beginning of the file; `most` features at a time. */
roofs_status ledger_verify(ledger *l, int64_t k, source *s, int64_t most, roofs_error *err);

void ledger_transfer(ledger *l, archive *a);

#endif
