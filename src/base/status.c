#include "base/status.h"

#include "base/escape.h"

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

#define WARNING_WORD(name, flag, word, text) word,
#define WARNING_TEXT(name, flag, word, text) text,
static const char *const warning_words[] = {ROOFS_WARNING_LIST(WARNING_WORD)};
static const char *const warning_texts[] = {ROOFS_WARNING_LIST(WARNING_TEXT)};
#undef WARNING_WORD
#undef WARNING_TEXT

static int is_warning(int64_t k)
{
    return k >= 0 && k < (int64_t)(sizeof warning_words / sizeof *warning_words);
}

const char *roofs_warning_name(int64_t k)
{
    return is_warning(k) ? warning_words[k] : NULL;
}

const char *roofs_warning_text(int64_t k)
{
    return is_warning(k) ? warning_texts[k] : NULL;
}

roofs_status fail(roofs_error *err, roofs_status status, const char *format, ...)
{
    if (!err)
        return status;
    err->status = status;
    err->feature = -1;
    memset(err->reserved, 0, sizeof err->reserved);
    char plain[sizeof err->text];
    va_list args;
    va_start(args, format);
    vsnprintf(plain, sizeof plain, format, args);
    va_end(args);
    escape_text(plain, err->text, sizeof err->text);
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
