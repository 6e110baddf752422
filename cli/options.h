/* The options of a verb are a table. Parsing, --help, the man page, shell completion and
 * suggestions for mistyped options use it. */
#ifndef CLI_OPTIONS_H
#define CLI_OPTIONS_H

#include "roofs/roofs.h"

#include <stddef.h>

typedef enum option_kind {
    OPTION_FLAG = 0,   /* int: 1 when given */
    OPTION_TEXT,       /* const char * */
    OPTION_COUNT,      /* int64_t within low..high */
    OPTION_REAL,       /* double within low..high */
    OPTION_CHOICE,     /* int64_t: the index of the word */
    OPTION_SETTING,    /* a field of a roofs_settings */
    OPTION_SETTING_ON, /* a flag of a roofs_settings with default 0: takes no value */
    OPTION_SETTING_OFF /* a flag of a roofs_settings with default 1: --no-NAME */
} option_kind;

typedef const char *(*option_choices)(int64_t k); /* name k; NULL past the last */

typedef struct option_row {
    const char *name; /* the long form, without its dashes */
    int letter;       /* the short form, or 0 */
    option_kind kind;
    size_t at;            /* offset of the value in the arguments of the verb */
    const char *value;    /* the kind of value, for help: FILE, N, ... */
    const char *standard; /* the default as text; NULL = none */
    int required;
    double low, high;
    option_choices choice;    /* the words of OPTION_CHOICE: a function, */
    const char *const *words; /* or a list that ends with NULL */
    const char *help;
    const char *setting;            /* name in the settings table, for OPTION_SETTING* */
    const struct option_row *group; /* these rows replace this one, see GROUP */
} option_row;

/* The beginning of a row: { FLAG(fit_args, json, "json"), .help = "..." }. `args` is the struct
 * that holds the arguments of the verb, `field` its member for the value. */
#define OPTION_AT(args, field, text, type)                                                         \
    .name = (text), .kind = (type), .at = offsetof(args, field)
#define FLAG(args, field, text) OPTION_AT(args, field, text, OPTION_FLAG)
#define TEXT(args, field, text, word) OPTION_AT(args, field, text, OPTION_TEXT), .value = (word)
#define COUNT(args, field, text, least, most)                                                      \
    OPTION_AT(args, field, text, OPTION_COUNT), .value = "N", .low = (least), .high = (most)
#define REAL(args, field, text, word, least, most)                                                 \
    OPTION_AT(args, field, text, OPTION_REAL), .value = (word), .low = (least), .high = (most)
#define CHOICE(args, field, text, word, words)                                                     \
    OPTION_AT(args, field, text, OPTION_CHOICE), .value = (word), .choice = (words)
#define WORDS(args, field, text, word, ...)                                                        \
    OPTION_AT(args, field, text, OPTION_CHOICE), .value = (word), .words = (const char *const[])   \
    {                                                                                              \
        __VA_ARGS__, NULL                                                                          \
    }

/* Options that several verbs have. Each verb adds its own help. */
#define OUTPUT(args, field, word) TEXT(args, field, "output", word), .letter = 'o'
#define QUIET(args, field) FLAG(args, field, "quiet"), .letter = 'q'
#define THREADS(args, field) COUNT(args, field, "threads", 0, 4096)

/* All rows of another table. They fill `field`, a struct in the arguments. */
#define GROUP(args, field, table) .group = (table), .at = offsetof(args, field)

enum { OPTION_MOST = 96, OPTION_NAME_MOST = 48, OPTION_HELP_MOST = 200 };

/* The rows of a verb, then those of the settings table, then --help. Do not copy a list: its rows
 * point into `names` and `helps`. */
typedef struct option_list {
    int64_t count;
    option_row rows[OPTION_MOST];
    char names[OPTION_MOST][OPTION_NAME_MOST];
    char helps[OPTION_MOST][OPTION_HELP_MOST];
} option_list;

struct verb;

void options_of(const struct verb *v, option_list *list);
int option_takes_value(const option_row *row);

/* Word c of an option or setting with a fixed list of words; NULL past the last. */
const char *option_word(const option_row *row, int64_t c);

/* All words, with `between` between them; empty if the option has no list. */
void option_words(const option_row *row, const char *between, char *text, size_t size);

/* The words of the setting `device`, for verbs with a --device option but without the settings. */
const char *device_word(int64_t c);

/* "1 to 10", "at least 1"; empty if the option has no range. */
void option_range(const option_row *row, char *text, size_t size);

/* The words of the command line that are not options. */
typedef struct operands {
    const char *const *values;
    int64_t count;
} operands;

enum { OPTIONS_FINE = -1 };

/* Fills *args, a struct of the verb, from the defaults and the command line (argv[0] is the verb).
 * Returns OPTIONS_FINE, or the exit code after it has printed the help or an error. */
int options_parse(const struct verb *v, void *args, int argc, char **argv, operands *rest);

/* Converts `text` and stores the value in args. An error names the option and its range. */
roofs_status option_store(const option_row *row, void *args, const char *text, roofs_error *err);

/* True if the setting is a size of memory, which may have a unit. */
int setting_is_memory(const char *name);

#endif
