/* `roofs fit` with several responses: the files are read once, and every block is given to the fits
 * of all responses. Each response is fitted as if it were alone. */
#ifndef CLI_SEVERAL_H
#define CLI_SEVERAL_H

#include "cli/fit_session.h"
#include "cli/responses.h"

typedef struct several_question {
    roofs_settings settings; /* of every fit */
    responses y;
    fit_session *shared; /* with all options, and after several_open the stream of all samples */
    given_response given;
    char *drop;  /* the columns that are no features */
    char *bed;   /* the first file of genotypes; or NULL */
    int explain; /* print the memory instead of fitting */
} several_question;

/* Where the model of a response goes: model.json gives model.NAME.json, a folder gives
 * folder/NAME.json. Free *out with memory_free. */
roofs_status several_model_path(char **out, const char *to, const char *name, roofs_error *err);

/* True if --y or --pheno-name is a list. */
int several_are_asked(const char *y, const input_args *in);

/* Reads the responses and opens the stream. */
roofs_status several_open(several_question *q, const char *y, roofs_error *err);
void several_close(several_question *q); /* the stream stays with the session */

/* Fits all responses and writes their models. Returns the code to exit with. */
int several_fit(const several_question *q, roofs_error *err);

#endif
