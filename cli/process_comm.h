/* The communicator of the program. It has one rank, except in roofs-mpi under mpirun. Rank 0 prints
 * and writes; what the other ranks print is discarded. */
#ifndef CLI_PROCESS_COMM_H
#define CLI_PROCESS_COMM_H

#include "base/comm.h"

const roofs_comm *process_comm(void); /* never NULL */

/* Prints the reason and ends all ranks, after a failure on this rank only. With one rank it does
 * nothing. */
void process_abort(const char *who, const char *reason, int code);

#endif
