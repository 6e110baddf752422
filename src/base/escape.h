/* Text from files and command lines, made safe to print: a name must not move the cursor, change
 * the order of other letters or look like a line of its own. Every message and every name that is
 * printed goes through escape_next. */
#ifndef BASE_ESCAPE_H
#define BASE_ESCAPE_H

#include <stddef.h>
#include <stdint.h>

/* The character at *text, before `end`, in UTF-8; moves *text behind it. A byte that is not UTF-8
 * gives -1 and moves *text by one. */
int32_t utf8_next(const char **text, const char *end);

/* Writes the next character of *text, which ends with 0, to `out`: itself, or for characters that
 * are not safe \n, \x1b, \u202e, \U000e0020, and \x.. for a byte that is not UTF-8. Moves *text and
 * returns the number of bytes, without a final 0. Escaped text stays the same if it is escaped
 * again. */
enum { ESCAPE_MOST = 10 };
size_t escape_next(const char **text, char out[ESCAPE_MOST + 1]);

/* The same for JSON before `end`, where \x.. and \U........ do not exist. Control characters below
 * 32 stay: within a text JSON has escaped them, elsewhere they are line ends. */
size_t escape_next_json(const char **text, const char *end, char out[2 * ESCAPE_MOST + 1]);

/* Writes all of `text`, or the characters that fit, and a final 0 to out[size]. */
void escape_text(const char *text, char *out, size_t size);

#endif
