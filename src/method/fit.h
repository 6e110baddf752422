/* A running fit: what every method works on. The estimator (api) owns it, checks
 * what comes in and hands each batch to the method. */
#ifndef METHOD_FIT_H
#define METHOD_FIT_H

#include "linalg/columns.h"
#include "linalg/comm.h"
#include "robust/trust.h"

typedef struct fit {
    roofs_settings set;
    comm comm; /* the other ranks, where the samples are split */
    int64_t n; /* samples of this rank: all where they are not split */
    double *y; /* the responses times 2^-y_exponent */
    int y_exponent;
    double y_scale;   /* robust spread of y, in the same unit */
    double intercept; /* in the unit of y */
    double *residual; /* y - intercept - sum_j coef_j z_j */
    columns cols;
    trust trusted;
    const double *counted; /* how much each sample counts for new features; NULL: trusted.mask */
    const double *counted_on_device; /* the same numbers; NULL: only the host has them */
    int64_t features_seen;           /* different ones */
    int64_t position;                /* in the current pass: the place of the next feature */
    int64_t pass;                    /* from 1 */
    int64_t rounds;
    roofs_batch now; /* the batch being worked on */
    int is_last;     /* of the caller's block: the fit can be read after it */
    int64_t batches; /* finished ones */
    int hit_cap;     /* a batch used all its rounds */
    roofs_monitor monitor;
    void *monitor_user;
    int undo;      /* batches can be taken back */
    int take_back; /* the monitor wants this one undone */
} fit;

/* Reports the round to the monitor; CANCELLED when it answers to stop. */
roofs_status fit_round_done(fit *f, roofs_error *err);

/* True if the host may read residuals or weights before the next batch is done: the caller after
 * its block, a monitor that stops the fit, or undo. */
int fit_host_reads_samples(const fit *f);

/* Features that a fit keeps between batches: mu and the reserve. */
int64_t fit_capacity(const roofs_settings *set);

/* The published step eta in the unit of gradient steps. It is finite, so that its product with a
 * gradient of zero is zero. */
double fit_published_step(const fit *f);

/* Records the shortest step of the batch; call it before fit_round_done. */
void fit_record_step(fit *f, double step);

/* All that changes with a batch, but for the values of the columns. `graded`: the trust is
 * given as probabilities. */
void fit_transfer(fit *f, int graded, archive *a);

/* f->residual = y - f->intercept - sum_k x_k z_k over which[0..count); where `which` and x are
 * NULL, over all columns with their coefficients. scratch: count numbers. */
void fit_residual(fit *f, const int64_t *which, int64_t count, const double *x, double *scratch);

/* Moves the mean of the trusted residuals into the intercept. */
void fit_recentre(fit *f);

#endif
