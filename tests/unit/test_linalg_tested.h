/* The device under test: the CPU, or the one named on the command line. Without that device the
 * test prints the reason and is skipped (exit code 77). */
#ifndef TEST_LINALG_TESTED_H
#define TEST_LINALG_TESTED_H

#include "linalg/device.h"

static const device_ops *tested = &device_cpu;

static inline int find_tested(int argc, char **argv)
{
    roofs_error err = {0};
    if (device_find(argc > 1 ? argv[1] : "cpu", &tested, &err) == ROOFS_OK)
        return 0;
    fprintf(stderr, "skipped: %s\n", err.text);
    return 77;
}

#endif
