/* The end of a fit by roofs-bayes (docs/roofs-bayes.md, "Joint solutions"): the coefficients of all
 * kept columns at once instead of one after the other, with exact leave-one-out residuals. Several
 * starts are followed, because the mixture of clean and corrupt samples has several solutions; the
 * one that explains the samples best is taken. Names are those of that page. */
#ifndef METHOD_JOINT_H
#define METHOD_JOINT_H

#include "linalg/ridge.h"
#include "method/coordinate_formula.h"
#include "method/fit.h"
#include "method/slab.h"
#include "robust/mixture.h"
#include "robust/noise.h"

/* What a solution assumes. */
typedef struct joint_kind {
    int is_dense; /* every feature has a small effect; otherwise the prior of the stream */
    int is_rare;  /* corrupt samples are few and anywhere; otherwise they may have a pattern */
    int is_fresh; /* inclusion probabilities start at 1 instead of at those of the stream */
} joint_kind;

typedef struct joint_solution {
    joint_kind kind;
    double score;  /* see joint_settle */
    int lambda;    /* of a dense prior: the penalty is 10^(lambda / 2) times the sum of weights */
    noise shape;   /* of the clean residuals */
    double change; /* of the fit in the last round, root mean square, in units of the noise */
    double trace;  /* effective number of parameters */
    double *b, *a; /* coefficients and inclusion probabilities */
    double *w, *W; /* probability of being clean, weight in the fit */
    double *z;     /* leave-one-out residuals */
    mixture_parameters now;
} joint_solution;

typedef struct joint {
    fit *f;
    const mixture *samples; /* of the stream */
    const slab_parameters *prior;
    ridge solver;
    mixture trial; /* of the solution in progress */
    joint_solution now, best;
    int is_undecided; /* the samples that the best solution condemns follow one of their own */
    ridge_answer answer;
    int64_t m;
    double *block;                               /* the arrays below, and those of the solutions */
    double *omega, *b0, *k, *squares, *other_a;  /* of columns */
    double *leverage, *variance, *background;    /* of samples */
    double *start, *before, *w_before, *scratch; /* of samples */
} joint;

/* Multiplications of one solution. */
double joint_work(double n, int64_t m);

/* Whether the columns are few enough: n samples of all ranks, m columns. Samples that are split
 * over ranks allow fewer columns than samples: ridge.h has no dual solution then. */
int joint_is_possible(double n, int64_t m, int is_split);

/* The bytes that joint_create allocates, at most, for as many of m columns as are possible. n
 * samples of this rank, whether there are others or not. */
int64_t joint_bytes(int64_t n, int64_t m, int64_t threads);

roofs_status joint_create(joint *j, fit *f, const mixture *samples, const slab_parameters *prior,
                          roofs_error *err);
void joint_destroy(joint *j);

/* Which starts: the weights of the stream; also the shortest half of the residuals, with both
 * priors; or all. */
typedef enum joint_starts { JOINT_WEIGHTS, JOINT_STREAM, JOINT_ALL } joint_starts;

/* Follows the starts and leaves the best solution in j->best. Each start is a round of the fit. The
 * score is the mean log density of the leave-one-out residuals, less a price for condemning samples
 * with a pattern. Except with JOINT_WEIGHTS, j->is_undecided is set, too. */
roofs_status joint_settle(joint *j, joint_starts which, roofs_error *err);

/* Follows one start: the weights of the stream and the inclusion probabilities of the columns. */
roofs_status joint_follow(joint *j, joint_kind kind, int lambda, roofs_error *err);

/* Writes the best solution to the columns of the fit and to the mixture of the stream. */
roofs_status joint_store(joint *j, mixture *samples, roofs_error *err);

/* ---- starts (joint_starts.c): weights of the samples, in j->start ------------ */

roofs_status start_shortest_half(joint *j, roofs_error *err); /* of the residuals j->now.z */
roofs_status start_least_absolute(joint *j, roofs_error *err);
roofs_status start_mirrored(joint *j, roofs_error *err);   /* some responses have the wrong sign */
roofs_status start_two_models(joint *j, roofs_error *err); /* some follow another regression */

/* All samples but those with the most frequent response; *found = 0 if few have it or most. */
roofs_status start_without_ties(joint *j, int *found, roofs_error *err);

/* Sets j->is_undecided: the samples that the best solution condemns are nearly half of all and
 * follow a regression of their own, so that the responses do not show which of the two is meant. */
roofs_status joint_find_rival(joint *j, roofs_error *err);

/* ---- a solution (joint_solve.c) -------------------------------------------------- */

enum { JOINT_LAMBDA = -4 }; /* where the search for lambda begins */

static const double JOINT_HAT_MOST = 1 - 1e-6;
static const double JOINT_INCLUSION_LEAST = 1e-6;

/* Of the effective number of parameters over the number of clean samples. */
static const double JOINT_TRACE_MOST = 0.6;

/* Gives the solver the weight W[i] for each of the samples that sample i stands for; uses
 * j->scratch. */
void joint_weigh(joint *j, const double *W);

/* The hat value of one of the samples that sample i stands for. */
double joint_hat(const joint *j, int64_t i);

/* The lower median of |x| over the samples of all ranks; leaves |x| in j->scratch. */
roofs_status joint_median_size(joint *j, const double *x, double *middle, roofs_error *err);

/* A dense solution for the responses t and the weights of the solver, in j->now.b and j->answer.
 * With step > 0, j->now.lambda is moved to where the leave-one-out error is least, in steps of this
 * length and shorter ones. Residuals go to j->trial.r,
 * leave-one-out residuals to j->now.z. */
roofs_status joint_dense(joint *j, const double *t, int step, roofs_error *err);

/* The same for the prior of the stream with inclusion probabilities j->now.a. */
roofs_status joint_sparse(joint *j, const double *t, const slab_parameters *prior, double s2,
                          roofs_error *err);

/* What the solution says about column q; j->squares must be those of the solver. */
void joint_estimate(joint *j, const slab_parameters *prior, double s2, int64_t q,
                    coordinate_estimate *found);

/* Moves the inclusion probabilities half of the way to those that follow from the solution. */
void joint_update_inclusion(joint *j, const slab_parameters *prior, double s2);

#endif
