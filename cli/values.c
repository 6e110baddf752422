/* Converts the text of an option and stores the value. */
#include "base/status.h"
#include "cli/choose_mu.h"
#include "cli/options.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

/* The factor of a unit such as M, MB or MiB; 0 if it is not a unit. */
static double unit_factor(const char *unit)
{
    static const char letters[] = "kmgtp";
    if (*unit == '\0' || strcasecmp(unit, "b") == 0)
        return 1;
    const char *letter = strchr(letters, *unit | 0x20);
    if (!letter)
        return 0;
    const int is_binary = unit[1] == '\0' || strcasecmp(unit + 1, "ib") == 0;
    if (!is_binary && strcasecmp(unit + 1, "b") != 0)
        return 0;
    double factor = 1;
    for (const char *at = letters; at <= letter; at++)
        factor *= is_binary ? 1024 : 1000;
    return factor;
}

/* Converts "500M", "2GiB" or "1.5 GB" to bytes. K, M, ... and KiB, MiB, ... are powers of 1024; KB,
 * MB, ... are powers of 1000. Returns 0 if `text` is not a size. */
static int parse_size(const char *text, int64_t *bytes)
{
    char *end = NULL;
    double number = strtod(text, &end);
    double factor = end == text ? 0 : unit_factor(end + strspn(end, " "));
    double size = number * factor;
    if (factor == 0 || !(size >= 0 && size < 9e18))
        return 0;
    *bytes = (int64_t)size;
    return 1;
}

void option_range(const option_row *row, char *text, size_t size)
{
    if (row->low >= row->high)
        text[0] = '\0';
    else if (row->high >= 1e15) /* no practical limit */
        snprintf(text, size, "at least %.15g", row->low);
    else
        snprintf(text, size, "%.15g to %.15g", row->low, row->high);
}

static roofs_status refuse_value(const option_row *row, const char *kind, const char *text,
                                 roofs_error *err)
{
    char range[80];
    option_range(row, range, sizeof range);
    return fail(err, ROOFS_BAD_SETTING, "--%s must be %s%s%s%s, not '%s'", row->name, kind,
                range[0] ? " (" : "", range, range[0] ? ")" : "", text);
}

static roofs_status store_count(const option_row *row, void *place, const char *text,
                                roofs_error *err)
{
    char *end = NULL;
    errno = 0;
    long long number = strtoll(text, &end, 10);
    if (end == text || *end || errno == ERANGE || (double)number < row->low ||
        (double)number > row->high)
        return refuse_value(row, "a whole number", text, err);
    *(int64_t *)place = number;
    return ROOFS_OK;
}

static roofs_status store_real(const option_row *row, void *place, const char *text,
                               roofs_error *err)
{
    char *end = NULL;
    double number = strtod(text, &end);
    if (end == text || *end || !(number >= row->low && number <= row->high))
        return refuse_value(row, "a number", text, err);
    *(double *)place = number;
    return ROOFS_OK;
}

static roofs_status store_choice(const option_row *row, void *place, const char *text,
                                 roofs_error *err)
{
    char words[300];
    int64_t k = 0;
    while (option_word(row, k) && strcmp(option_word(row, k), text) != 0)
        k++;
    option_words(row, ", ", words, sizeof words);
    if (!option_word(row, k))
        return fail(err, ROOFS_BAD_SETTING, "unknown --%s '%s'; choose one of: %s", row->name, text,
                    words);
    *(int64_t *)place = k;
    return ROOFS_OK;
}

int setting_is_memory(const char *name)
{
    static const char last[] = "memory";
    size_t length = strlen(name), ending = sizeof last - 1;
    return length >= ending && strcmp(name + length - ending, last) == 0;
}

/* Replaces the name of a setting at the start of a message: max_iter becomes --max-iter. */
static void name_as_option(const option_row *row, roofs_error *err)
{
    size_t length = strlen(row->setting);
    roofs_error plain = *err;
    if (strncmp(plain.text, row->setting, length) == 0)
        snprintf(err->text, sizeof err->text, "--%.*s%s", OPTION_NAME_MOST, row->name,
                 plain.text + length);
}

static roofs_status store_setting(const option_row *row, void *settings, const char *text,
                                  roofs_error *err)
{
    char digits[24];
    int64_t bytes = 0;
    int is_memory = setting_is_memory(row->setting);
    if (is_memory && !parse_size(text, &bytes))
        return fail(err, ROOFS_BAD_SETTING, "--%s must be a size such as 500M or 2GiB, not '%s'",
                    row->name, text);
    if (strcmp(row->setting, "mu") == 0 && strcmp(text, "auto") == 0) {
        ((roofs_settings *)settings)->mu = MU_AUTO;
        return ROOFS_OK;
    }
    if (is_memory) {
        snprintf(digits, sizeof digits, "%" PRId64, bytes);
        text = digits;
    }
    roofs_status status = roofs_settings_set(settings, row->setting, text, err);
    if (status != ROOFS_OK)
        name_as_option(row, err);
    return status;
}

roofs_status option_store(const option_row *row, void *args, const char *text, roofs_error *err)
{
    void *place = (char *)args + row->at;
    switch (row->kind) {
    case OPTION_FLAG:
        *(int *)place = 1;
        return ROOFS_OK;
    case OPTION_TEXT:
        *(const char **)place = text;
        return ROOFS_OK;
    case OPTION_COUNT:
        return store_count(row, place, text, err);
    case OPTION_REAL:
        return store_real(row, place, text, err);
    case OPTION_CHOICE:
        return store_choice(row, place, text, err);
    case OPTION_SETTING:
        return store_setting(row, place, text, err);
    case OPTION_SETTING_ON:
        return roofs_settings_set(place, row->setting, "1", err);
    case OPTION_SETTING_OFF:
        return roofs_settings_set(place, row->setting, "0", err);
    }
    return ROOFS_OK;
}
