/* The IMDb reviews of Table 3. */
#ifndef CLI_REPRODUCE_REVIEWS_H
#define CLI_REPRODUCE_REVIEWS_H

#include "cli/reproduce/trial_data.h"

typedef struct reviews reviews;

/* Fails if the files are missing; the error describes how to get them. */
roofs_status reviews_check(const char *folder, roofs_error *err);

roofs_status reviews_open(reviews **out, const char *folder, roofs_error *err);
void reviews_close(reviews *r); /* accepts NULL */

roofs_status trial_data_reviews(trial_data **out, const reviews *all, const setting *what,
                                arrival when, int64_t seed, roofs_error *err);

#endif
