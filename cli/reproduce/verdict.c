#include "cli/reproduce/verdict.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

static int64_t row_of(const findings *f, const char *name)
{
    for (int64_t row = 0; row < f->catalogue->rows; row++)
        if (strcmp(f->catalogue->row[row].name, name) == 0)
            return row;
    return -1;
}

/* True for the methods that the paper compares, as it reads them. */
static int is_of_the_paper(const contender *who)
{
    return who->kind == ANSWER_FIT && who->reading == ROOFS_READING_ALONE &&
           strcmp(who->method, "roofs-bayes") != 0;
}

/* The best number of the other methods of the paper; NAN if none has one. */
static double best_of_others(const findings *f, const experiment *e, int64_t own, int64_t q,
                             int64_t point, arrival when)
{
    double best = NAN;
    for (int64_t row = 0; row < f->catalogue->rows; row++) {
        if (row == own || !is_of_the_paper(&f->catalogue->row[row]))
            continue;
        double mean = summarise(f, e, row, q, point, when).mean;
        if (isnan(best) || (measure_low_is_good(e->measure) ? mean < best : mean > best))
            best = mean;
    }
    return best;
}

/* The numbers that one of ours is compared with; NAN where there is none. */
typedef struct standards {
    double paper, others, null;
} standards;

static void verdict_add(verdict *v, const experiment *e, double ours, const standards *s)
{
    const int low = measure_low_is_good(e->measure);
    if (isnan(ours))
        return;
    const double paper = s->paper, others = s->others;
    if (!isnan(paper)) {
        v->compared++;
        v->reached += compare_with_paper(e->measure, ours, paper) >= 0;
        v->excess += ours - paper;
    }
    if (!isnan(others)) {
        v->ranked++;
        v->best += low ? ours <= others : ours >= others;
    }
    if (!isnan(s->null)) {
        v->nulls++;
        v->above += low ? ours < s->null : ours > s->null;
    }
}

verdict verdict_of(const findings *f, const experiment *e, arrival when)
{
    verdict v = {0};
    const int64_t own = row_of(f, "roofs"), null = row_of(f, "null");
    for (int64_t q = 0; q < e->panel_count && own >= 0 && null >= 0; q++)
        for (int64_t k = 0; k < e->panels[q].points; k++) {
            const standards s = {.paper = e->paper[own][q][k],
                                 .others = best_of_others(f, e, own, q, k, when),
                                 .null = summarise(f, e, null, q, k, when).mean};
            verdict_add(&v, e, summarise(f, e, own, q, k, when).mean, &s);
        }
    if (v.compared > 0)
        v.excess /= (double)v.compared;
    return v;
}

const char *verdict_word(const findings *f, const verdict *v)
{
    if (f->quick || v->compared == 0)
        return NULL;
    const double share = (double)v->reached / (double)v->compared;
    return share >= 0.75 ? "reproduced" : share >= 0.25 ? "reproduced in part" : "not reproduced";
}

/* The growth of time, for each panel: "n^1.0, p^1.1". */
static void growth_text(const findings *f, const experiment *e, arrival when, char *text,
                        size_t size)
{
    size_t used = (size_t)snprintf(text, size, "time grows as");
    const char *before = " ";
    for (int64_t q = 0; q < e->panel_count; q++) {
        double power = summarise_exponent(f, e, row_of(f, "roofs"), q, when);
        if (isnan(power) || used >= size)
            continue;
        used += (size_t)snprintf(text + used, size - used, "%s%s^%.1f", before, e->panels[q].axis,
                                 power);
        before = ", ";
    }
    if (before[0] == ' ')
        snprintf(text, size, "nothing has run");
}

void verdict_text(const findings *f, const experiment *e, arrival when, char *text, size_t size)
{
    const verdict v = verdict_of(f, e, when);
    const char *word = verdict_word(f, &v);
    char numbers[160] = "", rank[120] = "", null[80] = "";
    if (e->timed) {
        growth_text(f, e, when, text, size);
        return;
    }
    if (word)
        snprintf(numbers, sizeof numbers,
                 "%s: %" PRId64 " of %" PRId64
                 " settings reach the paper's number, mean difference %+.3f",
                 word, v.reached, v.compared, v.excess);
    if (v.ranked > 0)
        snprintf(rank, sizeof rank, "%sbest of the paper's methods in %" PRId64 " of %" PRId64,
                 word ? "; " : "", v.best, v.ranked);
    if (v.nulls > 0)
        snprintf(null, sizeof null, "%sbetter than the null answer in %" PRId64 " of %" PRId64,
                 word || v.ranked > 0 ? "; " : "", v.above, v.nulls);
    snprintf(text, size, "%s%s%s", numbers, rank, null);
    if (!text[0])
        snprintf(text, size, "nothing has run");
}
