#include "cli/reproduce/results.h"

#include "base/memory.h"
#include "cli/folder.h"
#include "cli/reproduce/schedule.h"
#include "cli/reproduce/verdict.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

/* ---- numbers ----------------------------------------------------------- */

short_text text_of_cell(const experiment *e, const cell *number)
{
    short_text out = {"-"};
    int seconds = e->measure == MEASURE_SECONDS;
    if (isnan(number->mean))
        return out;
    if (isnan(number->error))
        snprintf(out.text, sizeof out.text, seconds ? "%.2g" : "%.3f", number->mean);
    else
        snprintf(out.text, sizeof out.text, seconds ? "%.2g \u00b1%.1g" : "%.3f \u00b1%.3f",
                 number->mean, number->error);
    return out;
}

short_text text_of_point(const panel *p, int64_t point)
{
    short_text out;
    if (strlen(p->axis) == 1)
        return text_of_count((int64_t)p->at[point]);
    snprintf(out.text, sizeof out.text, "%g%%", round(1000 * p->at[point]) / 10);
    return out;
}

void explain_empty(const findings *f, const experiment *e, int64_t row, int64_t q, int64_t point,
                   const cell *number, char *text, size_t size)
{
    const contender *who = &f->catalogue->row[row];
    const setting *what = &e->panels[q].settings[point];
    text[0] = '\0';
    if (!isnan(number->mean))
        return;
    if (number->failure)
        snprintf(text, size, "%s", number->failure);
    else if (number->seeds > 0)
        snprintf(text, size, "nothing to measure");
    else if (seeds_allowed(e, who, what, f->patience) == 0)
        snprintf(text, size, "left out: one fit would take about %s",
                 text_of_seconds(expected_seconds(who, what)).text);
    else
        snprintf(text, size, "has not run yet");
}

/* ---- tables for the terminal ------------------------------------------- */

enum { NAME_WIDTH = 24, WORD_WIDTH = 15, NUMBER_WIDTH = 14 };

/* Pads by columns, not bytes: the plus-minus sign has two bytes. */
static void print_padded(const char *text, int width)
{
    int columns = 0;
    for (const char *c = text; *c; c++)
        columns += ((unsigned char)*c & 0xC0) != 0x80;
    printf("%*s%s", width > columns ? width - columns : 0, "", text);
}

static void print_paper(const experiment *e, int64_t row, int64_t q)
{
    for (int64_t k = 0; k < e->panels[q].points; k++) {
        const cell printed = {.seeds = 1, .mean = e->paper[row][q][k], .error = NAN};
        print_padded(text_of_cell(e, &printed).text, NUMBER_WIDTH);
    }
    putchar('\n');
}

static void print_ours(const findings *f, const experiment *e, int64_t row, int64_t q, arrival when)
{
    for (int64_t k = 0; k < e->panels[q].points; k++) {
        cell number = summarise(f, e, row, q, k, when);
        print_padded(text_of_cell(e, &number).text, NUMBER_WIDTH);
    }
    double power = summarise_exponent(f, e, row, q, when);
    if (e->timed && !isnan(power))
        printf("   %s^%.2f", e->panels[q].axis, power);
    putchar('\n');
}

static void print_row(const findings *f, const experiment *e, int64_t row, int64_t q)
{
    const char *title = f->catalogue->row[row].title;
    if (!row_has_numbers(f, e, row, q))
        return;
    if (!isnan(e->paper[row][q][0])) {
        printf("%-*s%-*s", NAME_WIDTH, title, WORD_WIDTH, "paper");
        print_paper(e, row, q);
        title = "";
    }
    for (int k = 0; k < ARRIVALS; k++) {
        printf("%-*s%-*s", NAME_WIDTH, k ? "" : title, WORD_WIDTH, arrival_title(e, (arrival)k));
        print_ours(f, e, row, q, (arrival)k);
    }
}

void results_print_line(const findings *f, const experiment *e)
{
    for (int a = 0; a < ARRIVALS; a++) {
        char text[400];
        verdict_text(f, e, (arrival)a, text, sizeof text);
        printf("%-8s %-15s %s\n", a ? "" : e->name, arrival_title(e, (arrival)a), text);
    }
}

void results_print(const findings *f, const experiment *e)
{
    printf("%s%s\n", e->title, f->quick ? " (reduced)" : "");
    for (int64_t q = 0; q < e->panel_count; q++) {
        const panel *p = &e->panels[q];
        printf("\n%-*s", NAME_WIDTH + WORD_WIDTH, p->title);
        for (int64_t k = 0; k < p->points; k++)
            print_padded(text_of_point(p, k).text, NUMBER_WIDTH);
        putchar('\n');
        for (int64_t row = 0; row < f->catalogue->rows; row++)
            print_row(f, e, row, q);
    }
    putchar('\n');
}

/* ---- JSON and CSV ------------------------------------------------------ */

