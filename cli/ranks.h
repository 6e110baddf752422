/* The processes that share the samples of a fit. There is one, unless the program is roofs-mpi and
 * was started by mpirun. Of several, rank 0 speaks and writes; what the others print goes nowhere.
 */
#ifndef CLI_RANKS_H
#define CLI_RANKS_H

#include "linalg/comm.h"

/* Never NULL; its size is 1 where the process is alone. */
const roofs_comm *ranks_here(void);

/* Ends all ranks at once, after a failure that the others cannot know of: says why, unless the
 * process is alone. */
void ranks_abort(const char *who, const char *why, int code);

#endif
