/* The paper's tables and figures, as they stand in experiments/: what to run and what
 * the paper printed. */
#ifndef CLI_REPRODUCE_EXPERIMENT_H
#define CLI_REPRODUCE_EXPERIMENT_H

#include "base/status.h"

#include <jansson.h>

/* What is measured of an answer; MEASURE_MAE on reviews only, the first four on simulated
 * data only. */
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

/* The streams every experiment is run on. */
typedef enum arrival { ARRIVAL_FIRST = 0, ARRIVAL_RANDOM, ARRIVALS } arrival;

/* Where the data comes from and what is known about it. */
typedef struct setting {
    int reviews; /* IMDb instead of the paper's generator */
    int64_t n, p, mu;
    int64_t batch; /* features that arrive together: 100 in the paper */
    double corruption, noise_var;
} setting;

typedef enum answer_kind {
    ANSWER_GUESS = 0, /* mu features and the clean samples drawn at random */
    ANSWER_NULL,      /* no feature; the smallest |y| are trusted */
    ANSWER_FIRST,     /* the first mu features, nothing selected */
    ANSWER_ORACLE,    /* least squares on the true features and the clean samples */
    ANSWER_FIT
} answer_kind;

/* seconds at n = 1000, p = 2000, mu = 400, batch = 100; grows with powers of the four. */
typedef struct cost_law {
    double seconds, n, p, mu, batch;
} cost_law;

enum { OFFS_MOST = 8, ROWS_MOST = 24, PANELS_MOST = 6, POINTS_MOST = 6 };

/* One line of a table, one curve of a figure: who answers. */
typedef struct contender {
    const char *name, *title;
    answer_kind kind;
    const char *method, *reading;
    int64_t passes;
    double offs[OFFS_MOST]; /* errors of the corruption ratio it is told, to average over */
    int64_t off_count;      /* 0: it is told nothing */
    int in_turn;            /* one of them per seed, in turn, instead of all */
    int64_t seeds;          /* at most, for those that take very long */
    cost_law cost;
    const char *colour; /* of the plots; NULL = not drawn */
    int dashed;
} contender;

typedef struct panel {
    const char *title, *axis, *axis_title;
    int64_t points;
    double at[POINTS_MOST];
    setting settings[POINTS_MOST];
} panel;

typedef struct experiment {
    const char *name, *title, *about;
    measure measure;
    int timed; /* run one at a time */
    int64_t seeds;
    double patience; /* seconds for the seeds of one number, at most */
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

/* What one fit will take, by the law of its contender. */
double expected_seconds(const contender *who, const setting *what);

#endif
