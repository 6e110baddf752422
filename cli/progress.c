#include "cli/progress.h"

#include "cli/print.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { BAR_WIDTH = 20 };

static const double BETWEEN = 0.1;     /* seconds between two drawings */
static const double DELAY_KNOWN = 0.5; /* seconds before the first drawing, with a bar */
static const double DELAY = 2.0;       /* seconds before the first drawing, without a bar */

void progress_begin(progress *p, const char *what, int64_t total, int quiet)
{
    const char *terminal = getenv("TERM");
    int dumb = !terminal || strcmp(terminal, "dumb") == 0;
    *p = (progress){.what = what,
                    .unit = "features",
                    .total = total,
                    .enabled = !quiet && !dumb && isatty(STDERR_FILENO),
                    .started = seconds_now()};
}

static void write_bar(char *text, size_t size, double share)
{
    const int utf8 = terminal_is_utf8();
    const char *full = utf8 ? "\u2588" : "#", *empty = utf8 ? "\u2591" : ".";
    size_t used = 0;
    for (int k = 0; k < BAR_WIDTH; k++)
        used += (size_t)snprintf(text + used, size - used, "%s",
                                 (k + 0.5) / BAR_WIDTH < share ? full : empty);
    snprintf(text + used, size - used, " %3.0f%%  ", 100 * share);
}

/* 0:42, 12:05, 3:07:59 */
static void write_clock(char *text, size_t size, double seconds)
{
    int64_t s = (int64_t)(seconds + 0.5);
    if (s < 3600)
        snprintf(text, size, "%" PRId64 ":%02" PRId64 " left  ", s / 60, s % 60);
    else
        snprintf(text, size, "%" PRId64 ":%02" PRId64 ":%02" PRId64 " left  ", s / 3600,
                 s / 60 % 60, s % 60);
}

/* Joins the parts that fit: the bar is the most important, then the time, then the count. */
static void join_parts(char *line, size_t size, int columns, const char *const *parts, int count)
{
    size_t used = 0;
    line[0] = '\0';
    for (int k = 0; k < count; k++) {
        int free = columns - text_columns(line);
        if (text_columns(parts[k]) <= free && used < size)
            used += (size_t)snprintf(line + used, size - used, "%s", parts[k]);
    }
}

static void draw_line(const progress *p, int64_t done, const char *detail, double elapsed)
{
    char bar[4 * BAR_WIDTH + 16] = "", left[80] = "", count[120] = "", what[80], line[400];
    double share = p->total > 0 ? (double)done / (double)p->total : 0;
    double speed = elapsed > 0 ? (double)done / elapsed : 0;
    if (p->total > 0)
        write_bar(bar, sizeof bar, share);
    if (share > 0)
        write_clock(left, sizeof left, elapsed / share - elapsed);
    if (p->unit)
        snprintf(count, sizeof count, "%s %s  %s/s  ", text_of_count(done).text, p->unit,
                 text_of_count((int64_t)speed).text);
    snprintf(what, sizeof what, "%s  ", p->what);
    const char *const parts[] = {what, bar, left, count};
    join_parts(line, sizeof line, terminal_width(stderr) - 1, parts, 4);
    int width = terminal_width(stderr) - 1 - text_columns(line);
    fprintf(stderr, "\r%s%.*s\033[K", line, width > 0 ? width : 0, detail); /* ASCII */
    fflush(stderr);
}

void progress_show(progress *p, int64_t done, const char *detail)
{
    if (!p->enabled)
        return;
    double now = seconds_now(), elapsed = now - p->started;
    double delay = p->total > 0 ? DELAY_KNOWN : DELAY;
    if (elapsed < delay || now - p->drawn < BETWEEN)
        return;
    draw_line(p, done, detail, elapsed);
    p->drawn = now;
    p->shown = 1;
}

void progress_end(progress *p)
{
    if (p->shown)
        fputs("\r\033[K", stderr);
    p->shown = 0;
}
