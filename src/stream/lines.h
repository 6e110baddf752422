/* The records of a text file, one at a time. A record is a line, or several lines if a quoted
 * field contains line ends (RFC 4180). */
#ifndef STREAM_LINES_H
#define STREAM_LINES_H

#include "stream/bytes.h"

typedef struct lines {
    bytes *input; /* borrowed */
    int plain;    /* set by the caller: quotes have no meaning, blank lines are skipped */
    char *buffer;
    int64_t capacity, start, end; /* unread text: buffer[start..end) */
    int input_ended;
    int64_t next_number;
    int again; /* return the same record again */
    int hold;  /* a refill keeps the current record */
    /* the record: a view, valid until the next call */
    const char *record, *record_end; /* without the line end; NULL at the end */
    int64_t number;                  /* its first line in the file, counted from 1 */
} lines;

roofs_status lines_open(lines *l, bytes *input, roofs_error *err);
void lines_close(lines *l);

/* Skips blank lines at the end of the file and refuses them in other places. */
roofs_status lines_next(lines *l, roofs_error *err);

/* A view of the record after the current one, blank or not; NULL at the end. The current record
 * stays valid, but moves: read it from `record` again. */
roofs_status lines_peek(lines *l, const char **next, const char **next_end, roofs_error *err);

/* Makes the next lines_next return the current record again. */
void lines_unread(lines *l);

#endif
