#include "base/standard.h"

FILE *standard_output(void)
{
    return stdout;
}
