/* The lines of a file of PLINK: words, separated by spaces or tabs. */
#ifndef STREAM_WORD_READER_H
#define STREAM_WORD_READER_H

#include "stream/lines.h"
#include "table/fields.h"

typedef struct word_reader {
    bytes *input;
    lines lines;
    field *words; /* of the current line: views, valid until the next line */
    int64_t count, capacity;
} word_reader;

roofs_status word_reader_open(word_reader *w, const char *path, roofs_error *err);
void word_reader_close(word_reader *w); /* does nothing on a zeroed reader */

/* The next line that is not blank; *more = 0 at the end. Refuses bytes that are not UTF-8. */
roofs_status word_reader_next(word_reader *w, int *more, roofs_error *err);

/* BAD_DATA with the file and the line. */
roofs_status word_reader_fail(const word_reader *w, const char *what, roofs_error *err);

static inline int64_t word_length(field f)
{
    return f.end - f.begin;
}

int word_is(field f, const char *text);

#endif
