/* A line with the progress of a long run, on a terminal only. */
#ifndef CLI_PROGRESS_H
#define CLI_PROGRESS_H

#include <stdint.h>

typedef struct progress {
    const char *what;
    const char *unit; /* of what is counted, "features" from the beginning; NULL = not shown */
    int64_t total;    /* in all; 0 = not known */
    int shown;        /* a line must be cleared */
    int enabled;
    double started, drawn;
} progress;

void progress_begin(progress *p, const char *what, int64_t total, int quiet);

/* `done` of the total; `detail` (may be empty) follows the numbers, cut to the width. */
void progress_show(progress *p, int64_t done, const char *detail);

void progress_end(progress *p); /* clears the line */

#endif
