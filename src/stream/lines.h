/* The records of a text file, one at a time. A record is a line, or several
 * where a quoted field goes over the end of one (RFC 4180). */
#ifndef STREAM_LINES_H
#define STREAM_LINES_H

#include "stream/bytes.h"

typedef struct lines {
    bytes *input; /* borrowed */
    int plain;    /* to be set by the caller: quotes mean nothing, blank lines are passed over */
    char *buffer;
    int64_t capacity, start, end; /* what is not yet given out: buffer[start..end) */
    int input_ended;
    int64_t next_number;
    int again; /* the next record is the last one once more */
    /* the record: a view, valid until the next one is asked for */
    const char *record, *record_end; /* without the line end; NULL past the last */
    int64_t number;                  /* its first line in the file, from 1 */
} lines;

roofs_status lines_open(lines *l, bytes *input, roofs_error *err);
void lines_close(lines *l);

/* Blank lines are passed over at the end of the file and refused before it. */
roofs_status lines_next(lines *l, roofs_error *err);

/* Makes the next lines_next give the current record again. */
void lines_give_back(lines *l);

#endif
