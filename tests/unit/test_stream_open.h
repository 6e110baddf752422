/* Sources that read one small text file. */
#ifndef TEST_STREAM_OPEN_H
#define TEST_STREAM_OPEN_H

#include "base/block.h"
#include "test_stream_files.h"

#include "stream/source.h"

static roofs_error err;

static inline source *open_file(const char *path, const char *text, source_options options)
{
    source *s;
    put_text(path, text);
    assert_fine(source_open(&s, &path, 1, &options, &err));
    return s;
}

/* Reads up to 100 features. */
static inline roofs_status read_file(const char *path, const char *text, source_options options)
{
    source *s;
    roofs_block block;
    put_text(path, text);
    TRY(source_open(&s, &path, 1, &options, &err));
    roofs_status status = source_next(s, 100, &block, &err);
    source_close(s);
    return status;
}

/* Value k of a dense block, counted over all its features. */
static inline double value_at(const roofs_block *b, int64_t k)
{
    return block_value(b, k);
}

#endif
