/* The figures of one fit. */
#include "base/memory.h"
#include "base/sorted.h"
#include "cli/report_fit.h"
#include "cli/report_page.h"
#include "cli/report_plot.h"
#include "cli/top.h"

#include <inttypes.h>
#include <math.h>

/* ---- the largest coefficients ------------------------------------------ */

enum { BARS = 30, FEW = 12, NAME_COLUMNS = 22, LETTER = 7 };

typedef struct bars {
    const roofs_result *m;
    int64_t top[BARS];
    int64_t count;
} bars;

static void put_bar_name(FILE *page, const void *user, int64_t k)
{
    const bars *b = user;
    short_text number = {0};
    page_text_short(page, feature_label(&b->m->features[b->top[k]], &number), NAME_COLUMNS);
}

/* Width of the longest name as it is shown. */
static int name_width(const bars *b)
{
    int64_t longest = 4;
    for (int64_t k = 0; k < b->count; k++) {
        short_text number = {0};
        int64_t length = page_text_length(feature_label(&b->m->features[b->top[k]], &number));
        longest = length > longest ? length : longest;
    }
    return (int)(longest < NAME_COLUMNS ? longest : NAME_COLUMNS) * LETTER + 14;
}

static void script_bars(plot *p, const bars *b)
{
    double low = 0, high = 0;
    fputs("$bars << EOD\n", p->script);
    for (int64_t k = 0; k < b->count; k++) {
        double effect = feature_effect(b->m, b->top[k]);
        fprintf(p->script, "%" PRId64 " %.17g\n", k, effect);
        low = fmin(low, effect);
        high = fmax(high, effect);
    }
    fputs("EOD\n", p->script);
    plot_axis(p, 'x', low, low < high ? high : 1, 0);
    plot_axis_name(p, 'x', b->m->scale ? "effect" : "coefficient");
    fprintf(p->script,
            "set yrange [%g:-0.6]\nunset grid\nset grid xtics back lt 1 lw 1 lc rgb grid\n"
            "set border 0\nset ytics textcolor rgb ink\n",
            (double)b->count - 0.4);
    fputs("set ytics (", p->script);
    for (int64_t k = 0; k < b->count; k++)
        fprintf(p->script, "%s\"@%" PRId64 "\" %" PRId64, k ? ", " : "", k, k);
    fputs(")\nset arrow from 0,graph 0 to 0,graph 1 nohead lc rgb muted lw 0.7\n"
          "colour(v) = v < 0 ? plum : blue\n"
          "plot $bars using (0):1:(0):2:($1-0.32):($1+0.32):(colour($2))"
          " with boxxyerror lc rgb variable\n",
          p->script);
}

roofs_status figure_coefficients(FILE *page, const roofs_result *m, roofs_error *err)
{
    static const page_key keys[] = {{"blue", "positive"}, {"plum", "negative"}, {0}};
    bars b = {.m = m};
    b.count = top_features(m, BARS, b.top);
    page_figure(page, m->scale ? "Largest effects" : "Largest coefficients", keys,
                "%s%s, sorted by absolute value.", b.count < m->selected ? "The largest " : "All ",
                text_of_count(b.count).text);
    plot p;
    TRY(plot_begin(&p, (int)b.count * (b.count > FEW ? 17 : 24) + 60, name_width(&b), err));
    p.name = put_bar_name;
    p.user = &b;
    script_bars(&p, &b);
    return plot_end(&p, page, "Bars of the largest effects", err);
}

/* ---- sorted residuals -------------------------------------------------- */

/* Linear, or linear up to the cut and logarithmic beyond it, so that far outliers do not flatten
 * the other residuals. */
typedef struct scale {
    double unit; /* 0 = linear */
} scale;

static double scaled(scale s, double value)
{
    return s.unit > 0 ? asinh(value / s.unit) : value;
}

static double largest_residual(const roofs_result *m)
{
    return fmax(fabs(m->quantile[0]), fabs(m->quantile[m->quantiles - 1]));
}

static scale choose_scale(const roofs_result *m)
{
    enum { FAR = 20 };
    double largest = largest_residual(m);
    int is_far = m->cut > 0 && largest / FAR > m->cut;
    return (scale){is_far ? fmax(m->cut, 1e-15 * largest) : 0};
}

