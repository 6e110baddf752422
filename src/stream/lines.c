#include "stream/lines.h"

#include "base/memory.h"

#include <string.h>

enum { FIRST_CAPACITY = 1 << 18 };

roofs_status lines_open(lines *l, bytes *input, roofs_error *err)
{
    *l = (lines){.input = input, .next_number = 1};
    TRY(memory_grow(&l->buffer, &l->capacity, FIRST_CAPACITY, 1, "a text buffer", err));
    TRY(bytes_read(input, l->buffer, l->capacity, &l->end, err));
    l->input_ended = l->end < l->capacity;
    if (l->end >= 3 && memcmp(l->buffer, "\xef\xbb\xbf", 3) == 0)
        l->start = 3; /* the byte order mark of UTF-8 */
    return ROOFS_OK;
}

void lines_close(lines *l)
{
    memory_free(l->buffer);
    *l = (lines){0};
}

/* Moves the unfinished record, or with `hold` the record before it, to the start of the buffer and
 * reads more behind it. */
static roofs_status lines_refill(lines *l, roofs_error *err)
{
    int64_t got, from = l->hold ? l->record - l->buffer : l->start;
    const int64_t length = l->hold ? l->record_end - l->record : 0;
    l->end -= from;
    l->start -= from;
    memmove(l->buffer, l->buffer + from, (size_t)l->end);
    roofs_status status =
        memory_grow(&l->buffer, &l->capacity, l->end + FIRST_CAPACITY / 2, 1, "a text buffer", err);
    if (l->hold) {
        l->record = l->buffer;
        l->record_end = l->record + length;
    }
    TRY(status);
    TRY(bytes_read(l->input, l->buffer + l->end, l->capacity - l->end, &got, err));
    l->end += got;
    l->input_ended = l->end < l->capacity;
    return ROOFS_OK;
}

static int has_open_quote(const char *text, const char *end, int open)
{
    while ((text = memchr(text, '"', (size_t)(end - text))) != NULL) {
        open = !open;
        text++;
    }
    return open;
}

/* Finds the length of the record at `start` without its line end, and its number of lines. */
static roofs_status lines_measure_record(lines *l, int64_t *length, int64_t *line_count,
                                         roofs_error *err)
{
    int64_t line = 0, searched = 0; /* offsets from l->start */
    int open = 0;
    *line_count = 1;
    for (;;) {
        const char *from = l->buffer + l->start;
        const char *found = memchr(from + searched, '\n', (size_t)(l->end - l->start - searched));
        if (!found && !l->input_ended) {
            searched = l->end - l->start;
            TRY(lines_refill(l, err));
            continue;
        }
        *length = found ? found - from : l->end - l->start;
        open = !l->plain && has_open_quote(from + line, from + *length, open);
        if (!open)
            return ROOFS_OK;
        if (!found)
            return fail(err, ROOFS_BAD_DATA, "%s, line %lld: a quote is opened and never closed",
                        bytes_name(l->input), (long long)l->next_number);
        line = searched = *length + 1;
        ++*line_count;
    }
}

/* Reads the next record, blank or not. */
static roofs_status lines_read_record(lines *l, roofs_error *err)
{
    int64_t length, line_count;
    if (l->start == l->end && !l->input_ended)
        TRY(lines_refill(l, err));
    if (l->start == l->end) {
        l->record = l->record_end = NULL;
        return ROOFS_OK;
    }
    TRY(lines_measure_record(l, &length, &line_count, err));
    l->record = l->buffer + l->start;
    l->record_end = l->record + length;
    if (l->record_end > l->record && l->record_end[-1] == '\r')
        l->record_end--;
    l->number = l->next_number;
    l->next_number += line_count;
    l->start += length + 1;
    if (l->start > l->end) /* the last line has no line end */
        l->start = l->end;
    return ROOFS_OK;
}

static int lines_record_is_blank(const lines *l)
{
    const char *at = l->record;
    while (at < l->record_end && *at == ' ')
        at++;
    return at == l->record_end;
}

roofs_status lines_next(lines *l, roofs_error *err)
{
    if (l->again) {
        l->again = 0;
        return ROOFS_OK;
    }
    int64_t blank = 0;
    TRY(lines_read_record(l, err));
    while (l->record && lines_record_is_blank(l)) {
        blank = blank ? blank : l->number;
        TRY(lines_read_record(l, err));
    }
    if (blank && l->record && !l->plain)
        return fail(err, ROOFS_BAD_DATA, "%s, line %lld: this line is blank, but data follows",
                    bytes_name(l->input), (long long)blank);
    return ROOFS_OK;
}

static roofs_status lines_measure_next(lines *l, int64_t *length, roofs_error *err)
{
    int64_t line_count;
    *length = -1;
    if (l->start == l->end && !l->input_ended)
        TRY(lines_refill(l, err));
    return l->start == l->end ? ROOFS_OK : lines_measure_record(l, length, &line_count, err);
}

roofs_status lines_peek(lines *l, const char **next, const char **next_end, roofs_error *err)
{
    int64_t length;
    l->hold = 1;
    roofs_status status = lines_measure_next(l, &length, err);
    l->hold = 0;
    *next = *next_end = NULL;
    if (status || length < 0)
        return status;
    *next = l->buffer + l->start;
    *next_end = *next + length;
    if (length > 0 && (*next_end)[-1] == '\r')
        --*next_end;
    return ROOFS_OK;
}

void lines_unread(lines *l)
{
    l->again = 1;
}
