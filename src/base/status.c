#include "base/status.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

const char *roofs_status_text(roofs_status status)
{
    switch (status) {
#define STATUS_CASE(name, number, text)                                                            \
    case ROOFS_##name:                                                                             \
        return text;
        ROOFS_STATUS_LIST(STATUS_CASE)
#undef STATUS_CASE
    }
    return "unknown status";
}

const char *roofs_stop_text(roofs_stop stop)
{
    switch (stop) {
#define STOP_CASE(name, number, text)                                                              \
    case ROOFS_STOP_##name:                                                                        \
        return text;
        ROOFS_STOP_LIST(STOP_CASE)
#undef STOP_CASE
    }
    return NULL;
}

const char *roofs_hypothesis_text(int64_t hypothesis)
{
    switch (hypothesis) {
#define HYPOTHESIS_CASE(name, number, text)                                                        \
    case ROOFS_HYPOTHESIS_##name:                                                                  \
        return text;
        ROOFS_HYPOTHESIS_LIST(HYPOTHESIS_CASE)
#undef HYPOTHESIS_CASE
    }
    return NULL;
}

roofs_status fail(roofs_error *err, roofs_status status, const char *format, ...)
{
    if (!err)
        return status;
    err->status = status;
    err->feature = -1;
    memset(err->reserved, 0, sizeof err->reserved);
    va_list args;
    va_start(args, format);
    vsnprintf(err->text, sizeof err->text, format, args);
    va_end(args);
    return status;
}

roofs_status blame(roofs_error *err, int64_t feature, roofs_status status)
{
    if (err)
        err->feature = feature;
    return status;
}

const char *roofs_version(void)
{
    return ROOFS_VERSION;
}
