#include "cli/report_plot.h"

#include <math.h>

/* The colour variables of the page, numbered from 1. gnuplot gets the number as a colour;
 * report_svg.c replaces the number by the name. */
static const char *const colours[] = {"ink",   "muted", "grid", "blue", "soft", "orange", "plum",
                                      "green", "teal",  "gold", "red",  "rose", "brown"};
enum { COLOURS = sizeof colours / sizeof *colours };

const char *plot_colour_name(int64_t number)
{
    return number >= 1 && number <= COLOURS ? colours[number - 1] : NULL;
}

/* ---- the frame --------------------------------------------------------- */

roofs_status plot_begin(plot *p, int height, int left, roofs_error *err)
{
    enum { RIGHT = 20, TOP = 10, BOTTOM = 46 };
    *p = (plot){.script = tmpfile()};
    if (!p->script)
        return fail(err, ROOFS_IO, "cannot make a temporary file for a plot");
    FILE *f = p->script;
    fprintf(f,
            "set encoding utf8\nset terminal svg size %d,%d dynamic noenhanced font \"Arial,13\"\n",
            PLOT_WIDTH, height);
    for (int k = 0; k < COLOURS; k++)
        fprintf(f, "%s = %d\n", colours[k], k + 1);
    fprintf(f, "set lmargin at screen %g\nset rmargin at screen %g\n", (double)left / PLOT_WIDTH,
            1 - (double)RIGHT / PLOT_WIDTH);
    fprintf(f, "set tmargin at screen %g\nset bmargin at screen %g\n", 1 - (double)TOP / height,
            (double)BOTTOM / height);
    fputs("unset key\n"
          "set border 1 lc rgb muted lw 0.7\n"
          "set xtics nomirror scale 0 textcolor rgb muted offset 0,0.2\n"
          "set ytics nomirror scale 0 textcolor rgb muted\n"
          "set grid ytics back lt 1 lw 1 lc rgb grid\n"
          "set style fill solid 1 noborder\n",
          f);
    return ROOFS_OK;
}

/* ---- axes -------------------------------------------------------------- */

static const double LARGEST = 1e300; /* below the limit of gnuplot */

void plot_short_number(char *text, size_t size, double value)
{
    static const char *const units[] = {"", "k", "M", "G"};
    size_t unit = 0;
    if (fabs(value) >= 1e4 && fabs(value) < 1e12)
        for (; fabs(value) >= 1e3; unit++)
            value /= 1e3;
    snprintf(text, size, "%.*g%s", unit > 0 ? 3 : 4, value, units[unit]);
}

/* The smallest of 1, 2, 5 times a power of ten that needs at most `most` steps. */
static double round_step(double range, int most, int whole)
{
    double power = pow(10, floor(log10(range / most)));
    double step = power;
    if (range / step > most)
        step = 2 * power;
    if (range / step > most)
        step = 5 * power;
    if (range / step > most)
        step = 10 * power;
    return whole && step < 1 ? 1 : step;
}

/* Widens an empty range around its value. */
static void plot_widen_range(double *low, double *high, int whole)
{
    double margin = whole ? 1 : 0.1 * fabs(*low);
    if (*high - *low > 1e-9 * fmax(fabs(*low), fabs(*high)))
        return;
    *low -= margin > 0 ? margin : 1;
    *high += margin > 0 ? margin : 1;
}

/* Adds a margin, so that no point is on the edge, except at 0. */
static void plot_add_margin(double *low, double *high, int whole)
{
    int from_zero = *low == 0;
    plot_widen_range(low, high, whole);
    double margin = 0.03 * (*high - *low);
    *low = from_zero ? 0 : *low - margin;
    *high += margin;
}

void plot_axis(plot *p, char axis, double low, double high, int whole)
{
    low = fmax(low, -LARGEST);
    high = fmin(high, LARGEST);
    if (axis == 'y')
        plot_add_margin(&low, &high, whole);
    double step = round_step(high - low, axis == 'x' ? 6 : 5, whole);
    double first = ceil(low / step - 1e-9);
    int count = 1 + (int)(floor(high / step + 1e-9) - first);
    fprintf(p->script, "set %crange [%.17g:%.17g]\nset %ctics (", axis, low, high, axis);
    for (int k = 0; k < count; k++) {
        double value = (first + k) * step + 0.0; /* no -0 */
        char text[32];
        plot_short_number(text, sizeof text, value);
        fprintf(p->script, "%s\"%s\" %.17g", k ? ", " : "", text, value);
    }
    fputs(")\n", p->script);
}

void plot_axis_share(plot *p, char axis)
{
    fprintf(p->script, "set %crange [0:1]\nset %ctics (", axis, axis);
    for (int percent = 0; percent <= 100; percent += 20)
        fprintf(p->script, "%s\"%d%%%%\" %g", percent ? ", " : "", percent, percent / 100.0);
    fputs(")\n", p->script);
}

void plot_axis_name(plot *p, char axis, const char *name)
{
    fprintf(p->script, "set %clabel \"%s\" textcolor rgb muted offset 0,0.5\n", axis, name);
}
