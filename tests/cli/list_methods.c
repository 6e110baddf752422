/* Prints what the library reports of each method, one JSON object per line: for tests that try
 * every method. */
#include <roofs/roofs.h>

#include <inttypes.h>
#include <stdio.h>

int main(void)
{
    roofs_method_info info;
    for (int64_t k = 0; roofs_method_describe(k, &info); k++)
        printf("{\"name\": \"%s\", \"splits\": %" PRId32 ", \"joint\": %" PRId32 "}\n", info.name,
               info.splits, info.joint);
    return 0;
}
