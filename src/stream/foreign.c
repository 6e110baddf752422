#include "stream/foreign.h"

#include <string.h>

typedef struct foreign_format {
    const char *magic, *name;
} foreign_format;

static const foreign_format foreign_formats[] = {{"PAR1", "Parquet"},
                                                 {"ARROW1", "Arrow (Feather)"},
                                                 {"FEA1", "Feather"},
                                                 {"\xff\xff\xff\xff", "Arrow stream"}};

static int begins_with(const unsigned char *start, int64_t length, const char *magic)
{
    return length >= (int64_t)strlen(magic) && memcmp(start, magic, strlen(magic)) == 0;
}

roofs_status foreign_refuse(const unsigned char *start, int64_t length, const char *name,
                            roofs_error *err)
{
    for (size_t k = 0; k < sizeof foreign_formats / sizeof *foreign_formats; k++)
        if (begins_with(start, length, foreign_formats[k].magic))
            return fail(err, ROOFS_BAD_DATA,
                        "%s is a file of the format %s; the Python package reads it, and prints it "
                        "as a text table: python3 -m roofs.table FILE | roofs fit - --y COLUMN",
                        name, foreign_formats[k].name);
    return ROOFS_OK;
}
