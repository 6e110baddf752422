/* roofs inspect --theory: a bound on the error of the coefficients, and the bound of the paper's
 * theorem. docs/theory.md has the derivation; names of sections below are those of that page. */
#ifndef CLI_THEORY_H
#define CLI_THEORY_H

#include "cli/draw.h"
#include "cli/inputs.h"
#include "cli/truth.h"

#include <jansson.h>

typedef struct theory_args {
    const char *y;
    double corruption, noise; /* negative = not given */
    const char *truth;        /* the folder of `roofs simulate`, or NULL */
    input_args in;
} theory_args;

extern const option_row theory_rows[];

/* What a bound needs: the measured value must be `relation` the limit. */
typedef struct condition {
    const char *name, *relation;
    double value, limit;
    int holds;
} condition;

enum { CONDITIONS_MOST = 6, REASON_MOST = 240 };

/* A bound, or why there is none. */
typedef struct bound {
    condition conditions[CONDITIONS_MOST];
    int count;
    char reason[REASON_MOST]; /* empty = the bound applies */
    double value;             /* on the length of the error, in the unit of the coefficients */
} bound;

/* The measured numbers. Unless a comment says otherwise the unit is that of the response, and
 * features have scale 1 on the trusted samples. */
typedef struct measured {
    int64_t columns;          /* kept features, and 1 for the intercept */
    double smallest, largest; /* eigenvalues of the Gram matrix of trusted samples, divided by
                               * their number */
    double leverage;          /* rho: bound on the leverage of any k trusted samples */
    double outside;           /* the same of the samples that are not trusted, exactly */
    double gradient;          /* E: distance from the least squares of the trusted samples */
    double corruption, noise; /* C and N: what corrupt samples and the noise may add */
    double distance;          /* D = (E + C + N) / (1 - rho) */
    double residual_squares;  /* f(beta), f(0) of the trusted samples, after centring */
    double response_squares;
    double alpha, residual_bound; /* the theorem's constant, and its bound on f(beta) */
} measured;

typedef struct theory {
    /* given */
    const roofs_result *model;
    int intercept, standardize; /* settings of the fit */
    int64_t corrupt;            /* k: at most so many samples are corrupt */
    double sigma;               /* of the noise */
    int corrupt_is_given, sigma_is_given;
    double *columns; /* n values each: one for the intercept if there is one, then the kept
                      * features; theory_bound overwrites them */
    double *response, *residual; /* n */
    double other_gradient;       /* largest gradient of a feature that is not kept */
    truth_files truth;           /* empty if it is not given */

    /* found */
    double *scale; /* per kept feature, on the trusted samples */
    double *each;  /* per kept feature: bound on the error of its coefficient */
    measured found;
    bound repaired, published;
} theory;

/* Reads the data of the fit again, twice. Fails if they do not belong to the model. */
roofs_status theory_read(theory *t, const theory_args *args, const roofs_model *model,
                         const operands *files, roofs_error *err);

/* Fills found, repaired and published. */
roofs_status theory_bound(theory *t, roofs_error *err);

/* The part of theory_bound for the paper's theorem. `gram` is the Gram matrix of the features with
 * scale 1 on the trusted samples, `gradient` their gradient; both without the intercept. */
roofs_status theory_published(theory *t, const double *gram, const double *gradient,
                              double noise_factor, roofs_error *err);

/* Records a condition; returns whether it holds. */
int theory_condition(bound *b, const char *name, double value, const char *relation, double limit);

/* Records why the bound does not apply, unless an earlier reason is recorded. */
void theory_refuse(bound *b, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Prints the bounds, and those of the `top` largest coefficients. */
void theory_print(const theory *t, const canvas *c, int64_t top);
json_t *theory_json(const theory *t);

void theory_destroy(theory *t);

#endif
