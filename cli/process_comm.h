/* The ranks of this process. There is one, unless the program is roofs-mpi and mpirun started it.
 * Of several ranks, rank 0 prints and writes; what the others print is discarded. */
#ifndef CLI_PROCESS_COMM_H
#define CLI_PROCESS_COMM_H

#include "base/comm.h"

/* Never NULL; its size is 1 where the process is alone. */
const roofs_comm *process_comm(void);

/* Ends all ranks after a failure that the others do not know of, and prints the reason. Does
 * nothing where the process is alone. */
void process_abort(const char *who, const char *reason, int code);

#endif
