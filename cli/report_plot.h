/* Plots for a page, drawn by gnuplot. The caller writes a script; gnuplot makes SVG from it, which
 * uses the colour variables of the page and so follows light and dark mode. No text from outside
 * reaches gnuplot: the page replaces a label "@12" by name 12. */
#ifndef CLI_REPORT_PLOT_H
#define CLI_REPORT_PLOT_H

#include "base/status.h"

#include <stdio.h>

/* Half a page wide; text stays legible on a phone. */
enum { PLOT_WIDTH = 440, PLOT_HEIGHT = 270, PLOT_LEFT = 52 };

/* Writes name k, escaped. */
typedef void (*plot_name)(FILE *page, const void *user, int64_t k);

typedef struct plot {
    FILE *script; /* colours are variables with the names of the page */
    plot_name name;
    const void *user;
} plot;

/* Fails if gnuplot is not installed. */
roofs_status plot_ready(roofs_error *err);

/* The page variable of colour `number`; NULL if there is none. */
const char *plot_colour_name(int64_t number);

/* Starts a plot of PLOT_WIDTH times `height` units, with `left` units left of the vertical
 * axis. */
roofs_status plot_begin(plot *p, int height, int left, roofs_error *err);

/* Sets range and round labels of an axis ('x' or 'y') for low..high; `whole`: only integers. */
void plot_axis(plot *p, char axis, double low, double high, int whole);

/* The same from 0 to 100 percent, the values being 0..1. */
void plot_axis_share(plot *p, char axis);

/* The name of an axis. */
void plot_axis_name(plot *p, char axis, const char *name);

/* 1234567 as "1.23M". */
void plot_short_number(char *text, size_t size, double value);

/* Draws the plot and always closes it. `label` is for screen readers. */
roofs_status plot_end(plot *p, FILE *page, const char *label, roofs_error *err);

#endif
