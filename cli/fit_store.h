/* What the model of a fit stores of its files. */
#ifndef CLI_FIT_STORE_H
#define CLI_FIT_STORE_H

#include "cli/fit_session.h"

/* The IDs of the samples of the fit; NULL if they are not known. */
const struct levels *fit_session_ids(const fit_session *f);

/* Stores how the columns of tables become features, IDs, statistics for missing values, and what
 * the variants of genotypes are. */
roofs_status fit_store_tables(fit_session *f, roofs_error *err);

#endif
