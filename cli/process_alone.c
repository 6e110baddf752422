/* The communicator of `roofs`: one rank. */
#include "cli/process_comm.h"

const roofs_comm *process_comm(void)
{
    static const roofs_comm alone = {.size = 1};
    return &alone;
}

void process_stop_others(const char *reason, int code)
{
    (void)reason;
    (void)code;
}

int process_agree(int code)
{
    return code;
}
