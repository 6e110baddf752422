/* The page of a reproduction: tables with the numbers of the paper, and figures. */
#include "cli/embedded.h"
#include "cli/folder.h"
#include "cli/report_page.h"
#include "cli/reproduce/results.h"
#include "cli/reproduce/verdict.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* ---- a table ----------------------------------------------------------- */

/* The paper prints numbers only for its tables. */
static int has_paper(const findings *f, const experiment *e)
{
    for (int64_t row = 0; row < f->catalogue->rows; row++)
        if (!isnan(e->paper[row][0][0]))
            return 1;
    return 0;
}

static void table_put_heading(FILE *page, const char *point, const char *what, int edge)
{
    fprintf(page, "<th class=\"n%s\" scope=\"col\"><button>%s<br>%s</button></th>",
            edge ? " edge" : "", point, what);
}

static void put_headings(FILE *page, const findings *f, const experiment *e, const panel *p)
{
    fputs("<div class=\"scroll wide\"><table>\n<thead><tr><th scope=\"col\"><button>"
          "<br>answer</button></th>",
          page);
    for (int64_t k = 0; k < p->points; k++) {
        const short_text at = text_of_point(p, k);
        if (has_paper(f, e))
            table_put_heading(page, at.text, f->quick ? "paper, its sizes" : "paper", 1);
        for (int a = 0; a < ARRIVALS; a++)
            table_put_heading(page, at.text, arrival_title(e, (arrival)a),
                              !has_paper(f, e) && a == 0);
    }
    for (int a = 0; a < ARRIVALS && e->timed; a++)
        table_put_heading(page, "exponent", arrival_title(e, (arrival)a), a == 0);
    fputs("</tr></thead>\n<tbody>\n", page);
}

static void table_put_number(FILE *page, double value, const char *text, const char *classes,
                             const char *note)
{
    fprintf(page, "<td class=\"n%s\" data-v=\"%.6g\"", classes, isnan(value) ? -1e9 : value);
    if (note[0]) {
        fputs(" title=\"", page);
        page_text(page, note);
        fputc('"', page);
    }
    fprintf(page, ">%s</td>", text);
}

static void put_ours(FILE *page, const findings *f, const experiment *e, int64_t row, int64_t q,
                     int64_t point, arrival when)
{
    static const char *const words[] = {" worse", " near", " better"};
    const cell number = summarise(f, e, row, q, point, when);
    double paper = e->paper[row][q][point];
    const char *colour = f->quick || isnan(paper) || isnan(number.mean)
                             ? ""
                             : words[1 + compare_with_paper(e->measure, number.mean, paper)];
    char note[1000], classes[40], text[80];
    explain_empty(f, e, row, q, point, &number, note, sizeof note);
    if (!note[0] && number.seeds < e->seeds)
        snprintf(note, sizeof note, "%" PRId64 " of %" PRId64 " seeds", number.seeds, e->seeds);
    snprintf(classes, sizeof classes, "%s%s", colour,
             !has_paper(f, e) && when == ARRIVAL_FIRST ? " edge" : "");
    if (isnan(number.mean) || isnan(number.error))
        snprintf(text, sizeof text, "%s", text_of_cell(e, &number).text);
    else
        snprintf(text, sizeof text,
                 e->timed ? "%.2g <small>&plusmn;%.1g</small>" : "%.3f <small>&plusmn;%.3f</small>",
                 number.mean, number.error);
    table_put_number(page, number.mean, text, classes, note);
}

/* The published method and roofs-bayes. */
static int is_ours(const contender *who)
{
    return who->kind == ANSWER_FIT && strncmp(who->method, "roofs", 5) == 0;
}

static void table_put_row(FILE *page, const findings *f, const experiment *e, int64_t row,
                          int64_t q)
{
    const contender *who = &f->catalogue->row[row];
    fprintf(page, "<tr%s><th scope=\"row\">%s</th>",
            is_ours(who)              ? " class=\"ours\""
            : who->kind == ANSWER_FIT ? ""
                                      : " class=\"reference\"",
            who->title);
    for (int64_t k = 0; k < e->panels[q].points; k++) {
        const cell printed = {.seeds = 1, .mean = e->paper[row][q][k], .error = NAN};
        if (has_paper(f, e))
            table_put_number(page, printed.mean,
                             isnan(printed.mean) ? "" : text_of_cell(e, &printed).text, " edge",
                             "");
        for (int a = 0; a < ARRIVALS; a++)
            put_ours(page, f, e, row, q, k, (arrival)a);
    }
    for (int a = 0; a < ARRIVALS && e->timed; a++) {
        double power = summarise_exponent(f, e, row, q, (arrival)a);
        char text[32] = "-";
        if (!isnan(power))
            snprintf(text, sizeof text, "%.2f", power);
        table_put_number(page, power, text, a == 0 ? " edge" : "", "");
    }
    fputs("</tr>\n", page);
}

