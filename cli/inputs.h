/* Features given on the command line, for the verbs that read them. */
#ifndef CLI_INPUTS_H
#define CLI_INPUTS_H

#include "cli/options.h"
#include "stream/source.h"

/* Words for --orient, in the order of `orientation`. */
const char *orient_name(int64_t k);

/* Words for --index-base, in the order of `index_base`. */
const char *base_name(int64_t k);

/* Usage mistakes: no file, "-" on a terminal, an output that is also an input.
 * Returns OPTIONS_FINE or an exit code. */
int inputs_check(const char *who, const operands *files, const char *output);

int inputs_have_stdin(const operands *files);

/* The reason of a failure, with the file of the feature to blame. */
void inputs_complain(const char *who, const source *s, const roofs_error *err);

/* A model from a file; "-" is standard input. */
roofs_status inputs_read_model(roofs_model **out, const char *path, roofs_error *err);

#endif
