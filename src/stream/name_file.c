#include "stream/name_file.h"

#include "stream/lines.h"

#include <string.h>

static roofs_status name_file_read_lines(lines *l, names *list, roofs_error *err)
{
    for (;;) {
        TRY(lines_next(l, err));
        if (!l->record)
            return ROOFS_OK;
        if (l->number != list->count + 1)
            return fail(err, ROOFS_BAD_DATA, "%s, line %lld: this line is blank, not a name",
                        bytes_name(l->input), (long long)list->count + 1);
        if (!names_are_utf8(l->record, l->record_end))
            return fail(err, ROOFS_BAD_DATA, "%s, line %lld: the name is not UTF-8",
                        bytes_name(l->input), (long long)l->number);
        if (memchr(l->record, '\0', (size_t)(l->record_end - l->record)))
            return fail(err, ROOFS_BAD_DATA, "%s, line %lld: the name has a zero byte",
                        bytes_name(l->input), (long long)l->number);
        TRY(names_add(list, l->record, l->record_end - l->record, err));
    }
}

static roofs_status name_file_read_all(bytes *input, names *list, roofs_error *err)
{
    lines l;
    roofs_status status = lines_open(&l, input, err);
    l.plain = 1;
    if (!status)
        status = name_file_read_lines(&l, list, err);
    if (!status && list->count == 0)
        status = fail(err, ROOFS_BAD_DATA, "%s holds no names", bytes_name(input));
    lines_close(&l);
    return status;
}

roofs_status name_file_read(const char *path, names *list, roofs_error *err)
{
    bytes *input;
    TRY(bytes_open(&input, path, err));
    roofs_status status = name_file_read_all(input, list, err);
    bytes_close(input);
    return status;
}
