/* The tables and figures of the paper, read from experiments/: their settings and the numbers that
 * the paper prints. */
#ifndef CLI_REPRODUCE_EXPERIMENT_H
#define CLI_REPRODUCE_EXPERIMENT_H

#include "base/status.h"

#include <jansson.h>

/* Scores of an answer. MEASURE_MAE applies to reviews, the first two to simulated data. */
typedef enum measure {
    MEASURE_L2_ERROR = 0,
    MEASURE_FEATURE_F1,
    MEASURE_CLEAN_F1,
    MEASURE_CORRUPTED_F1,
    MEASURE_MAE,
    MEASURE_SECONDS,
    MEASURES
} measure;

const char *measure_name(measure m); /* "l2_error", ... */
int measure_low_is_good(measure m);

/* Orders of arrival; every experiment runs in both. */
typedef enum arrival { ARRIVAL_FIRST = 0, ARRIVAL_RANDOM, ARRIVALS } arrival;

/* Source and size of the data. */
typedef struct setting {
    int reviews; /* IMDb instead of simulated data */
    int64_t n, p, mu;
    int64_t batch; /* features that arrive together: 100 in the paper */
    double corruption, noise_var;
} setting;

typedef enum answer_kind {
    ANSWER_GUESS = 0, /* features and samples drawn at random, in the true number */
    ANSWER_NULL,      /* no feature; the smallest |y| are trusted */
    ANSWER_FIRST,     /* the first mu features, no selection */
    ANSWER_ORACLE,    /* least squares on the true features and the clean samples */
    ANSWER_FIT
} answer_kind;

/* Expected time: `seconds` at n = 1000, p = 2000, mu = 400, batch = 100, and the exponent of growth
 * for each of the four. */
typedef struct cost_law {
    double seconds, n, p, mu, batch;
} cost_law;

enum { RATIOS_MOST = 8, ROWS_MOST = 24, PANELS_MOST = 6, POINTS_MOST = 6, TITLE_MOST = 80 };

/* A row of a table, a curve of a figure. */
typedef struct contender {
    const char *name, *title;
    answer_kind kind;
    const char *method;
    int64_t reading; /* ROOFS_READING_... */
    int64_t passes;
    double ratio_errors[RATIOS_MOST]; /* relative errors of the corruption ratio that it is given */
    int64_t ratio_count;              /* 0: it is given no ratio */
    int one_per_seed;                 /* uses one error per seed instead of the mean over all */
    int64_t seeds;                    /* upper bound, for slow methods */
    cost_law cost;
    const char *colour; /* of its curves; NULL = none */
    int dashed;
} contender;

typedef struct panel {
    char title[TITLE_MOST];  /* with the sizes that run */
    const char *paper_title; /* with those of the paper */
    const char *axis, *axis_title;
    int64_t points;
    double at[POINTS_MOST];
    setting settings[POINTS_MOST];
} panel;

typedef struct experiment {
    const char *name, *title, *about;
    measure measure;
    int timed; /* trials run one at a time */
    int64_t seeds;
    double patience; /* most seconds for all seeds of one number */
    int64_t panel_count;
    panel panels[PANELS_MOST];
    double paper[ROWS_MOST][PANELS_MOST][POINTS_MOST]; /* NAN = not printed */
} experiment;

enum { EXPERIMENTS = 6 };

typedef struct catalogue {
    int64_t rows;
    contender row[ROWS_MOST];
    experiment all[EXPERIMENTS]; /* table1 table2 table3 fig1 fig2 fig3 */
    json_t *texts[EXPERIMENTS + 1];
} catalogue;

/* Name of experiment k, counted from 0, then "all"; NULL past the last. */
const char *experiment_name(int64_t k);

/* quick: the reduced versions. */
roofs_status catalogue_open(catalogue *c, int quick, roofs_error *err);
void catalogue_close(catalogue *c);

/* Expected seconds of one fit, by the cost law of its contender. */
double expected_seconds(const contender *who, const setting *what);

#endif
