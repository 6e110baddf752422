#include "stream/word_reader.h"

#include "base/memory.h"

#include <string.h>

roofs_status word_reader_open(word_reader *w, const char *path, roofs_error *err)
{
    *w = (word_reader){0};
    TRY(bytes_open(&w->input, path, err));
    roofs_status status = lines_open(&w->lines, w->input, err);
    w->lines.plain = 1;
    if (status != ROOFS_OK)
        word_reader_close(w);
    return status;
}

void word_reader_close(word_reader *w)
{
    lines_close(&w->lines);
    bytes_close(w->input);
    memory_free(w->words);
    *w = (word_reader){0};
}

roofs_status word_reader_fail(const word_reader *w, const char *what, roofs_error *err)
{
    return fail(err, ROOFS_BAD_DATA, "%s, line %lld: %s", bytes_name(w->input),
                (long long)w->lines.number, what);
}

static int is_space(char c)
{
    return c == ' ' || c == '\t';
}

static roofs_status split(word_reader *w, roofs_error *err)
{
    const char *at = w->lines.record, *end = w->lines.record_end;
    w->count = 0;
    while (at < end) {
        while (at < end && is_space(*at))
            at++;
        const char *begin = at;
        while (at < end && !is_space(*at))
            at++;
        if (at == begin)
            break;
        TRY(memory_grow(&w->words, &w->capacity, w->count + 1, sizeof *w->words, "a line", err));
        w->words[w->count++] = (field){begin, at, 0};
    }
    return ROOFS_OK;
}

roofs_status word_reader_next(word_reader *w, int *more, roofs_error *err)
{
    do {
        TRY(lines_next(&w->lines, err));
        *more = w->lines.record != NULL;
        if (!*more)
            return ROOFS_OK;
        TRY(split(w, err));
    } while (w->count == 0);
    const char *begin = w->lines.record, *end = w->lines.record_end;
    if (!names_are_utf8(begin, end))
        return word_reader_fail(w, "the text is not UTF-8", err);
    if (memchr(begin, '\0', (size_t)(end - begin)))
        return word_reader_fail(w, "the line has a zero byte", err);
    return ROOFS_OK;
}

int word_is(field f, const char *text)
{
    return (size_t)word_length(f) == strlen(text) && memcmp(f.begin, text, strlen(text)) == 0;
}