/* Labels at powers of ten beyond the cut, at most `MOST` on a side. */
static void axis_logarithmic(plot *p, const roofs_result *m, scale s)
{
    enum { MOST = 3 };
    double low = scaled(s, m->quantile[0]), high = scaled(s, m->quantile[m->quantiles - 1]);
    double edge = scaled(s, m->cut) * 1.4;
    low = fmin(low, -edge);
    high = fmax(high, edge);
    double margin = 0.04 * (high - low);
    int first = (int)ceil(log10(s.unit)), last = (int)floor(log10(largest_residual(m)));
    int every = 1 + (last - first) / MOST;
    fprintf(p->script, "set yrange [%.17g:%.17g]\nset ytics (\"0\" 0", low - margin, high + margin);
    for (int k = last; k >= first; k -= every) {
        char text[32];
        double value = pow(10, k);
        plot_short_number(text, sizeof text, value);
        fprintf(p->script, ", \"%s\" %.17g, \"-%s\" %.17g", text, scaled(s, value), text,
                -scaled(s, value));
    }
    fputs(")\n", p->script);
}

/* Position, residual within the cut, residual beyond the cut; "?" for the one that does not apply.
 */
static void residual_points(plot *p, const roofs_result *m, scale s)
{
    double last = m->quantiles > 1 ? (double)(m->quantiles - 1) : 1;
    fputs("set datafile missing \"?\"\n$points << EOD\n", p->script);
    for (int64_t k = 0; k < m->quantiles; k++) {
        double r = m->quantile[k];
        const char *format = fabs(r) <= m->cut ? "%.6g %.17g ?\n" : "%.6g ? %.17g\n";
        fprintf(p->script, format, (double)k / last, scaled(s, r));
    }
    fputs("EOD\n", p->script);
}

static void script_residuals(plot *p, const roofs_result *m, scale s)
{
    double cut = scaled(s, m->cut);
    residual_points(p, m, s);
    plot_axis_share(p, 'x');
    plot_axis_name(p, 'x', "share of the samples, sorted by residual");
    if (s.unit > 0)
        axis_logarithmic(p, m, s);
    else
        plot_axis(p, 'y', fmin(m->quantile[0], -m->cut),
                  fmax(m->quantile[m->quantiles - 1], m->cut), 0);
    for (int sign = -1; sign <= 1; sign += 2)
        fprintf(p->script,
                "set arrow from graph 0, first %.17g to graph 1, first %.17g nohead"
                " lc rgb muted lw 1 dt (5,4)\n",
                sign * cut, sign * cut);
    fprintf(p->script,
            "size = %g\nplot $points using 1:2 with points pt 7 ps size lc rgb blue,"
            " $points using 1:3 with points pt 7 ps size lc rgb orange\n",
            m->quantiles > FEW ? 0.4 : 0.8);
}

roofs_status figure_residuals(FILE *page, const roofs_result *m, roofs_error *err)
{
    static const page_key keys[] = {{"blue", "within the cut"}, {"orange", "beyond the cut"}, {0}};
    if (m->quantiles == 0)
        return ROOFS_OK;
    scale s = choose_scale(m);
    page_figure(page, "Sorted residuals", keys,
                "Samples beyond the cut (dashed, at &plusmn;%.4g) are not trusted%s.%s", m->cut,
                m->clean ? "; a few within the cut may not be trusted either" : "",
                s.unit > 0 ? " The scale is logarithmic beyond the cut." : "");
    plot p;
    TRY(plot_begin(&p, PLOT_HEIGHT, PLOT_LEFT, err));
    script_residuals(&p, m, s);
    return plot_end(&p, page, "Residuals in ascending order, with the cut", err);
}

/* ---- trusted samples in the order of the data ------------------------------ */

roofs_status figure_samples(FILE *page, const roofs_result *m, roofs_error *err)
{
    enum { STRIPS = 160 };
    static const page_key keys[] = {{"soft", "trusted"}, {"orange", "not trusted"}, {0}};
    int64_t strips = m->n < STRIPS ? m->n : STRIPS;
    char what[96] = "One bar per sample.";
    if (m->n > STRIPS)
        snprintf(what, sizeof what, "Every bar shows about %s consecutive samples.",
                 text_of_count((m->n + strips / 2) / strips).text);
    page_figure(page, "Trusted samples in the order of the data", keys, "%s", what);
    plot p;
    TRY(plot_begin(&p, PLOT_HEIGHT, PLOT_LEFT, err));
    fputs("$strips << EOD\n", p.script);
    for (int64_t k = 0; k < strips; k++) {
        int64_t from = k * m->n / strips, to = (k + 1) * m->n / strips, bad = 0;
        for (int64_t i = from; i < to; i++)
            bad += !m->trust[i];
        fprintf(p.script, "%.17g %.17g %.6g\n", (double)from, (double)to,
                (double)bad / (double)(to - from));
    }
    fputs("EOD\n", p.script);
    plot_axis(&p, 'x', 0, (double)m->n, 1);
    plot_axis_name(&p, 'x', "sample");
    plot_axis_share(&p, 'y');
    fputs("unset grid\n"
          "plot $strips using 1:(0):1:2:(0):(1) with boxxyerror lc rgb soft,"
          " $strips using 1:(0):1:2:(0):3 with boxxyerror lc rgb orange\n",
          p.script);
    return plot_end(&p, page, "Trusted and untrusted samples in the order of the data", err);
}

