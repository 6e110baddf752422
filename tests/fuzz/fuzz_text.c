/* Tables with separators, LIBSVM and triplets. The first byte picks the format, two more say
 * how to read it, the rest is the file. */
#include "tests/fuzz/stream.h"

int LLVMFuzzerTestOneInput(const unsigned char *data, size_t size)
{
    static const char *const formats[] = {"text", "libsvm", "triplets", NULL};
    input in = {data, data + size};
    const char *format = formats[take(&in) % 4]; /* NULL: it is to be found out */
    source_options options = stream_options(&in, format);
    if (format && strcmp(format, "text") != 0)
        options.orient = ORIENT_AUTO; /* the others have one way only */
    stream_check(file_of(in.at, left(&in)), &options);
    return 0;
}
