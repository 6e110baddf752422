/* Waiting for other ranks: until they arrive, until one says that it has stopped, or until a limit.
 */
#ifndef MPI_WAIT_H
#define MPI_WAIT_H

#include "roofs/roofs_mpi.h"

enum { NOTE_TEXT = 300 };

/* What a rank sends to single ranks, beside the sums and gathers. */
typedef struct note {
    int64_t kind;
    int64_t call; /* the calls that the sender has begun */
    char text[NOTE_TEXT];
} note;

typedef struct waiting {
    MPI_Comm ranks;
    int64_t rank, size;
    double limit;               /* seconds to wait for other ranks; 0 = no limit */
    int64_t call;               /* calls that this rank has begun */
    const char *name;           /* of the call in progress: "sum", "gather" */
    note ask, answer, farewell; /* as they were sent; MPI may read them later */
    note stopped;               /* of the first rank that has stopped; kind 0 = none has */
    int64_t stopped_rank;
    char reason[2 * NOTE_TEXT]; /* why a call failed; "" = none did */
} waiting;

/* Counts a call. */
void waiting_begin(waiting *w, const char *name);

/* Waits for the request. Returns 1 on failure; w->reason says why. The request may then be in
 * progress for ever. */
int waiting_for(waiting *w, MPI_Request *request);

/* If MPI returned an error, sets w->reason and returns 1. */
int waiting_failed(waiting *w, int mpi_code);

/* Sends all ranks the message that this one makes no further calls. */
void waiting_stop(waiting *w, const char *why);

/* Receives and drops the notes that no call needs any more. */
void waiting_end(waiting *w);

#endif
