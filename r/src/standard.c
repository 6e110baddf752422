/* Stands for src/base/standard.c: packages of R do not write to the standard output of the process.
 */
#include "base/standard.h"

FILE *standard_output(void)
{
    return NULL;
}
