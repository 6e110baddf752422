/* Five folds of the samples, for cross-validation: a fit of a fold reads the samples of the others.
 */
#ifndef CLI_FOLDS_H
#define CLI_FOLDS_H

#include "cli/subset.h"

enum { FOLDS = 5, FEWEST_PER_FOLD = 4 };

typedef struct folds {
    int64_t n;
    int64_t *order;  /* the samples, shuffled: fold f holds positions f, f + FOLDS, ... */
    int64_t *place;  /* position of each sample in that order */
    int64_t *fitted; /* the samples outside the chosen fold */
    int64_t train;   /* their number */
    subset_buffer subset;
} folds;

/* BAD_DATA if there are too few samples; `option` is for the message. */
roofs_status folds_check(int64_t n, const char *option, roofs_error *err);

/* The same, and creates the folds. */
roofs_status folds_create(folds *f, int64_t n, const char *option, roofs_error *err);
void folds_free(folds *f);

/* Chooses the fold that is held out. */
void folds_choose(folds *f, int fold);

static inline int fold_of(const folds *f, int64_t sample)
{
    return (int)(f->place[sample] % FOLDS);
}

/* *subset = the fitted samples of the block; valid until the next call. */
roofs_status folds_subset(folds *f, const roofs_block *block, roofs_block *subset,
                          roofs_error *err);

#endif