/* Our rows come first and are visible without scrolling; then the other methods, then the
 * reference answers. */
static void put_table(FILE *page, const findings *f, const experiment *e, int64_t q)
{
    put_headings(page, f, e, &e->panels[q]);
    for (int kind = 0; kind < 3; kind++)
        for (int64_t row = 0; row < f->catalogue->rows; row++) {
            const contender *who = &f->catalogue->row[row];
            int own = is_ours(who) ? 0 : who->kind == ANSWER_FIT ? 1 : 2;
            if (own == kind && row_has_numbers(f, e, row, q))
                table_put_row(page, f, e, row, q);
        }
    page_table_end(page);
}

/* ---- an experiment ----------------------------------------------------- */

/* The mean of a row over all cells that have a number. */
static double mean_of_row(const findings *f, const experiment *e, const char *name, arrival when)
{
    double sum = 0, count = 0;
    for (int64_t row = 0; row < f->catalogue->rows; row++)
        for (int64_t q = 0; q < e->panel_count; q++)
            for (int64_t k = 0; k < e->panels[q].points; k++) {
                double mean = strcmp(f->catalogue->row[row].name, name) != 0
                                  ? NAN
                                  : summarise(f, e, row, q, k, when).mean;
                if (isnan(mean))
                    continue;
                sum += mean;
                count++;
            }
    return count > 0 ? sum / count : NAN;
}

static void put_means(FILE *page, const findings *f, const experiment *e)
{
    static const struct {
        const char *row, *words;
    } shown[] = {{"roofs", "RoOFS (2018)"},
                 {"bayes", "roofs-bayes"},
                 {"bayes-2", "roofs-bayes with two passes"},
                 {"first-mu", "the first mu features without selection"},
                 {"null", "the null answer"}};
    const char *before = "";
    for (size_t k = 0; k < sizeof shown / sizeof *shown; k++) {
        double first = mean_of_row(f, e, shown[k].row, ARRIVAL_FIRST);
        double random = mean_of_row(f, e, shown[k].row, ARRIVAL_RANDOM);
        if (isnan(first) || isnan(random))
            continue;
        if (!before[0])
            fprintf(page, "<p>Mean over all settings, %s / %s: ", arrival_title(e, ARRIVAL_FIRST),
                    arrival_title(e, ARRIVAL_RANDOM));
        fprintf(page, "%s%s <b>%.3f</b> / <b>%.3f</b>", before, shown[k].words, first, random);
        before = "; ";
    }
    if (before[0])
        fputs(".</p>\n", page);
}

/* True if a method, and not only a reference answer, has a number in this panel. */
static int has_results(const findings *f, const experiment *e, int64_t q)
{
    for (int64_t row = 0; row < f->catalogue->rows; row++)
        for (int64_t k = 0; k < e->panels[q].points; k++)
            for (int a = 0; a < ARRIVALS; a++)
                if (f->catalogue->row[row].kind == ANSWER_FIT &&
                    !isnan(summarise(f, e, row, q, k, (arrival)a).mean))
                    return 1;
    return 0;
}

static roofs_status put_figures(FILE *page, const findings *f, const experiment *e, int64_t q,
                                roofs_error *err)
{
    if (!has_results(f, e, q)) {
        fputs("<p class=\"note\">No method has run here, so there is nothing to draw. Hover over a "
              "dash in the table to read why.</p>\n",
              page);
        return ROOFS_OK;
    }
    fputs("<div class=\"figures\">\n", page);
    for (int a = 0; a < ARRIVALS; a++) {
        page_figure(page, arrival_title(e, (arrival)a), NULL, "%s", e->panels[q].title);
        TRY(figure_panel(page, f, e, q, (arrival)a, err));
    }
    fputs("</div>\n", page);
    return ROOFS_OK;
}

static void put_legend(FILE *page, const findings *f)
{
    fputs("<p class=\"keys\">", page);
    for (int64_t row = 0; row < f->catalogue->rows; row++) {
        const contender *who = &f->catalogue->row[row];
        if (!who->colour)
            continue;
        page_key_begin(page, who->colour, who->dashed);
        fprintf(page, "%s</span> ", who->title);
    }
    fputs("</p>\n", page);
}

/* Tables of figures are folded. */
static void put_numbers(FILE *page, const findings *f, const experiment *e, int64_t q)
{
    int folded = !has_paper(f, e) && !e->timed;
    if (folded)
        page_folded(page, "The numbers <small>%s</small>", e->panels[q].title);
    else
        fputs("<div class=\"card numbers\">\n", page);
    put_table(page, f, e, q);
    fputs(folded ? "</details>\n" : "</div>\n", page);
}

