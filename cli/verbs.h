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
    EXIT_SIGNAL = 128 /* + the number of the signal */
};

typedef struct example {
    const char *what; /* one line: what it does */
    const char *line; /* what to type */
} example;

typedef struct verb {
    const char *name;
    const char *summary;     /* one line, lower case, no full stop */
    const char *usage;       /* what follows the verb on the command line */
    const char *about;       /* paragraphs for --help and the man page, or NULL */
    const example *examples; /* ended by a row of NULLs */
    const option_row *rows;  /* ended by a row without a name */
    int has_settings;        /* append the rows of the library's settings table */
    size_t settings_at;      /* offsetof the roofs_settings in the verb's arguments */
    int (*main)(int argc, char **argv);
} verb;

extern const verb simulate_verb, fit_verb, resume_verb, evaluate_verb, predict_verb, convert_verb,
    inspect_verb, report_verb, reproduce_verb, bench_verb, help_verb;

/* Verb k, counted from 0; NULL past the last. */
const verb *verb_at(int64_t k);
const verb *verb_find(const char *name); /* NULL where there is none */

/* The code to exit with after a failure. exit_after_input is for input files: one that cannot be
 * read is bad input. */
int exit_after(roofs_status status);
int exit_after_input(roofs_status status);

#endif