/* ---- the probability that a sample is clean --------------------------------- */

static const page_key trust_keys[] = {
    {"orange", "not trusted, below one half"}, {"blue", "trusted"}, {0}};

/* Writes position, probability, the probability if not trusted, and if trusted, for about `POINTS`
 * of the sorted samples. Includes the two samples between which trust changes, so that the lines
 * join. */
static void clean_points(plot *p, const double *sorted, int64_t n)
{
    enum { POINTS = 600 };
    int64_t every = (n + POINTS - 1) / POINTS;
    fputs("$clean << EOD\n", p->script);
    for (int64_t k = 0; k < n; k++) {
        int trusted = sorted[k] > 0.5;
        int last_not = !trusted && k + 1 < n && sorted[k + 1] > 0.5;
        int first_trusted = trusted && k > 0 && sorted[k - 1] <= 0.5;
        if (k % every != 0 && k != n - 1 && !last_not && !first_trusted)
            continue;
        fprintf(p->script, "%.17g %.6g %.6g %.6g\n", (double)k + 0.5, sorted[k],
                trusted ? NAN : sorted[k], trusted || last_not ? sorted[k] : NAN);
    }
    fputs("EOD\n", p->script);
}

static void script_clean(plot *p, const double *sorted, int64_t n)
{
    enum { MARKED = 60 };
    const char *how = n <= MARKED ? "linespoints pt 7 ps 0.4" : "lines";
    clean_points(p, sorted, n);
    plot_axis(p, 'x', 0, (double)n, 1);
    plot_axis_name(p, 'x', "samples, sorted by the probability");
    plot_axis_share(p, 'y');
    fprintf(p->script,
            "set arrow from graph 0, first 0.5 to graph 1, first 0.5 nohead"
            " lc rgb muted lw 1 dt (5,4)\n"
            "plot $clean using 1:2 with filledcurves y=0 fs transparent solid 0.15 lc rgb blue,"
            " $clean using 1:4 with %s lw 2 lc rgb blue,"
            " $clean using 1:3 with %s lw 2 lc rgb orange\n",
            how, how);
}

roofs_status figure_clean_sorted(FILE *page, const roofs_result *m, roofs_error *err)
{
    page_figure(page, "Probability of being clean, sorted", trust_keys,
                "A steep step means that clean and corrupted samples are well separated.");
    double *sorted = NULL;
    TRY(sorted_copy(&sorted, m->clean, m->n, err));
    plot p;
    roofs_status status = plot_begin(&p, PLOT_HEIGHT, PLOT_LEFT, err);
    if (status == ROOFS_OK) {
        script_clean(&p, sorted, m->n);
        status = plot_end(&p, page, "Probability of being clean, samples sorted by it", err);
    }
    memory_free(sorted);
    return status;
}

roofs_status figure_clean_histogram(FILE *page, const roofs_result *m, roofs_error *err)
{
    enum { BINS = 10 };
    int64_t bins[BINS] = {0}, most = 1;
    for (int64_t i = 0; i < m->n; i++) {
        int bin = (int)(m->clean[i] * BINS);
        bins[bin < BINS ? bin : BINS - 1]++;
    }
    page_figure(page, "Histogram of the probability of being clean", trust_keys,
                "Number of samples per interval. Samples near one half are in doubt.");
    plot p;
    TRY(plot_begin(&p, PLOT_HEIGHT, 14, err));
    fputs("$bins << EOD\n", p.script);
    for (int k = 0; k < BINS; k++) {
        char text[32];
        plot_short_number(text, sizeof text, (double)bins[k]);
        if (bins[k] == 0)
            snprintf(text, sizeof text, "\"\"");
        fprintf(p.script, "%g %" PRId64 " %s\n", (k + 0.5) / BINS, bins[k], text);
        most = bins[k] > most ? bins[k] : most;
    }
    fputs("EOD\n", p.script);
    plot_axis_share(&p, 'x');
    plot_axis_name(&p, 'x', "probability of being clean");
    fprintf(p.script,
            "set yrange [0:%g]\nunset ytics\nunset grid\nset boxwidth 0.084\n"
            "colour(x) = x < 0.5 ? orange : blue\n"
            "plot $bins using 1:2:(colour($1)) with boxes lc rgb variable,"
            " $bins using 1:2:3 with labels offset 0,0.6 textcolor rgb ink\n",
            1.12 * (double)most);
    return plot_end(&p, page, "Histogram of the probability of being clean", err);
}
