/* Small drawings for a terminal, in UTF-8 blocks or ASCII. */
#ifndef CLI_DRAW_H
#define CLI_DRAW_H

#include "roofs/roofs.h"

typedef struct canvas {
    int width; /* columns of the terminal */
    int utf8;
    int colour;
} canvas;

canvas canvas_stdout(void);

/* A heading, bold if colours are on. */
void draw_heading(const canvas *c, const char *text);

/* A bar of share * columns. */
void draw_bar(const canvas *c, double share, int columns);

/* One line of at most `columns` characters that shows `count` values; longer series are averaged.
 */
void draw_sparkline(const canvas *c, const double *values, int64_t count, int columns);

/* A histogram of the distribution with these quantiles, with +-cut marked. */
void draw_histogram(const canvas *c, const double *quantile, int64_t count, double cut);

#endif