static roofs_status put_experiment(FILE *page, const findings *f, const experiment *e,
                                   roofs_error *err)
{
    fprintf(page, "<section id=\"%s\">\n<h2>%s</h2>\n<p>%s</p>\n", e->name, e->title, e->about);
    if (!e->timed)
        put_means(page, f, e);
    put_legend(page, f);
    for (int64_t q = 0; q < e->panel_count; q++) {
        fprintf(page, "<h3 class=\"panel\">%s", e->panels[q].title);
        if (f->quick)
            fprintf(page, " <small>in the paper: %s</small>", e->panels[q].paper_title);
        fputs("</h3>\n", page);
        TRY(put_figures(page, f, e, q, err));
        put_numbers(page, f, e, q);
    }
    fputs("</section>\n", page);
    return ROOFS_OK;
}

/* ---- the summary on top ------------------------------------------------ */

static const char *verdict_class(const findings *f, const experiment *e, arrival when)
{
    const verdict v = verdict_of(f, e, when);
    const char *word = verdict_word(f, &v);
    return !word ? "" : strcmp(word, "reproduced") == 0 ? "near" : "worse";
}

static void put_summary_row(FILE *page, const findings *f, const experiment *e)
{
    fprintf(page, "<tr><th scope=\"row\"><a href=\"#%s\">%s</a></th>", e->name, e->title);
    for (int a = 0; a < ARRIVALS; a++) {
        char text[400];
        verdict_text(f, e, (arrival)a, text, sizeof text);
        char *rest = strchr(text, ':');
        const char *paint = verdict_class(f, e, (arrival)a);
        if (rest && paint[0]) {
            *rest = '\0';
            fprintf(page, "<td><b class=\"%s\">%s</b>%s</td>", paint, text, rest + 1);
        } else {
            fprintf(page, "<td>%s</td>", text);
        }
    }
    fputs("</tr>\n", page);
}

static int was_written(const char *into, const char *name);

static void put_summary(FILE *page, const findings *f, const char *into)
{
    page_section(page, "What was reproduced");
    fprintf(page,
            "<p>The numbers of RoOFS (2018), the published method, against the paper.%s</p>\n",
            f->quick ? " This is a reduced version: the data is smaller than in the paper, so "
                       "numbers are shown beside those of the paper, but not judged."
                     : "");
    fputs("<div class=\"card\"><div class=\"scroll wide\"><table class=\"summary\"><thead><tr>"
          "<th scope=\"col\">experiment</th><th scope=\"col\">features that matter first</th>"
          "<th scope=\"col\">random order</th></tr></thead>\n<tbody>\n",
          page);
    for (int64_t k = 0; k < EXPERIMENTS; k++)
        if (f->wanted[k] || was_written(into, f->catalogue->all[k].name))
            put_summary_row(page, f, &f->catalogue->all[k]);
    page_table_end(page);
    fputs("</div></section>\n", page);
}

/* ---- the page ---------------------------------------------------------- */

/* True if the folder has results of this experiment. */
static int was_written(const char *into, const char *name)
{
    char path[PATH_MOST + 40];
    snprintf(path, sizeof path, "%s/%s.json", into, name);
    return access(path, R_OK) == 0;
}

static roofs_status put_page(FILE *page, const findings *f, const char *into, roofs_error *err)
{
    page_begin(page, "The paper, reproduced - roofs");
    fprintf(page, "<p class=\"eyebrow\">roofs %s%s</p>\n<h1>The paper, reproduced</h1>\n",
            roofs_version(), f->quick ? ", reduced version: smaller data, fewer seeds" : "");
    fputs("<p class=\"lead\">Every table and figure of <i>Robust Regression via Online Feature "
          "Selection under Adversarial Data Corruption</i> (Zhang, Lei, Zhao, Boedihardjo, Lu, "
          "2018), run again and compared with the numbers of the paper.</p>\n",
          page);
    put_summary(page, f, into);
    fputs(embedded_text("reproduce.html"), page);
    for (int64_t k = 0; k < EXPERIMENTS; k++) {
        if (f->wanted[k] || was_written(into, f->catalogue->all[k].name))
            TRY(put_experiment(page, f, &f->catalogue->all[k], err));
    }
    page_end(page);
    return ROOFS_OK;
}

roofs_status results_page(const findings *f, const char *into, roofs_error *err)
{
    output out;
    TRY(results_open(&out, into, "report.html", err));
    roofs_status status = put_page(out.file, f, into, err);
    if (status == ROOFS_OK)
        return output_commit(&out, err);
    output_abandon(&out);
    return status;
}
