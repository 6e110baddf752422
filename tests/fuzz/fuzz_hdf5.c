/* HDF5 files. Only in `make fuzz`, and with the sanitizer's checks of memcpy off: libhdf5
 * itself reads beyond the end of damaged chunks (docs/formats.md). Two bytes say how to
 * read, the rest is the file. */
#include "tests/fuzz/stream.h"

int LLVMFuzzerTestOneInput(const unsigned char *data, size_t size)
{
    input in = {data, data + size};
    source_options options = stream_options(&in, "hdf5");
    stream_check(file_of(in.at, left(&in)), &options);
    return 0;
}
