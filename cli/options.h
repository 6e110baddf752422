/* One table per verb says which options it takes. Parsing, --help, the man page,
 * shell completion and suggestions for mistyped options all come from it. */
#ifndef CLI_OPTIONS_H
#define CLI_OPTIONS_H

#include "roofs/roofs.h"

#include <stddef.h>

typedef enum option_kind {
    OPTION_FLAG = 0,   /* int: 1 when given */
    OPTION_TEXT,       /* const char * */
    OPTION_COUNT,      /* int64_t within low..high */
    OPTION_REAL,       /* double within low..high */
    OPTION_CHOICE,     /* int64_t: which of `choice` */
    OPTION_SETTING,    /* a field of a roofs_settings, set from the value */
    OPTION_SETTING_ON, /* the same for a flag that stands at 0: takes no value */
    OPTION_SETTING_OFF /* the same for a flag that stands at 1: --no-... */
} option_kind;

typedef const char *(*option_choices)(int64_t k); /* name k; NULL past the last */

typedef struct option_row {
    const char *name; /* the long form, without its dashes */
    int letter;       /* the short form, or 0 */
    option_kind kind;
    size_t at;            /* offsetof the place of the value in the verb's arguments */
    const char *value;    /* what it takes, as help shows it: FILE, N, ... */
    const char *standard; /* the default, as a person would type it; NULL = none */
    int required;
    double low, high;
    option_choices choice; /* the words of OPTION_CHOICE */
    const char *help;
    const char *setting;            /* name in the settings table, for OPTION_SETTING* */
    const struct option_row *group; /* these rows instead of one, see GROUP */
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

/* Options that several verbs have; each verb says what they do there. */
#define OUTPUT(args, field, word) TEXT(args, field, "output", word), .letter = 'o'
#define QUIET(args, field) FLAG(args, field, "quiet"), .letter = 'q'
#define THREADS(args, field) COUNT(args, field, "threads", 0, 4096)

/* All rows of another table, for a struct that is a member of the arguments. */
#define GROUP(args, field, table) .group = (table), .at = offsetof(args, field)

enum { OPTION_MOST = 64, OPTION_NAME_MOST = 48, OPTION_HELP_MOST = 200 };

/* The rows of a verb with those of the settings table and --help behind them.
 * Rows point into `names` and `helps`: a list is not to be copied. */
typedef struct option_list {
    int64_t count;
    option_row rows[OPTION_MOST];
    char names[OPTION_MOST][OPTION_NAME_MOST];
    char helps[OPTION_MOST][OPTION_HELP_MOST];
} option_list;

struct verb;

void options_of(const struct verb *v, option_list *list);
int option_takes_value(const option_row *row);

/* Word c of an option that takes one of several words, also of a setting; NULL past the last. */
const char *option_word(const option_row *row, int64_t c);

/* The words of the setting device, for verbs that have such an option of their own. */
const char *device_word(int64_t c);

/* "1 to 10", "at least 1"; empty where the option has no range. */
void option_range(const option_row *row, char *text, size_t size);

/* What stands on the command line beside the options. */
typedef struct operands {
    const char *const *values;
    int64_t count;
} operands;

enum { OPTIONS_FINE = -1 };

/* Fills *args, a struct of the verb, from the defaults and the command line
 * (argv[0] is the verb). Returns OPTIONS_FINE or, after --help or a mistake that
 * has been explained, the code to exit with. */
int options_parse(const struct verb *v, void *args, int argc, char **argv, operands *rest);

/* Stores `text` at its place in args; a failure names the option and its range. */
roofs_status option_store(const option_row *row, void *args, const char *text, roofs_error *err);

/* Memory is the one kind of setting people write with units. */
int setting_is_memory(const char *name);

/* "500M", "2GiB", "1.5 GB" in bytes: K M G T and KiB.. count in 1024, KB.. in
 * 1000. Returns 0 where `text` is no such number. */
int parse_size(const char *text, int64_t *bytes);

#endif