static json_t *json_cell(const findings *f, const experiment *e, int64_t row, int64_t q,
                         int64_t point, arrival when)
{
    char note[1000];
    cell number = summarise(f, e, row, q, point, when);
    explain_empty(f, e, row, q, point, &number, note, sizeof note);
    json_t *out = json_pack("{s:o, s:o, s:I}", "mean", json_number(number.mean), "error",
                            json_number(number.error), "seeds", (json_int_t)number.seeds);
    if (note[0])
        json_object_set_new(out, "note", json_string(note));
    return out;
}

static json_t *json_row(const findings *f, const experiment *e, int64_t row, int64_t q)
{
    static const char *const arrivals[] = {"first", "random"};
    const contender *who = &f->catalogue->row[row];
    json_t *out = json_pack("{s:s, s:s}", "row", who->name, "title", who->title);
    json_t *paper = json_array();
    for (int64_t k = 0; k < e->panels[q].points; k++)
        json_array_append_new(paper, json_number(e->paper[row][q][k]));
    json_object_set_new(out, "paper", paper);
    for (int a = 0; a < ARRIVALS; a++) {
        json_t *cells = json_array();
        for (int64_t k = 0; k < e->panels[q].points; k++)
            json_array_append_new(cells, json_cell(f, e, row, q, k, (arrival)a));
        json_object_set_new(out, arrivals[a], cells);
    }
    if (e->timed)
        for (int a = 0; a < ARRIVALS; a++)
            json_object_set_new(out, a ? "exponent_random" : "exponent_first",
                                json_number(summarise_exponent(f, e, row, q, (arrival)a)));
    return out;
}

static json_t *json_panel(const findings *f, const experiment *e, int64_t q)
{
    const struct panel *p = &e->panels[q];
    json_t *at = json_array(), *rows = json_array();
    for (int64_t k = 0; k < p->points; k++)
        json_array_append_new(at, json_real(p->at[k]));
    for (int64_t row = 0; row < f->catalogue->rows; row++)
        json_array_append_new(rows, json_row(f, e, row, q));
    return json_pack("{s:s, s:s, s:o, s:o}", "title", p->title, "axis", p->axis, "at", at, "rows",
                     rows);
}

static void write_json(const findings *f, const experiment *e, FILE *file)
{
    json_t *panels = json_array();
    for (int64_t q = 0; q < e->panel_count; q++)
        json_array_append_new(panels, json_panel(f, e, q));
    json_t *all = json_pack("{s:s, s:s, s:s, s:b, s:s, s:o}", "experiment", e->name, "title",
                            e->title, "measure", measure_name(e->measure), "quick", f->quick,
                            "library", roofs_version(), "panels", panels);
    json_dumpf(all, file, JSON_INDENT(1) | JSON_REAL_PRECISION(6));
    fputc('\n', file);
    json_decref(all);
}

static void write_number(FILE *file, double value)
{
    if (isnan(value))
        fputc(',', file);
    else
        fprintf(file, ",%.6g", value);
}

static void write_line(const findings *f, const experiment *e, int64_t row, int64_t q,
                       int64_t point, FILE *file)
{
    char note[1000] = "";
    fprintf(file, "%s,\"%s\",%s,%g,%s", e->name, e->panels[q].title, f->catalogue->row[row].name,
            e->panels[q].at[point], measure_name(e->measure));
    write_number(file, e->paper[row][q][point]);
    for (int a = 0; a < ARRIVALS; a++) {
        cell number = summarise(f, e, row, q, point, (arrival)a);
        write_number(file, number.mean);
        write_number(file, number.error);
        fprintf(file, ",%" PRId64, number.seeds);
        if (!note[0])
            explain_empty(f, e, row, q, point, &number, note, sizeof note);
    }
    const setting *s = &e->panels[q].settings[point];
    fprintf(file, ",\"%s\",%" PRId64 ",%" PRId64 ",%" PRId64 "\n", note, s->n, s->p, s->mu);
}

static void write_csv(const findings *f, const experiment *e, FILE *file)
{
    fputs("experiment,panel,row,at,measure,paper,first_mean,first_error,first_seeds,random_mean,"
          "random_error,random_seeds,note,n,p,mu\n",
          file);
    for (int64_t q = 0; q < e->panel_count; q++)
        for (int64_t row = 0; row < f->catalogue->rows; row++)
            for (int64_t k = 0; k < e->panels[q].points; k++)
                write_line(f, e, row, q, k, file);
}

roofs_status results_open(output *out, const char *into, const char *name, roofs_error *err)
{
    char *path = NULL;
    TRY(folder_join(&path, into, name, err));
    roofs_status status = output_open(out, path, err);
    memory_free(path);
    return status;
}

typedef void (*writer)(const findings *f, const experiment *e, FILE *file);

static roofs_status write_one(const findings *f, const experiment *e, const char *into,
                              const char *ending, writer write, roofs_error *err)
{
    char name[40];
    output out;
    snprintf(name, sizeof name, "%s.%s", e->name, ending);
    TRY(results_open(&out, into, name, err));
    write(f, e, out.file);
    return output_commit(&out, err);
}

roofs_status results_write(const findings *f, const experiment *e, const char *into,
                           roofs_error *err)
{
    TRY(write_one(f, e, into, "csv", write_csv, err));
    return write_one(f, e, into, "json", write_json, err);
}
