/* The verbs of the program. A new verb is one file and one line in verbs.c. */
#ifndef CLI_VERBS_H
#define CLI_VERBS_H

#include "cli/options.h"

enum {
    EXIT_FINE = 0,
    EXIT_FAILED = 1,
    EXIT_USAGE = 2,
    EXIT_DATA = 3,
    EXIT_MEMORY = 5,
    EXIT_SIGNAL = 128 /* plus the number of the signal */
};

typedef struct example {
    const char *what; /* one line: the purpose */
    const char *line; /* the command */
} example;

/* EXECUTION: those that only change how a fit runs; without the option, as the fit was saved. */
typedef enum verb_settings { SETTINGS_NONE = 0, SETTINGS_ALL, SETTINGS_EXECUTION } verb_settings;

typedef struct verb {
    const char *name;
    const char *summary;     /* one line, lower case, no full stop */
    const char *usage;       /* the arguments of the verb */
    const char *about;       /* paragraphs for --help and the man page, or NULL */
    const example *examples; /* the last row is {NULL, NULL} */
    const option_row *rows;  /* the last row has no name */
    verb_settings settings;  /* which settings of the library are options, too */
    size_t settings_at;      /* offset of the roofs_settings in the arguments */
    int (*main)(int argc, char **argv);
} verb;

extern const verb simulate_verb, fit_verb, resume_verb, evaluate_verb, predict_verb, convert_verb,
    inspect_verb, report_verb, reproduce_verb, bench_verb, help_verb;

/* Verb k, counted from 0; NULL past the last. */
const verb *verb_at(int64_t k);
const verb *verb_find(const char *name); /* NULL if the name is not a verb */

/* The code to exit with after an error. With exit_after_input a file that cannot be read is bad
 * input. */
int exit_after(roofs_status status);
int exit_after_input(roofs_status status);

#endif
