/* Weights, offset and forced features of `roofs fit`: --weights, --offset and --always. */
#ifndef CLI_FIT_EXTRAS_H
#define CLI_FIT_EXTRAS_H

#include "cli/fit_session.h"
#include "cli/given_numbers.h"

typedef struct extra_args {
    const char *weights, *offset;
    const char *always; /* N, a file, or a list of columns */
} extra_args;

extern const option_row extra_rows[]; /* the options that fill an extra_args: see GROUP */

typedef struct fit_extras {
    extra_args args;
    given_numbers weights, offset;
    double *weight;  /* of the samples of this rank; NULL = none are given */
    double *offsets; /* the same */
    const char **files;
    int is_file; /* --always names a file: files[0] */
} fit_extras;

/* Refuses what can be seen without files. Returns OPTIONS_FINE, or the exit code. */
int extras_check(const extra_args *a, const char *y, int64_t orders);

/* Before the stream is opened: changes the options, the files and the settings. */
roofs_status extras_prepare(fit_extras *x, const extra_args *a, fit_session *f,
                            roofs_settings *settings, roofs_error *err);

/* After that: finds the numbers, and subtracts the offset from y, the responses of this rank; not
 * if y is NULL. n: samples of all ranks. */
roofs_status extras_take(fit_extras *x, fit_session *f, roofs_settings *settings, double *y,
                         int64_t n, roofs_error *err);

void extras_free(fit_extras *x);

#endif
