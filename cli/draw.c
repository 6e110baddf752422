#include "cli/draw.h"

#include "cli/print.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { EIGHTHS = 8 };

/* Levels 0..8 of a character filled from below, and from the left. */
static const char *const rising[] = {" ",      "\u2581", "\u2582", "\u2583", "\u2584",
                                     "\u2585", "\u2586", "\u2587", "\u2588"};
static const char *const growing[] = {"",       "\u258f", "\u258e", "\u258d", "\u258c",
                                      "\u258b", "\u258a", "\u2589", "\u2588"};
static const char *const plain[] = {" ", ".", ".", ":", ":", "|", "|", "#", "#"};

canvas canvas_stdout(void)
{
    return (canvas){.width = terminal_width(stdout) < 120 ? terminal_width(stdout) : 120,
                    .utf8 = terminal_is_utf8(),
                    .colour = terminal_colour(stdout)};
}

void draw_heading(const canvas *c, const char *text)
{
    printf("\n%s%s%s\n", c->colour ? "\033[1m" : "", text, c->colour ? "\033[0m" : "");
}

static int draw_clamp(int value, int low, int high)
{
    return value < low ? low : value > high ? high : value;
}

void draw_bar(const canvas *c, double share, int columns)
{
    int eighths = draw_clamp((int)lround(share * columns * EIGHTHS), share > 0, columns * EIGHTHS);
    int steps = c->utf8 ? eighths / EIGHTHS : (eighths + EIGHTHS - 1) / EIGHTHS;
    for (int k = 0; k < steps; k++)
        fputs(c->utf8 ? growing[EIGHTHS] : "#", stdout);
    if (c->utf8)
        fputs(growing[eighths % EIGHTHS], stdout);
}

/* ---- sparkline --------------------------------------------------------- */

static double draw_mean(const double *values, int64_t from, int64_t to)
{
    double sum = 0;
    for (int64_t k = from; k < to; k++)
        sum += values[k];
    return sum / (double)(to - from);
}

void draw_sparkline(const canvas *c, const double *values, int64_t count, int columns)
{
    int64_t drawn = count < columns ? count : columns;
    double low = INFINITY, high = -INFINITY;
    for (int64_t k = 0; k < count; k++) {
        low = fmin(low, values[k]);
        high = fmax(high, values[k]);
    }
    for (int64_t k = 0; k < drawn; k++) {
        double value = draw_mean(values, k * count / drawn, (k + 1) * count / drawn);
        double share = high > low ? (value - low) / (high - low) : 1;
        int level = draw_clamp(1 + (int)lround(share * (EIGHTHS - 1)), 1, EIGHTHS);
        fputs((c->utf8 ? rising : plain)[level], stdout);
    }
}

/* ---- histogram --------------------------------------------------------- */

enum { ROWS = 6, COLUMNS_MOST = 100, FARTHEST = 3 /* cuts from the middle */ };

typedef struct histogram {
    int half;                  /* columns on each side of 0 */
    int cut_columns;           /* columns from 0 to the cut */
    double column;             /* width of one column in units of the residual */
    double below, above;       /* shares beyond the drawing */
    double mass[COLUMNS_MOST]; /* share per column */
} histogram;

/* Share of the samples up to x, by linear interpolation between quantiles. */
static double share_up_to(const double *quantile, int64_t count, double x)
{
    if (x < quantile[0])
        return 0;
    if (x >= quantile[count - 1])
        return 1;
    int64_t low = 0, high = count - 1;
    while (high - low > 1) {
        int64_t middle = low + (high - low) / 2;
        if (quantile[middle] <= x)
            low = middle;
        else
            high = middle;
    }
    double inside = (x - quantile[low]) / (quantile[high] - quantile[low]);
    return ((double)low + inside) / (double)(count - 1);
}

/* Puts the cut between two columns. Counts far outliers but does not draw them, because they would
 * flatten the other columns. */
static void histogram_fill(histogram *h, const canvas *c, const double *q, int64_t count,
                           double cut)
{
    int most = draw_clamp((c->width - 4) / 2, 10, COLUMNS_MOST / 2);
    double farthest = fmax(fabs(q[0]), fabs(q[count - 1]));
    double reach = fmin(fmax(farthest / cut, 1.0), FARTHEST);
    h->cut_columns = draw_clamp((int)(most / reach), 1, most);
    h->half = draw_clamp((int)ceil(h->cut_columns * reach), 1, most);
    h->column = cut / h->cut_columns;
    double before = share_up_to(q, count, -h->half * h->column * (1 + 1e-12));
    h->below = before;
    for (int k = 0; k < 2 * h->half; k++) {
        int last = k == 2 * h->half - 1;
        double end = (k + 1 - h->half) * h->column * (last ? 1 + 1e-12 : 1);
        double up_to = share_up_to(q, count, end);
        h->mass[k] = up_to - before;
        before = up_to;
    }
    h->above = 1 - before;
}

static void draw_rows(const histogram *h, const canvas *c)
{
    double highest = 0;
    for (int k = 0; k < 2 * h->half; k++)
        highest = fmax(highest, h->mass[k]);
    for (int row = ROWS - 1; row >= 0; row--) {
        fputs("  ", stdout);
        for (int k = 0; k < 2 * h->half; k++) {
            double share = highest > 0 ? h->mass[k] / highest : 0;
            int eighths =
                draw_clamp((int)lround(share * ROWS * EIGHTHS), share > 0, ROWS * EIGHTHS);
            int level = draw_clamp(eighths - row * EIGHTHS, 0, EIGHTHS);
            fputs((c->utf8 ? rising : plain)[level], stdout);
        }
        putchar('\n');
    }
}

/* Marks the column just inside the cut. */
static void draw_axis(const histogram *h, const canvas *c, double cut)
{
    int left = h->half - h->cut_columns, right = h->half + h->cut_columns - 1;
    fputs("  ", stdout);
    for (int k = 0; k < 2 * h->half; k++) {
        int mark = k == left || k == right;
        fputs(c->utf8 ? (mark ? "\u2534" : "\u2500") : (mark ? "+" : "-"), stdout);
    }
    char low[32], high[32];
    snprintf(low, sizeof low, "%.4g", -cut);
    snprintf(high, sizeof high, "+%.4g", cut);
    int start = draw_clamp(2 + left - (int)strlen(low) / 2, 0, 2 + left);
    int gap = 2 + right - (int)strlen(high) / 2 - start - (int)strlen(low);
    printf("\n%*s%s%*s%s\n", start, "", low, gap < 1 ? 1 : gap, "", high);
}

static void draw_tails(const histogram *h, const canvas *c, double lowest, double highest)
{
    char text[200];
    snprintf(text, sizeof text,
             "not drawn: %s on the left, %s on the right (all residuals: %.4g to %.4g)",
             text_of_share(h->below, 1).text, text_of_share(h->above, 1).text, lowest, highest);
    fputs("  ", stdout);
    print_wrapped(stdout, text, c->width, 2, 2);
}

void draw_histogram(const canvas *c, const double *quantile, int64_t count, double cut)
{
    if (count < 2 || quantile[0] == quantile[count - 1] || !(cut > 0)) {
        if (count > 0)
            printf("  from %.6g to %.6g, cut %.6g\n", quantile[0], quantile[count - 1], cut);
        return;
    }
    histogram h = {0};
    histogram_fill(&h, c, quantile, count, cut);
    draw_rows(&h, c);
    draw_axis(&h, c, cut);
    if (h.below > 0 || h.above > 0)
        draw_tails(&h, c, quantile[0], quantile[count - 1]);
}
