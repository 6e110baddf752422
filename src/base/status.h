/* Errors are values: a status as return value, its text in a roofs_error. */
#ifndef BASE_STATUS_H
#define BASE_STATUS_H

#include "roofs/roofs.h"

#define TRY(call)                                                                                  \
    do {                                                                                           \
        roofs_status try_status_ = (call);                                                         \
        if (try_status_ != ROOFS_OK)                                                               \
            return try_status_;                                                                    \
    } while (0)

/* Fills *err, which may be NULL, and returns `status`. The text is escaped: see base/escape.h. */
roofs_status fail(roofs_error *err, roofs_status status, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* For public calls: BAD_CALL if the argument `pointer` is NULL. */
#define REQUIRE(pointer)                                                                           \
    do {                                                                                           \
        if (!(pointer))                                                                            \
            return fail(err, ROOFS_BAD_CALL, "%s: %s must not be NULL", __func__, #pointer);       \
    } while (0)

/* Sets the feature that caused the failure in *err; returns `status`. */
roofs_status blame(roofs_error *err, int64_t feature, roofs_status status);

#endif
