/* Converts the SVG of gnuplot to SVG for a page. */
#ifndef CLI_REPORT_SVG_H
#define CLI_REPORT_SVG_H

#include "cli/report_plot.h"

/* Colours become variables of the page, "@12" becomes name 12 of the plot, and
 * prologue, titles, ids and symbols are removed. */
roofs_status svg_copy(const plot *p, FILE *svg, FILE *page, const char *label, roofs_error *err);

#endif
