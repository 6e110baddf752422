/* Arrays (.npy), responses in every format, and files of names. The first byte picks what
 * is read, two more say how, the rest is the file. */
#include "base/memory.h"
#include "stream/name_file.h"
#include "stream/response.h"
#include "tests/fuzz/stream.h"

static void check_response(const char *path)
{
    roofs_error err = {0};
    double *y = NULL;
    int64_t n = 0;
    roofs_status status = response_read(path, &y, &n, &err);
    must_be_explained(status, &err, path);
    for (int64_t i = 0; i < n && !status; i++)
        MUST(y[i] - y[i] == 0, "response %lld is not finite", (long long)i);
    memory_free(y);
}

static void check_names(const char *path, size_t size)
{
    roofs_error err = {0};
    names list = {0};
    roofs_status status = name_file_read(path, &list, &err);
    must_be_explained(status, &err, path);
    MUST(status || (list.count > 0 && list.count <= (int64_t)size), "%lld names",
         (long long)list.count);
    names_free(&list);
}

int LLVMFuzzerTestOneInput(const unsigned char *data, size_t size)
{
    input in = {data, data + size};
    unsigned what = take(&in) % 4;
    source_options options = stream_options(&in, "npy");
    const char *path = file_of(in.at, left(&in));
    if (what == 0)
        check_response(path);
    else if (what == 1)
        check_names(path, left(&in));
    else
        stream_check(path, &options);
    return 0;
}
