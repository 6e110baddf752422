/* Messages, numbers and names for a terminal, and JSON. */
#ifndef CLI_PRINT_H
#define CLI_PRINT_H

#include "roofs/roofs.h"

#include <jansson.h>
#include <stdio.h>

/* Prints "roofs VERB: ..." and a line end on standard error. `who` is the verb, or NULL. */
void complain(const char *who, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Prints the error; returns `code`, the code to exit with. */
int exit_with(const char *who, const roofs_error *err, int code);

/* Prints the message and a line with the command for help; returns EXIT_USAGE. */
int usage_error(const char *who, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* A text that is returned by value: the caller needs no buffer. */
typedef struct short_text {
    char text[40];
} short_text;

short_text text_of_count(int64_t count);             /* 1,234,567 */
const char *plural(int64_t count);                   /* "" or "s" */
short_text text_of_real(double value);               /* 0.1234, 47,340, 1.2e+12 */
short_text text_of_bytes(double bytes);              /* 83.9 MiB */
short_text text_of_seconds(double seconds);          /* 0.42 s, 3 min 20 s */
short_text text_of_share(double part, double whole); /* 87.5% */

/* Prints at most `width` columns of a text from a file or the command line, escaped: see
 * base/escape.h. Returns the number of columns. */
int print_clean(FILE *file, const char *text, int width);

/* Prints the name of a feature, or "feature 12" if it has none, cut or padded to `width` columns.
 */
void print_feature(FILE *file, const roofs_feature *feature, int width);

/* Columns of a text on the terminal: characters, not bytes. */
int text_columns(const char *text);

int terminal_width(FILE *file);  /* 80 if it is not a terminal */
int terminal_is_utf8(void);      /* by LC_ALL, LC_CTYPE and LANG */
int terminal_colour(FILE *file); /* true on a terminal, unless NO_COLOR is set */

/* Prints `text`, whose lines are paragraphs, wrapped at `width`. Indents every line after the first
 * by `indent`. `used` columns of the first line are already filled. */
void print_wrapped(FILE *file, const char *text, int width, int indent, int used);

/* Prints an object on one line and releases it. Real numbers have 17 digits. Returns an exit code.
 */
int print_json(json_t *object);
json_t *json_number(double value); /* null if it is not finite */

double seconds_now(void); /* monotonic */

#endif
