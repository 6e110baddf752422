/* The communicator of `roofs`: one rank. */
#include "cli/process_comm.h"

const roofs_comm *process_comm(void)
{
    static const roofs_comm alone = {.size = 1};
    return &alone;
}

void process_abort(const char *who, const char *reason, int code)
{
    (void)who;
    (void)reason;
    (void)code;
}
