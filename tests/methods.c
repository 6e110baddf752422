/* Prints one line for every method of the library: its name, and what it can do. */
#include "roofs/roofs.h"

#include <stdio.h>

int main(void)
{
    roofs_method_info info;
    for (int64_t k = 0; roofs_method_describe(k, &info); k++)
        printf("%s%s%s%s%s\n", info.name, info.splits ? " splits" : "", info.gpu ? " gpu" : "",
               info.reserve ? " reserve" : "", info.joint ? " joint" : "");
    return 0;
}
