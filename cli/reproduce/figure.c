/* A panel as a plot: one curve for every contender. */
#include "cli/report_plot.h"
#include "cli/reproduce/results.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

static const double HIGHEST_ERROR = 2; /* of coefficients; the plot ends here */

/* Sizes and times are shown on logarithmic axes. */
static double shown(const experiment *e, double value)
{
    return e->timed ? log10(value) : value;
}

typedef struct extent {
    double low, high;
} extent;

/* Writes the points of every curve as data blocks $r0, $r1, ...; returns the range of the values.
 */
static extent put_curves(plot *p, const findings *f, const experiment *e, int64_t q, arrival when)
{
    extent range = {INFINITY, -INFINITY};
    for (int64_t row = 0; row < f->catalogue->rows; row++) {
        fprintf(p->script, "$r%" PRId64 " << EOD\n", row);
        for (int64_t k = 0; k < e->panels[q].points; k++) {
            double mean = summarise(f, e, row, q, k, when).mean;
            if (isnan(mean) || !f->catalogue->row[row].colour || (e->timed && !(mean > 0)))
                continue;
            fprintf(p->script, "%.17g %.17g\n", shown(e, e->panels[q].at[k]), shown(e, mean));
            range.low = fmin(range.low, shown(e, mean));
            range.high = fmax(range.high, shown(e, mean));
        }
        fputs("EOD\n", p->script);
    }
    return range;
}

enum { LEFT_FOR_TIMES = PLOT_LEFT + 10 };

/* Powers of ten as labels of a logarithmic axis. */
static void put_time(plot *p, int power)
{
    static const char *const units[] = {"s", "ms", "us"};
    int unit = power >= 0 ? 0 : power >= -3 ? 1 : 2;
    fprintf(p->script, "\"%g %s\" %d", pow(10, power + 3 * unit), units[unit], power);
}

static void axis_of_times(plot *p, extent range)
{
    int low = (int)floor(range.low), high = (int)ceil(range.high);
    fprintf(p->script, "set yrange [%d:%d]\nset ytics (", low, high);
    for (int k = low; k <= high; k++) {
        fputs(k > low ? ", " : "", p->script);
        put_time(p, k);
    }
    fputs(")\n", p->script);
}

static void axis_of_points(plot *p, const experiment *e, const panel *q)
{
    double low = shown(e, q->at[0]), high = shown(e, q->at[q->points - 1]);
    double margin = 0.04 * (high - low);
    fprintf(p->script, "set xrange [%.17g:%.17g]\nset xtics (", low - margin, high + margin);
    for (int64_t k = 0; k < q->points; k++) {
        const char *percent = strlen(q->axis) > 1 ? "%%" : ""; /* % is a format in gnuplot */
        double number = strlen(q->axis) > 1 ? 100 * q->at[k] : q->at[k];
        fprintf(p->script, "%s\"%g%s\" %.17g", k ? ", " : "", number, percent, shown(e, q->at[k]));
    }
    fputs(")\n", p->script);
    plot_axis_name(p, 'x', q->axis_title);
}

static int has_curve(const findings *f, const experiment *e, int64_t row, int64_t q, arrival when)
{
    for (int64_t k = 0; k < e->panels[q].points; k++)
        if (!isnan(summarise(f, e, row, q, k, when).mean))
            return f->catalogue->row[row].colour != NULL;
    return 0;
}

/* Draws our methods wider than the others. */
static void plot_curves(plot *p, const findings *f, const experiment *e, int64_t q, arrival when)
{
    const char *before = "plot ";
    for (int64_t row = 0; row < f->catalogue->rows; row++) {
        const contender *who = &f->catalogue->row[row];
        if (!has_curve(f, e, row, q, when))
            continue;
        int ours = who->method && strncmp(who->method, "roofs", 5) == 0 && who->kind == ANSWER_FIT;
        fprintf(p->script,
                "%s$r%" PRId64 " using 1:2 with linespoints lw %s pt 7 ps 0.4 lc rgb %s%s", before,
                row, ours ? "2.6" : "1.3", who->colour, who->dashed ? " dt (6,4)" : "");
        before = ", ";
    }
    fputs(strcmp(before, "plot ") == 0 ? "plot -1 lc rgb grid\n" : "\n", p->script);
}

roofs_status figure_panel(FILE *page, const findings *f, const experiment *e, int64_t q,
                          arrival when, roofs_error *err)
{
    plot p;
    char label[200];
    TRY(plot_begin(&p, PLOT_HEIGHT, e->timed ? LEFT_FOR_TIMES : PLOT_LEFT, err));
    extent range = put_curves(&p, f, e, q, when);
    if (!(range.low <= range.high))
        range = (extent){0, 1};
    if (e->timed)
        axis_of_times(&p, range);
    else if (e->measure == MEASURE_L2_ERROR)
        plot_axis(&p, 'y', 0, fmin(range.high, HIGHEST_ERROR), 0);
    else
        plot_axis(&p, 'y', e->measure == MEASURE_FEATURE_F1 ? 0 : range.low, range.high, 0);
    axis_of_points(&p, e, &e->panels[q]);
    plot_curves(&p, f, e, q, when);
    snprintf(label, sizeof label, "%s, %s: curves of %s", e->panels[q].title,
             arrival_title(e, when), measure_name(e->measure));
    return plot_end(&p, page, label, err);
}
