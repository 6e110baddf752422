/* A list of strings in one block of memory. */
#ifndef TABLE_NAMES_H
#define TABLE_NAMES_H

#include "base/status.h"

typedef struct names {
    char *text; /* all names, each ended by 0 */
    int64_t used, text_capacity;
    int64_t *starts;
    int64_t count, capacity;
} names; /* an empty list is all zero */

void names_clear(names *list); /* keeps the memory */
void names_free(names *list);

roofs_status names_add(names *list, const char *text, int64_t length, roofs_error *err);

/* A view, valid until the list changes. */
const char *names_get(const names *list, int64_t k);

/* Names are written to JSON, which is UTF-8. */
int names_are_utf8(const char *text, const char *end);

#endif
