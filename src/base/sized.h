/* Structs of the public header that begin with their size. The caller may have been compiled with
 * another version of the header, so its struct may be shorter or longer than the library's. */
#ifndef BASE_SIZED_H
#define BASE_SIZED_H

#include "base/status.h"

/* A struct of the header, in this version of the library. */
typedef struct sized_type {
    const char *name;
    size_t size;  /* now */
    size_t first; /* in version 0.2.0; the struct of a caller is never smaller */
} sized_type;

/* Copies the caller's `size` bytes into *own. Fields that are missing in the caller's struct do not
 * change in *own. BAD_CALL if the size is not possible, or if the caller has set a field that is
 * missing in this library. */
roofs_status sized_import(const sized_type *type, void *own, const void *given, size_t size,
                          roofs_error *err);

/* Copies *own into the caller's `size` bytes. Fields that are missing in this library become 0.
 * Does nothing if `to` is NULL. */
void sized_export(const sized_type *type, void *to, size_t size, const void *own);

#endif
