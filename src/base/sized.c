#include "base/sized.h"

#include <string.h>

enum { SIZE_MOST = 4096 }; /* no struct of the header will ever be larger */

static int bytes_are_zero(const char *bytes, size_t count)
{
    for (size_t k = 0; k < count; k++)
        if (bytes[k] != 0)
            return 0;
    return 1;
}

roofs_status sized_import(const sized_type *type, void *own, const void *given, size_t size,
                          roofs_error *err)
{
    if (size < type->first || size > SIZE_MOST || size % sizeof size != 0)
        return fail(err, ROOFS_BAD_CALL, "%s: a struct_size of %zu is not possible", type->name,
                    size);
    const size_t known = size < type->size ? size : type->size;
    if (!bytes_are_zero((const char *)given + known, size - known))
        return fail(
            err, ROOFS_BAD_CALL,
            "%s: a field is set that version %s of roofs does not have; set it to 0 or use a "
            "newer library",
            type->name, roofs_version());
    memcpy(own, given, known);
    memcpy(own, &type->size, sizeof type->size);
    return ROOFS_OK;
}

void sized_export(const sized_type *type, void *to, size_t size, const void *own)
{
    const size_t known = size < type->size ? size : type->size;
    if (!to || size < sizeof known)
        return;
    memcpy(to, own, known);
    memset((char *)to + known, 0, size - known);
    memcpy(to, &known, sizeof known);
}
