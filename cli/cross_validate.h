/* Intervals by cross-validation: five fits, each without a fifth of the samples, read the stream
 * together. The errors of the samples that a fit has not seen are the errors of predictions. */
#ifndef CLI_CROSS_VALIDATE_H
#define CLI_CROSS_VALIDATE_H

#include "stream/source.h"

typedef struct cv_question {
    roofs_settings settings; /* of the fit */
    const double *y;
    const double *weight; /* of the samples; NULL = none */
    int64_t n;
    int64_t features; /* in the stream; 0 = unknown */
    int quiet;        /* no progress */
    /* Opens the stream at its first feature; called several times. */
    roofs_status (*open)(void *user, source **out, roofs_error *err);
    void *user;
} cv_question;

/* Stores half the widths of intervals in the model, which is that of all samples. Returns
 * ROOFS_CANCELLED after an interrupt. */
roofs_status cross_validate(const cv_question *q, roofs_model *model, roofs_error *err);

#endif
