/* The standard output of the process. The R package has a version of its own: R forbids it. */
#ifndef BASE_STANDARD_H
#define BASE_STANDARD_H

#include <stdio.h>

/* NULL = there is none. */
FILE *standard_output(void);

#endif
