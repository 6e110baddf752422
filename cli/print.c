#include "cli/print.h"

#include "base/escape.h"
#include "cli/folder.h"
#include "cli/verbs.h"

#include <inttypes.h>
#include <limits.h>
#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <time.h>
#include <unistd.h>

static void print_message(const char *who, const char *format, va_list list)
{
    char text[2 * PATH_MOST];
    vsnprintf(text, sizeof text, format, list);
    fprintf(stderr, "roofs%s%s: ", who ? " " : "", who ? who : "");
    print_clean(stderr, text, INT_MAX);
    fputc('\n', stderr);
}

void complain(const char *who, const char *format, ...)
{
    va_list list;
    va_start(list, format);
    print_message(who, format, list);
    va_end(list);
}

int exit_with(const char *who, const roofs_error *err, int code)
{
    complain(who, "%s", err->text);
    return code;
}

int usage_error(const char *who, const char *format, ...)
{
    va_list list;
    va_start(list, format);
    print_message(who, format, list);
    va_end(list);
    fprintf(stderr, "See 'roofs %s%s--help'.\n", who ? who : "", who ? " " : "");
    return EXIT_USAGE;
}

/* ---- numbers ----------------------------------------------------------- */

short_text text_of_count(int64_t count)
{
    char digits[24];
    int length = snprintf(digits, sizeof digits, "%" PRId64, count);
    short_text out = {""};
    size_t to = 0;
    for (int i = 0; i < length; i++) {
        int left = length - i;
        if (i > 0 && left % 3 == 0 && digits[i - 1] != '-')
            out.text[to++] = ',';
        out.text[to++] = digits[i];
    }
    out.text[to] = '\0';
    return out;
}

const char *plural(int64_t count)
{
    return count == 1 ? "" : "s";
}

short_text text_of_real(double value)
{
    short_text out;
    if (fabs(value) >= 1e4 && fabs(value) < 1e9)
        return text_of_count((int64_t)round(value));
    snprintf(out.text, sizeof out.text, "%.4g", value);
    return out;
}

short_text text_of_bytes(double bytes)
{
    static const char *const units[] = {"bytes", "KiB", "MiB", "GiB", "TiB", "PiB"};
    size_t unit = 0;
    while (bytes >= 1024 && unit + 1 < sizeof units / sizeof *units) {
        bytes /= 1024;
        unit++;
    }
    short_text out;
    snprintf(out.text, sizeof out.text, "%.*f %s", unit > 0, bytes, units[unit]);
    return out;
}

short_text text_of_seconds(double seconds)
{
    short_text out;
    int64_t whole = (int64_t)seconds;
    if (seconds < 60)
        snprintf(out.text, sizeof out.text, "%.2f s", seconds);
    else if (seconds < 3600)
        snprintf(out.text, sizeof out.text, "%" PRId64 " min %02" PRId64 " s", whole / 60,
                 whole % 60);
    else
        snprintf(out.text, sizeof out.text, "%" PRId64 " h %02" PRId64 " min", whole / 3600,
                 whole / 60 % 60);
    return out;
}

short_text text_of_share(double part, double whole)
{
    short_text out;
    snprintf(out.text, sizeof out.text, "%.1f%%", whole > 0 ? 100 * part / whole : 0.0);
    return out;
}

double seconds_now(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

/* ---- the terminal ------------------------------------------------------ */

int terminal_width(FILE *file)
{
    struct winsize size;
    int known = isatty(fileno(file)) && ioctl(fileno(file), TIOCGWINSZ, &size) == 0;
    if (!known || size.ws_col == 0)
        return 80;
    return size.ws_col < 40 ? 40 : size.ws_col;
}

/* The first variable that is set decides, as in the C library. */
int terminal_is_utf8(void)
{
    static const char *const names[] = {"LC_ALL", "LC_CTYPE", "LANG"};
    for (size_t k = 0; k < sizeof names / sizeof *names; k++) {
        const char *value = getenv(names[k]);
        if (!value || !*value)
            continue;
        const char *dot = strchr(value, '.');
        return dot &&
               (strncasecmp(dot + 1, "utf-8", 5) == 0 || strncasecmp(dot + 1, "utf8", 4) == 0);
    }
    return 0;
}

int terminal_colour(FILE *file)
{
    const char *refused = getenv("NO_COLOR");
    const char *terminal = getenv("TERM");
    return isatty(fileno(file)) && !(refused && *refused) &&
           !(terminal && strcmp(terminal, "dumb") == 0);
}

/* ---- text -------------------------------------------------------------- */

/* All bytes of a character in UTF-8 but its first. */
static int is_continuation(char c)
{
    return ((unsigned char)c & 0xC0) == 0x80;
}

int text_columns(const char *text)
{
    int columns = 0;
    for (; *text; text++)
        columns += !is_continuation(*text);
    return columns;
}

int print_clean(FILE *file, const char *text, int width)
{
    int used = 0;
    while (*text) {
        char next[ESCAPE_MOST + 1];
        next[escape_next(&text, next)] = '\0';
        const int columns = text_columns(next);
        if (used + columns > width)
            break;
        fputs(next, file);
        used += columns;
    }
    return used;
}

void print_feature(FILE *file, const roofs_feature *feature, int width)
{
    char number[40];
    snprintf(number, sizeof number, "feature %" PRId64, feature->index);
    int used = print_clean(file, feature->name ? feature->name : number, width);
    fprintf(file, "%*s", width - used, "");
}

void print_wrapped(FILE *file, const char *text, int width, int indent, int used)
{
    int fresh = 1; /* the line is empty */
    while (*text) {
        size_t length = strcspn(text, " \n");
        if (*text == '\n' || (!fresh && used + 1 + (int)length > width)) {
            text += *text == '\n';
            fprintf(file, "\n%*s", *text == '\n' ? 0 : indent, ""); /* no blanks on empty lines */
            used = indent;
            fresh = 1;
            continue;
        }
        fprintf(file, "%s%.*s", fresh ? "" : " ", (int)length, text);
        used += (int)length + !fresh;
        fresh = 0;
        text += length;
        text += *text == ' ';
    }
    fputc('\n', file);
}

/* ---- JSON -------------------------------------------------------------- */

json_t *json_number(double value)
{
    return isfinite(value) ? json_real(value) : json_null();
}

int print_json(json_t *object)
{
    char *text = object ? json_dumps(object, JSON_REAL_PRECISION(17)) : NULL;
    json_decref(object);
    if (!text) {
        complain(NULL, "no memory for the JSON object");
        return EXIT_FAILED;
    }
    for (const char *at = text, *end = text + strlen(text); at < end;) {
        char next[2 * ESCAPE_MOST + 1];
        const size_t length = escape_next_json(&at, end, next);
        fwrite(next, 1, length, stdout);
    }
    putchar('\n');
    free(text);
    return EXIT_FINE;
}
