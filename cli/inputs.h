/* The files of features on the command line, for the verbs that read them. */
#ifndef CLI_INPUTS_H
#define CLI_INPUTS_H

#include "cli/options.h"
#include "stream/genotypes.h"
#include "stream/source.h"

/* The options for reading files. */
typedef struct input_args {
    int64_t orient, base, missing;
    int64_t format; /* 0 = detect it for each file, k + 1 = format k */
    const char *names, *dataset;
    int64_t header; /* a header_choice */
    int external;
    source_expectation expected;
    int reads_tables;           /* tables may hold words and dates; otherwise only numbers */
    table_options table;        /* see table_rows of cli/tables.h */
    int reads_genotypes;        /* the next applies */
    genotype_options genotypes; /* see cli/genotypes.h */
} input_args;

extern const option_row input_rows[]; /* the options that fill an input_args: see GROUP */

/* Word k of --format. */
const char *input_format_name(int64_t k);

/* n samples and `features` features; 0 = not known. */
source_options inputs_options(const input_args *a, int64_t n, int64_t features);

/* Refuses an empty list and "-" on a terminal. Returns OPTIONS_FINE or an exit code. */
int inputs_check(const char *who, const operands *files);

/* The file of an option; the path is NULL if the option is not given. A list ends with a row
 * without an option. */
typedef struct file_use {
    const char *option, *path;
} file_use;

/* Refuses a file that would be both read and written, or written twice. */
int inputs_check_written(const char *who, const operands *files, const file_use *read,
                         const file_use *written);

int inputs_have_stdin(const operands *files);

/* Prints how much of triplets was read: a file of them has no end mark. Prints nothing about other
 * formats. */
void inputs_print_listed(const source *s, int64_t features);

/* Prints the error, with the file of the feature that caused it. */
void inputs_complain(const char *who, const source *s, const roofs_error *err);

/* Reads a model; "-" is standard input. */
roofs_status inputs_read_model(roofs_model **out, const char *path, roofs_error *err);

#endif
