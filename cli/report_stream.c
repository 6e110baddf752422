/* The figures with one value per batch. */
#include "cli/report_fit.h"
#include "cli/report_page.h"
#include "cli/report_plot.h"

#include <inttypes.h>
#include <math.h>

enum { POINTS = 500, MARKED = 40 };

typedef enum batch_quantity { TRUSTED, CUT, ENTERED, SELECTED } batch_quantity;

static double batch_value(const roofs_batch *b, batch_quantity what)
{
    const double values[] = {
        [TRUSTED] = (double)b->trusted,
        [CUT] = b->cut,
        [ENTERED] = (double)b->entered,
        [SELECTED] = (double)b->selected,
    };
    return values[what];
}

typedef struct panel {
    const char *title, *caption;
    batch_quantity quantity;
    int whole;     /* counts */
    int from_zero; /* the axis includes 0 */
} panel;

static const panel panels[] = {
    {"Trusted samples", "After every batch.", TRUSTED, 1, 0},
    {"Cut", "Largest residual of a trusted sample.", CUT, 0, 1},
    {"Features that entered", "New in the batch and selected after it.", ENTERED, 1, 1},
    {"Selected features", "After every batch.", SELECTED, 1, 1},
};

/* The mean of batches from..to - 1: a point of a long stream stands for several batches. */
static double batches_mean(const panel *what, const roofs_result *m, int64_t from, int64_t to)
{
    double sum = 0;
    for (int64_t k = from; k < to; k++)
        sum += batch_value(&m->history[k], what->quantity);
    return sum / (double)(to - from);
}

static void panel_points(plot *p, const panel *what, const roofs_result *m, int64_t every)
{
    double low = INFINITY, high = -INFINITY;
    fputs("$batches << EOD\n", p->script);
    for (int64_t k = 0; k < m->batches; k += every) {
        int64_t end = k + every < m->batches ? k + every : m->batches;
        double value = batches_mean(what, m, k, end);
        fprintf(p->script, "%.17g %.17g\n", 0.5 * (double)(k + 1 + end), value);
        low = fmin(low, value);
        high = fmax(high, value);
    }
    fputs("EOD\n", p->script);
    plot_axis(p, 'y', what->from_zero ? fmin(0, low) : low, high, what->whole);
}

/* Number of passes over the stream. */
static int64_t passes_of(const roofs_result *m)
{
    int64_t arrived = 0;
    for (int64_t k = 0; k < m->batches; k++)
        arrived += m->history[k].features;
    return m->features_seen > 0 ? arrived / m->features_seen : 1;
}

/* A dotted line at the start of every pass. */
static void mark_passes(plot *p, const roofs_result *m)
{
    int64_t arrived = 0;
    if (passes_of(m) > MARKED)
        return;
    for (int64_t k = 0; k + 1 < m->batches; k++) {
        double end = (double)k + 1.5;
        arrived += m->history[k].features;
        if (arrived % m->features_seen == 0)
            fprintf(p->script,
                    "set arrow from %.17g, graph 0 to %.17g, graph 1 nohead"
                    " lc rgb muted lw 1 dt (2,4)\n",
                    end, end);
    }
}

static roofs_status draw_panel(FILE *page, const panel *what, const roofs_result *m, int64_t every,
                               roofs_error *err)
{
    plot p;
    TRY(plot_begin(&p, PLOT_HEIGHT - 60, PLOT_LEFT, err));
    panel_points(&p, what, m, every);
    mark_passes(&p, m);
    plot_axis(&p, 'x', 0.5, (double)m->batches + 0.5, 1);
    plot_axis_name(&p, 'x', "batch");
    fprintf(p.script, "set boxwidth %g\nplot $batches using 1:2 with ",
            m->batches > MARKED ? (double)every : 0.7);
    if (what->quantity == ENTERED)
        fputs("boxes lc rgb blue\n", p.script);
    else if (m->batches > MARKED)
        fputs("lines lw 2 lc rgb blue\n", p.script);
    else
        fputs("linespoints lw 2 pt 7 ps 0.4 lc rgb blue\n", p.script);
    return plot_end(&p, page, what->title, err);
}

roofs_status figures_stream(FILE *page, const roofs_result *m, roofs_error *err)
{
    int64_t every = (m->batches + POINTS - 1) / POINTS;
    char more[96] = "";
    if (every > 1)
        snprintf(more, sizeof more, " Means of %" PRId64 " batches.", every);
    else if (passes_of(m) > 1)
        snprintf(more, sizeof more, " Dotted: the next pass begins.");
    for (size_t k = 0; k < sizeof panels / sizeof *panels; k++) {
        page_figure(page, panels[k].title, NULL, "%s%s", panels[k].caption, k == 0 ? more : "");
        TRY(draw_panel(page, &panels[k], m, every, err));
    }
    return ROOFS_OK;
}
