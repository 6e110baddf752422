/* Plots for a page, drawn by gnuplot. The caller writes a script and gnuplot makes SVG from it. The
 * SVG uses the colour variables of the page and so follows light and dark mode. gnuplot gets no
 * text from input files: a label "@12" in the SVG is replaced by name 12. */
#ifndef CLI_REPORT_PLOT_H
#define CLI_REPORT_PLOT_H

#include "base/status.h"

#include <stdio.h>

/* Half the width of a page; text stays legible on a phone. */
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

/* The colour variable of the page with this number; NULL if the number is unknown. */
const char *plot_colour_name(int64_t number);

/* Starts a plot of PLOT_WIDTH times `height` units, with `left` units left of the vertical
 * axis. */
roofs_status plot_begin(plot *p, int height, int left, roofs_error *err);

/* Sets range and round labels of an axis ('x' or 'y') for low..high; `whole`: only integers. */
void plot_axis(plot *p, char axis, double low, double high, int whole);

/* The same for shares: values 0 to 1 with labels 0% to 100%. */
void plot_axis_share(plot *p, char axis);

void plot_axis_name(plot *p, char axis, const char *name);

/* 1234567 as "1.23M". */
void plot_short_number(char *text, size_t size, double value);

/* Draws the plot, writes it to the page and ends the figure that page_figure began. Closes the plot
 * even if it fails. `label` is for screen readers. */
roofs_status plot_end(plot *p, FILE *page, const char *label, roofs_error *err);

#endif
