/* --orders: fits the same files with their features in other orders, and compares the results. */
#ifndef CLI_ORDERS_H
#define CLI_ORDERS_H

#include "base/comm.h"
#include "cli/fit_report.h"
#include "stream/source.h"

typedef struct orders_question {
    roofs_settings settings; /* of the fit, without choices left to the library */
    const double *y;         /* the responses of this rank */
    const double *weight;    /* of these samples; NULL = none */
    int64_t n;               /* their number */
    int64_t features;        /* in the stream */
    int64_t orders;          /* how many to compare, the order of the files included */
    int quiet;               /* no progress */
    comm *comm;
    fit_times *times; /* times are added */
    /* Opens the stream at its first feature; called twice for each pass of a fit. */
    roofs_status (*open)(void *user, source **out, roofs_error *err);
    void *user;
} orders_question;

typedef struct orders orders;

/* Takes the result of the fit in the order of the files: `result` is borrowed. */
roofs_status orders_begin(orders **out, const orders_question *q, const roofs_result *result,
                          roofs_error *err);
void orders_end(orders *o); /* accepts NULL */

/* Makes the other fits, one after the other. CANCELLED after an interrupt. */
roofs_status orders_fit(orders *o, roofs_error *err);

/* Stores in the model of the first fit what was found. */
roofs_status orders_store(const orders *o, roofs_model *model, roofs_error *err);

#endif
