/* A line with the progress of a long computation, on a terminal only. */
#ifndef CLI_PROGRESS_H
#define CLI_PROGRESS_H

#include <stdint.h>

typedef struct progress {
    const char *what;
    const char *unit; /* "features" by default; NULL = print no counts */
    int64_t total;    /* 0 = not known */
    int shown;        /* the line is on the terminal */
    int enabled;
    double started, drawn; /* seconds */
} progress;

void progress_begin(progress *p, const char *what, int64_t total, int quiet);

/* Draws the line with `done` of the total, and `detail` as far as the width allows. */
void progress_show(progress *p, int64_t done, const char *detail);

void progress_end(progress *p); /* clears the line */

#endif
