#include "cli/descriptors.h"

#include <fcntl.h>
#include <unistd.h>

/* Opens descriptor `fd`, the lowest one that is closed. */
static int open_lowest(int fd)
{
    /* Input that can only be written and output that can only be read: their use is an error. */
    static const int flags[] = {O_WRONLY, O_RDONLY, O_WRONLY};
    int got = open("/dev/null", flags[fd]);
    return got >= 0 ? got : open("/", O_RDONLY); /* no /dev in this tree */
}

int secure_descriptors(void)
{
    for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++)
        if (fcntl(fd, F_GETFD) < 0 && open_lowest(fd) != fd)
            return -1;
    return 0;
}
