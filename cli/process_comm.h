/* The communicator of the program. It has one rank, except in roofs-mpi under mpirun. Rank 0 prints
 * and writes; what the other ranks print is kept for the case that rank 0 cannot print. */
#ifndef CLI_PROCESS_COMM_H
#define CLI_PROCESS_COMM_H

#include "base/comm.h"

const roofs_comm *process_comm(void); /* never NULL */

/* Ends the other ranks after a failure on this rank only: their next call fails with this reason.
 * With one rank it does nothing. */
void process_stop_others(const char *reason, int code);

/* The result of reading the command line, `code`, if it is OPTIONS_FINE on all ranks. Otherwise
 * that of the first rank where it is not, and rank 0 prints what that rank printed. Every verb that
 * roofs-mpi has calls this before its ranks communicate. */
int process_agree(int code);

#endif
