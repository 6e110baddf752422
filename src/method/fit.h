/* A running fit: the data that every method works on. The estimator (api) owns it, checks the input
 * and passes each batch to the method. */
#ifndef METHOD_FIT_H
#define METHOD_FIT_H

#include "linalg/columns.h"
#include "linalg/vector.h"
#include "method/groups.h"
#include "method/spent.h"
#include "robust/trust.h"

/* Where the search for the clean samples starts. A method may follow several of these hypotheses,
 * each with a fit of its own. */
typedef enum hypothesis {
    HYPOTHESIS_USUAL, /* the largest cluster of responses, or all where that is many more */
    HYPOTHESIS_ALL,   /* all samples */
    HYPOTHESES
} hypothesis;

/* The noise of the clean samples, in the unit of the method. */
typedef struct fit_noise {
    double s2;         /* squared scale; 0 = not estimated */
    double intercept;  /* squared error of the intercept */
    double nu;         /* degrees of freedom; infinite = normal */
    double skew, tail; /* see roofs_noise */
} fit_noise;

typedef struct fit {
    roofs_settings set;
    comm comm;           /* over the ranks that the samples are split over */
    int64_t n;           /* samples of this rank */
    double *y;           /* the responses times 2^-y_exponent */
    double *case_weight; /* how many samples each one stands for; NULL = one */
    double cases;        /* of all ranks: the sum of case_weight, or the number of samples */
    int y_exponent;
    double y_scale;   /* robust spread of y, in the unit of y */
    double intercept; /* in the unit of y */
    double *residual; /* y - intercept - sum_j coef_j z_j */
    columns cols;
    workers *workers; /* the threads of this fit */
    trust trusted;
    const double *sample_weight;           /* for moments of new features; NULL: trusted.mask */
    const double *sample_weight_on_device; /* the same numbers; NULL: only the host has them */
    int64_t features_seen;                 /* without those that come again in a later pass */
    int64_t position;                      /* of the next feature, in the current pass */
    int64_t pass;                          /* from 1 */
    int grows;         /* features that arrive are new: the first pass, or after roofs_extend */
    int64_t selection; /* digest of what the pass before selected */
    int64_t rounds;
    roofs_batch now; /* the current batch */
    int is_last;     /* the current batch ends a block: the caller may read the fit after it */
    int64_t batches; /* completed */
    int hit_cap;     /* a batch has used all its rounds */
    roofs_monitor monitor;
    void *monitor_user;
    int undo;           /* batches can be undone */
    int undo_requested; /* by the monitor, for the current batch */
    int stops_late; /* other hypotheses fit the same batch: a stop waits until all have done so */
    int stop_requested;         /* by the monitor, while stops_late */
    const struct fit *reported; /* that of the first hypothesis: the monitor gets its counts, and
                                 * columns share its batch; NULL = this one is the first */
    int reports_later;          /* rounds are reported to the monitor when the batch has ended */
    int64_t rounds_before;      /* rounds of the current batch in the hypotheses before this one */
    hypothesis start;           /* of the clean samples */
    int is_redundant;           /* this start is the same as that of an earlier hypothesis */
    double score; /* how well the last settle explains the samples: compared between hypotheses */
    int pool_overflowed; /* groups may be incomplete: see pool.is_complete */
    groups found;        /* at the end */
    fit_noise noise;     /* at the end */
    double *coef_error;  /* at the end: standard error of the coefficient of each column */
    int64_t threads;     /* resolved: at least 1 */
    fit_spent spent;
    int64_t warnings; /* flags ROOFS_WARNING_... of the response; settle and finish set or
                       * clear those of the method */
} fit;

/* How many samples sample i stands for. */
static inline double fit_cases(const fit *f, int64_t i)
{
    return f->case_weight ? f->case_weight[i] : 1;
}

/* The trust set and the threads of the fit. */
roofs_status fit_create_trust(fit *f, roofs_error *err);
void fit_destroy_trust(fit *f);

/* Counts a round and reports it to the monitor. CANCELLED if the monitor stops the fit; with
 * stops_late only if it undoes the batch. */
roofs_status fit_round_done(fit *f, roofs_error *err);

/* Reports the rounds of a batch that has ended, if f->reports_later. Returns what fit_round_done
 * would have returned. */
roofs_status fit_report_rounds(fit *f, roofs_error *err);

/* True if the host may read residuals or weights before the next batch is done: the caller after
 * its block, a monitor that stops the fit, or undo. */
int fit_host_reads_samples(const fit *f);

/* Hypotheses that a fit with these settings follows, at least 1. */
int64_t fit_hypotheses(const roofs_settings *set);

/* Features that a fit keeps between batches, without forced ones: mu and the reserve, but at least
 * two batches where several hypotheses are followed. A wrong hypothesis then drops fewer features
 * that matter. */
int64_t fit_free_capacity(const roofs_settings *set);

/* The same with forced features. */
int64_t fit_capacity(const roofs_settings *set);

/* Forced features are the first ones of the stream (see roofs_settings.always). They never leave,
 * and do not count towards mu. */
static inline int fit_is_forced(const fit *f, int64_t j)
{
    return f->cols.items[j].feature < f->set.always;
}

/* Columns that are forced, columns that are not, and features seen that are not. */
int64_t fit_forced(const fit *f);
int64_t fit_free(const fit *f);
int64_t fit_free_seen(const fit *f);

/* A fit is small up to so many multiplications of a joint solution of its columns: samples times
 * the square of the columns held. */
static const double FIT_SMALL = 4e7;

/* The number of features that the prior expects to matter: mu, if the caller has given it (see
 * ROOFS_PRIOR_MU) and the fit is large. Otherwise mu may be more than the samples can separate: at
 * most a tenth of their number is expected. */
int64_t fit_expected(const fit *f);

/* The published step eta in the unit of gradient steps. It is finite, so that its product with a
 * gradient of zero is zero. */
double fit_published_step(const fit *f);

/* Records the shortest step of the batch; call it before fit_round_done. */
void fit_record_step(fit *f, double step);

/* Saves or restores the state that a batch changes, except the values of the columns. `graded`: the
 * mask holds probabilities. */
void fit_transfer(fit *f, int graded, archive *a);

/* f->residual = y - f->intercept - sum_k x_k z_k over which[0..count); where `which` and x are
 * NULL, over all columns with their coefficients. scratch: count numbers. */
void fit_residual(fit *f, const int64_t *which, int64_t count, const double *x, double *scratch);

/* Moves the mean of the trusted residuals into the intercept. */
void fit_recentre(fit *f);

#endif
