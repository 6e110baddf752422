/* The figures of a trace: the paths of the coefficients, time and memory per batch. */
#include "cli/report_fit.h"
#include "cli/report_page.h"
#include "cli/report_plot.h"
#include "cli/top.h"

#include <inttypes.h>
#include <math.h>

enum { PATHS = 8, POINTS = 500, LABEL_COLUMNS = 14 };

static const char *const colours[PATHS] = {"blue", "orange", "green", "plum",
                                           "teal", "red",    "gold",  "brown"};

/* ---- the paths of the coefficients ------------------------------------- */

typedef struct paths {
    const roofs_result *m;
    int64_t top[PATHS];
    int64_t count;
} paths;

/* 0 if the feature is not in the line. */
static double coef_in(const trace_line *line, int64_t index)
{
    for (int64_t k = 0; k < line->count; k++)
        if (line->weights[k].index == index)
            return line->weights[k].coef;
    return 0;
}

static void put_path_keys(FILE *page, const paths *p)
{
    fputs("<p class=\"keys\">", page);
    for (int64_t k = 0; k < p->count; k++) {
        short_text number = {0};
        page_key_begin(page, colours[k], 0);
        page_text_short(page, feature_label(&p->m->features[p->top[k]], &number), LABEL_COLUMNS);
        fputs("</span> ", page);
    }
    fputs("</p>\n", page);
}

/* The path of one feature, always with the last line of the trace. */
static void put_path(plot *p, const trace_lines *t, int64_t k, int64_t index, int64_t every,
                     double *low, double *high)
{
    fprintf(p->script, "$path%" PRId64 " << EOD\n", k);
    for (int64_t b = 0; b < t->count; b += b + every < t->count ? every : 1) {
        double coef = coef_in(&t->lines[b], index);
        fprintf(p->script, "%" PRId64 " %.9g\n", b + 1, coef);
        *low = fmin(*low, coef);
        *high = fmax(*high, coef);
    }
    fputs("EOD\n", p->script);
}

static roofs_status draw_paths(FILE *page, const paths *shown, const trace_lines *t,
                               roofs_error *err)
{
    plot p;
    double low = 0, high = 0;
    TRY(plot_begin(&p, PLOT_HEIGHT, PLOT_LEFT, err));
    for (int64_t k = 0; k < shown->count; k++)
        put_path(&p, t, k, shown->m->features[shown->top[k]].index, 1 + t->count / POINTS, &low,
                 &high);
    plot_axis(&p, 'y', low, low < high ? high : 1, 0);
    plot_axis(&p, 'x', 1, fmax(2, (double)t->count), 1);
    plot_axis_name(&p, 'x', "batch");
    fputs("plot 0 lw 0.7 lc rgb muted", p.script);
    for (int64_t k = 0; k < shown->count; k++)
        fprintf(p.script, ", $path%" PRId64 " using 1:2 with fsteps lw 1.8 lc rgb %s", k,
                colours[k]);
    fputc('\n', p.script);
    return plot_end(&p, page, "Paths of the largest coefficients over the stream", err);
}

static roofs_status figure_paths(FILE *page, const roofs_result *m, const trace_lines *t,
                                 roofs_error *err)
{
    paths shown = {.m = m};
    shown.count = top_features(m, PATHS, shown.top);
    page_figure(
        page, "Paths of the coefficients", NULL,
        "The coefficients with the %s largest effects, batch by batch. Zero: not selected, or not "
        "among the %d largest at that batch.",
        text_of_count(shown.count).text, TRACE_MOST);
    put_path_keys(page, &shown);
    return draw_paths(page, &shown, t, err);
}

/* ---- time and memory --------------------------------------------------- */

typedef double (*line_value)(const trace_line *line);

static double milliseconds_of(const trace_line *line)
{
    return 1000 * line->fitting;
}

static double megabytes_of(const trace_line *line)
{
    return line->bytes / 1e6;
}

