/* Several responses of the same samples: `roofs fit --y FILE:A,B,C` or --y A,B,C. */
#ifndef CLI_RESPONSES_H
#define CLI_RESPONSES_H

#include "cli/given_response.h"

typedef struct responses {
    int64_t count, n;
    names names;    /* of the responses, in the order of the command line */
    double *values; /* response k of sample i is values[k * n + i]; NAN = missing */
    levels ids;     /* of the samples, with --id */
    int from_file;  /* not columns of the files of features */
} responses;        /* none is all zero */

void responses_free(responses *r);

/* True if --y names several responses. */
int responses_are_several(const char *text);

/* Reads the columns that the list (names and globs) of `g` names, in one reading. */
roofs_status responses_read(responses *r, const given_response *g, const input_args *in,
                            const operands *files, roofs_error *err);

/* Refuses missing values, unless they shall be left out. */
roofs_status responses_check_missing(const responses *r, int64_t leave_out, roofs_error *err);

#endif
