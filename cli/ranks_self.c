/* The program without other ranks. */
#include "cli/ranks.h"

const roofs_comm *ranks_here(void)
{
    static const roofs_comm alone = {.size = 1};
    return &alone;
}

void ranks_abort(const char *who, const char *why, int code)
{
    (void)who;
    (void)why;
    (void)code;
}
