/* Plots for a page, drawn by gnuplot. A plot is a script that the caller writes
 * to; gnuplot runs on it and its SVG goes to the page, coloured by the page's own
 * variables, so that it follows light and dark. No text of others reaches gnuplot:
 * a label "@12" in the script is name 12 on the page. */
#ifndef CLI_REPORT_PLOT_H
#define CLI_REPORT_PLOT_H

#include "base/status.h"

#include <stdio.h>

/* Half a page wide, and as it is on a phone: letters stay legible on both. */
enum { PLOT_WIDTH = 440, PLOT_HEIGHT = 270, PLOT_LEFT = 52 };

/* Writes name k, escaped. */
typedef void (*plot_name)(FILE *page, const void *user, int64_t k);

typedef struct plot {
    FILE *script; /* colours are variables: those of the page */
    plot_name name;
    const void *user;
} plot;

/* Is there a gnuplot? The reason says how to get one. */
roofs_status plot_ready(roofs_error *err);

/* The variable of the page that colour `number` stands for; NULL if none does. */
const char *plot_colour_name(int64_t number);

/* Starts a plot of PLOT_WIDTH times `height` units, with `left` units for what
 * stands left of the vertical axis. */
roofs_status plot_begin(plot *p, int height, int left, roofs_error *err);

/* Range and labels of an axis ('x' or 'y') that shows low..high, with round
 * numbers; whole ones only where `whole`. */
void plot_axis(plot *p, char axis, double low, double high, int whole);

/* The same from 0 to 100 percent, the values being 0..1. */
void plot_axis_share(plot *p, char axis);

/* The name of an axis. */
void plot_axis_name(plot *p, char axis, const char *name);

/* 1234567 as "1.23M", for places where there is no room. */
void plot_short_number(char *text, size_t size, double value);

/* Draws. `label` is what is read to those who cannot see. The plot is closed
 * whatever is returned. */
roofs_status plot_end(plot *p, FILE *page, const char *label, roofs_error *err);

#endif
