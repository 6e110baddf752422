/* What a fit of genotypes does beside other fits. */
#ifndef CLI_FIT_GENOTYPES_H
#define CLI_FIT_GENOTYPES_H

#include "cli/fit_session.h"

/* Refuses options that do not apply. Returns OPTIONS_FINE or an exit code. */
int fit_check_genotypes(const input_args *in, const operands *files, int *are_given);

/* If the files are genotypes: chooses the people and opens the stream. *y are the responses of this
 * rank, *n the samples of all ranks. Otherwise does nothing. */
roofs_status fit_open_genotypes(fit_session *f, const char *y_path, double **y, int64_t *n,
                                roofs_error *err);

/* The object "genotypes" of the model; NULL if there are none. Opens a stream of all files. */
roofs_status fit_describe_genotypes(fit_session *f, json_t **out, roofs_error *err);

#endif