static roofs_status figure_cost(FILE *page, const trace_lines *t, const char *title,
                                const char *caption, line_value value, roofs_error *err)
{
    plot p;
    double high = 0;
    page_figure(page, title, NULL, "%s", caption);
    TRY(plot_begin(&p, PLOT_HEIGHT - 60, PLOT_LEFT, err));
    fputs("$line << EOD\n", p.script);
    for (int64_t b = 0; b < t->count; b += 1 + t->count / POINTS) {
        fprintf(p.script, "%" PRId64 " %.9g\n", b + 1, value(&t->lines[b]));
        high = fmax(high, value(&t->lines[b]));
    }
    fputs("EOD\n", p.script);
    plot_axis(&p, 'y', 0, high > 0 ? high : 1, 0);
    plot_axis(&p, 'x', 1, fmax(2, (double)t->count), 1);
    plot_axis_name(&p, 'x', "batch");
    fputs("plot $line using 1:2 with lines lw 1.8 lc rgb blue\n", p.script);
    return plot_end(&p, page, title, err);
}

/* ---- where the time went ------------------------------------------------ */

static double number_in(const json_t *object, const char *name)
{
    return json_number_value(json_object_get(object, name));
}

static void put_phase(FILE *page, const char *name, const json_t *phase, double bandwidth,
                      double total)
{
    const double seconds = number_in(phase, "seconds"), bytes = number_in(phase, "bytes_read");
    fputs("<tr><td>", page);
    page_text_short(page, name, LABEL_COLUMNS);
    fprintf(page, "</td><td class=\"n\" data-v=\"%.9g\">%s</td>", seconds,
            text_of_seconds(seconds).text);
    fprintf(page, "<td class=\"n\" data-v=\"%.9g\">%s</td>", seconds,
            text_of_share(seconds, total).text);
    fprintf(page, "<td class=\"n\" data-v=\"%.9g\">%s</td>", bytes,
            bytes > 0 ? text_of_bytes(bytes).text : "");
    const double rate = seconds > 0 ? bytes / seconds : 0;
    fprintf(page, "<td class=\"n\" data-v=\"%.9g\">%s</td></tr>\n", rate,
            rate > 0 && bandwidth > 0 ? text_of_share(rate, bandwidth).text : "");
}

/* The profile of 'roofs fit --profile'. */
static void put_profile(FILE *page, json_t *profile)
{
    static const char *const headings[] = {"Phase",       "#Time",         "#Share",
                                           "#Bytes read", "#Of bandwidth", NULL};
    json_t *phases = json_object_get(profile, "phases");
    const double bandwidth = number_in(profile, "bandwidth");
    double total = 0;
    if (json_object_size(phases) == 0)
        return;
    for (void *at = json_object_iter(phases); at; at = json_object_iter_next(phases, at))
        total += number_in(json_object_iter_value(at), "seconds");
    fputs("<div class=\"card\">\n<h3>Where the time went</h3>\n<p class=\"note\">", page);
    if (bandwidth > 0)
        fprintf(page, "The memory of the machine gave %s per second.",
                text_of_bytes(bandwidth).text);
    fputs("</p>\n", page);
    page_table(page, headings);
    for (void *at = json_object_iter(phases); at; at = json_object_iter_next(phases, at))
        put_phase(page, json_object_iter_key(at), json_object_iter_value(at), bandwidth, total);
    page_table_end(page);
    fputs("</div>\n", page);
}

roofs_status figures_trace(FILE *page, const roofs_result *m, const trace_lines *t,
                           roofs_error *err)
{
    TRY(figure_paths(page, m, t, err));
    TRY(figure_cost(page, t, "Time per batch", "Milliseconds to fit, without reading.",
                    milliseconds_of, err));
    TRY(figure_cost(page, t, "Memory", "Megabytes in use after every batch.", megabytes_of, err));
    put_profile(page, t->profile);
    return ROOFS_OK;
}
