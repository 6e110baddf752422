/* Whole rounds of a method on the device that holds the columns. There a residual is not carried
 * to the host and back for every product: what a batch changes goes over once before its rounds
 * (begin) and comes back once after them (end). The host keeps the lists, the names and the
 * history, and is told a few numbers of every round, or of several at once. */
#ifndef METHOD_ROUNDS_H
#define METHOD_ROUNDS_H

#include "linalg/columns.h"
#include "method/slab.h"
#include "robust/mixture.h"

/* A batch of method roofs. */
typedef struct roofs_job {
    int64_t mu;
    double clean_ratio;
    int intercept;
    double published;        /* the step, in its unit */
    double *residual, *mask; /* n; read by begin where they have changed, written by end */
    int changed;             /* both, since end */
    int wanted;              /* both, after end; otherwise they may stay where they are */
    int64_t trusted;
    double curvature; /* of the step guard */
    double tolerance; /* a movement up to this is the end */
    int64_t ahead; /* rounds that may be made before anyone is told of the next one, at least 1 */

    /* of the round just made */
    double step, cut, movement;
    double shift; /* of the intercept, in all rounds of the batch */
} roofs_job;

/* A batch, or the end, of method roofs-bayes. */
typedef struct bayes_job {
    mixture *samples;   /* r, w, W, V and the numbers: written by end */
    slab *prior;        /* likewise, but for the estimates: see bayes_prior */
    const double *away; /* n: from the mixture's responses to those that were given */
    int changed;        /* all, since end: they go over again */
    int wanted;         /* r, w and V, after end; otherwise they may stay where they are */
    int unseen;         /* nobody looks at the round's numbers before the next call */
    int at_end;         /* no more features come */
    int64_t mu, seen;

    /* of the round just made, and after end */
    int64_t trusted;
    double largest_move, slab_variance;
    double cut; /* after end: the largest residual of a trusted sample, from what was given */
} bayes_job;

typedef struct rounds {
    /* The columns with their coefficients go over. */
    roofs_status (*roofs_begin)(columns *c, const roofs_job *job, roofs_error *err);

    /* Lines 6 to 14 of the listing, once. The device may make up to `ahead` rounds at once, no more
     * after a movement within the tolerance, and tells of them one by one. */
    roofs_status (*roofs_round)(device *d, roofs_job *job, roofs_error *err);

    /* Coefficients come back, and residual and mask where they are wanted; keep[j] = 0 for the
     * columns that have left. */
    roofs_status (*roofs_end)(columns *c, roofs_job *job, unsigned char *keep, roofs_error *err);

    /* The samples and the prior go over too, the first time and where they have changed. */
    roofs_status (*bayes_begin)(columns *c, const bayes_job *job, roofs_error *err);

    /* hyper, sweep, judge: over all columns but the `spared` largest. */
    roofs_status (*bayes_round)(device *d, bayes_job *job, int64_t spared, roofs_error *err);

    /* The `most` largest stay. */
    roofs_status (*bayes_keep)(device *d, bayes_job *job, int64_t most, roofs_error *err);
    roofs_status (*bayes_end)(columns *c, bayes_job *job, unsigned char *keep, roofs_error *err);

    /* The estimates the prior was learnt from come back: end leaves them where they are. */
    roofs_status (*bayes_prior)(device *d, slab *prior, roofs_error *err);
} rounds;

#endif
