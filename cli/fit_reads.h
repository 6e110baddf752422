/* How often a fit reads its files. */
#ifndef CLI_FIT_READS_H
#define CLI_FIT_READS_H

#include "cli/fit_session.h"

/* Prints it, and why. `orders`: fits of other orders; `cv`: intervals by cross-validation. */
void fit_explain_reads(const roofs_settings *set, const fit_session *s, int64_t orders, int cv);

#endif
