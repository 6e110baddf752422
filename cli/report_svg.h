/* Converts the SVG of gnuplot to SVG for a page. */
#ifndef CLI_REPORT_SVG_H
#define CLI_REPORT_SVG_H

#include "cli/report_plot.h"

/* Replaces colours by variables of the page and "@12" by name 12 of the plot; removes prologue,
 * titles, ids and symbols. */
roofs_status svg_copy(const plot *p, FILE *svg, FILE *page, const char *label, roofs_error *err);

#endif
