/* Features given on the command line, for the verbs that read them. */
#ifndef CLI_INPUTS_H
#define CLI_INPUTS_H

#include "cli/options.h"
#include "stream/source.h"

/* The options for reading files. */
typedef struct input_args {
    int64_t orient, base, missing;
    int64_t format; /* 0 = detect it for each file, k + 1 = format k */
    const char *names, *dataset;
} input_args;

extern const option_row input_rows[]; /* the options that fill an input_args: see GROUP */

/* Words for --format. */
const char *input_format_name(int64_t k);

/* n and features: 0 where they are not known. */
source_options inputs_options(const input_args *a, int64_t n, int64_t features);

/* Usage mistakes: no file, "-" on a terminal. Returns OPTIONS_FINE or an exit code. */
int inputs_check(const char *who, const operands *files);

/* A file that an option names; the path is NULL if the option is not given. Lists end with a row
 * without an option. */
typedef struct file_use {
    const char *option, *path;
} file_use;

/* Usage mistakes: a file to be written is also read, or written twice. */
int inputs_check_written(const char *who, const operands *files, const file_use *read,
                         const file_use *written);

int inputs_have_stdin(const operands *files);

/* Prints the reason of a failure, with the file of the feature that caused it. */
void inputs_complain(const char *who, const source *s, const roofs_error *err);

/* A model from a file; "-" is standard input. */
roofs_status inputs_read_model(roofs_model **out, const char *path, roofs_error *err);

#endif
