/* --mu auto: chooses the number of features by cross-validation that tolerates corrupted samples.
 */
#ifndef CLI_CHOOSE_MU_H
#define CLI_CHOOSE_MU_H

#include "stream/source.h"

enum { MU_AUTO = -1 }; /* in roofs_settings.mu, until choose_mu replaces it */

typedef struct mu_question {
    const roofs_settings *settings; /* mu is the largest number to try */
    const double *y;
    const double *weight; /* of the samples; NULL = none */
    int64_t n;
    int64_t features; /* in the stream; 0 = unknown */
    int quiet;        /* no progress */
    /* Opens the stream at its first feature; called several times. */
    roofs_status (*open)(void *user, source **out, roofs_error *err);
    void *user;
} mu_question;

/* Returns ROOFS_CANCELLED after an interrupt. */
roofs_status choose_mu(const mu_question *q, int64_t *mu, roofs_error *err);

#endif
