/* One line per experiment: whether the results agree with the paper. */
#ifndef CLI_REPRODUCE_VERDICT_H
#define CLI_REPRODUCE_VERDICT_H

#include "cli/reproduce/summary.h"

/* Counts over the settings of an experiment, for the published method in one order of arrival. */
typedef struct verdict {
    int64_t compared; /* settings with a number of ours and of the paper */
    int64_t reached;  /* of them: about the paper's number, or better */
    double excess;    /* mean of ours minus the paper's */
    int64_t ranked;   /* settings with a number of it and of another method of the paper */
    int64_t best;     /* of them: no other method of the paper is better */
    int64_t nulls;    /* settings with a number of it and of the null answer */
    int64_t above;    /* of them: it is better than the null answer */
} verdict;

verdict verdict_of(const findings *f, const experiment *e, arrival when);

/* "reproduced", "reproduced in part", "not reproduced"; NULL if nothing can be compared: no number
 * of the paper, other sizes, or no results. */
const char *verdict_word(const findings *f, const verdict *v);

/* The whole line about one order of arrival, without the name of the order. */
void verdict_text(const findings *f, const experiment *e, arrival when, char *text, size_t size);

#endif
