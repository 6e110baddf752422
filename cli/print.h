/* Words and numbers for people, JSON for programs. */
#ifndef CLI_PRINT_H
#define CLI_PRINT_H

#include "roofs/roofs.h"

#include <jansson.h>
#include <stdio.h>

/* "roofs VERB: ..." on standard error, with the line end. */
void complain(const char *who, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Prints the reason of a failure; returns `code`, the code to exit with. */
int exit_with(const char *who, const roofs_error *err, int code);

/* complain, then where to find help; returns EXIT_USAGE. */
int usage_error(const char *who, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Texts of bounded length, passed by value: no buffers at the call. */
typedef struct short_text {
    char text[40];
} short_text;

short_text text_of_count(int64_t count);             /* 1,234,567 */
short_text text_of_bytes(double bytes);              /* 83.9 MiB */
short_text text_of_seconds(double seconds);          /* 0.42 s, 3 min 20 s */
short_text text_of_share(double part, double whole); /* 87.5% */

/* The name of a feature fit for a terminal, at most `width` columns, padded to
 * them; "feature 12" where it has none. */
void print_feature(FILE *file, const roofs_feature *feature, int width);

int terminal_width(FILE *file); /* 80 where it is no terminal */
int speaks_utf8(void);          /* do LC_ALL, LC_CTYPE or LANG say so? */
int wants_colour(FILE *file);   /* a terminal, and NO_COLOR not set */

/* Wraps a paragraph (lines of `text` are paragraphs) at `width`, every line
 * after the first indented by `indent`; `used` columns of the first are taken. */
void print_wrapped(FILE *file, const char *text, int width, int indent, int used);

/* One object on one line; the reference is given up. Real numbers have 17
 * digits; what is not finite is null. Returns an exit code. */
int print_json(json_t *object);
json_t *json_number(double value);

double seconds_now(void); /* of a clock that only goes forward */

#endif
