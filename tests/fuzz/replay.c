/* Runs a fuzz target over the files named: the committed inputs, with any compiler. */
#include "tests/fuzz/fuzz.h"

int main(int count, char **paths)
{
    static unsigned char bytes[1 << 20];
    for (int k = 1; k < count; k++) {
        FILE *file = fopen(paths[k], "rb");
        MUST(file, "%s cannot be opened", paths[k]);
        size_t size = fread(bytes, 1, sizeof bytes, file);
        fclose(file);
        unsigned char *exact = malloc(size ? size : 1); /* so that a byte too far is noticed */
        MUST(exact, "no memory");
        memcpy(exact, bytes, size);
        LLVMFuzzerTestOneInput(exact, size);
        free(exact);
    }
    MUST(count > 1, "no input is given");
    printf("%d inputs\n", count - 1);
    return 0;
}
