/* Structs of the public header that begin with their size. The caller may have been compiled with
 * another version of the header, so its struct may be shorter or longer than the library's. */
#ifndef BASE_SIZED_H
#define BASE_SIZED_H

#include "base/status.h"

/* One struct of the header, as this library knows it. */
typedef struct sized_type {
    const char *name;
    size_t size;  /* now */
    size_t first; /* in the first version: the least that a caller can have */
} sized_type;

/* Copies the caller's `size` bytes into *own. Fields that the caller does not have stay as they
 * are in *own. BAD_CALL if the size cannot be right, or if the caller has set a field that this
 * library does not know. */
roofs_status sized_import(const sized_type *type, void *own, const void *given, size_t size,
                          roofs_error *err);

/* Copies *own into the caller's `size` bytes and not beyond. Fields that this library does not know
 * become 0. Nothing happens if `to` is NULL. */
void sized_export(const sized_type *type, void *to, size_t size, const void *own);

#endif
