#include "cli/reproduce/summary.h"

#include "cli/growth.h"
#include "cli/reproduce/trial.h"

#include <math.h>

cell summarise(const findings *f, const experiment *e, int64_t row, int64_t q, int64_t point,
               arrival when)
{
    trial t = {.who = &f->catalogue->row[row],
               .what = e->panels[q].settings[point],
               .when = when,
               .timed = e->timed};
    cell out = {.mean = NAN, .error = NAN};
    double sum = 0, squares = 0;
    for (t.seed = 1; t.seed <= e->seeds; t.seed++) {
        char key[TRIAL_KEY];
        double scores[MEASURES];
        const char *failure;
        trial_key(&t, key);
        if (!journal_find(f->journal, key, scores, &failure))
            continue;
        if (failure) {
            out.failure = failure;
            continue;
        }
        out.seeds++;
        sum += scores[e->measure];
        squares += scores[e->measure] * scores[e->measure];
    }
    double n = (double)out.seeds;
    if (out.seeds > 0)
        out.mean = sum / n;
    if (out.seeds > 1)
        out.error = sqrt(fmax(squares - n * out.mean * out.mean, 0) / (n - 1) / n);
    return out;
}

double summarise_exponent(const findings *f, const experiment *e, int64_t row, int64_t q,
                          arrival when)
{
    enum { FEWEST = 3 };
    double size[POINTS_MOST], seconds[POINTS_MOST];
    int64_t count = 0;
    for (int64_t k = 0; k < e->panels[q].points; k++) {
        double mean = summarise(f, e, row, q, k, when).mean;
        if (!(mean > 0))
            continue;
        size[count] = e->panels[q].at[k];
        seconds[count++] = mean;
    }
    return count < FEWEST ? NAN : growth_exponent(size, seconds, count);
}

int row_has_numbers(const findings *f, const experiment *e, int64_t row, int64_t q)
{
    for (int64_t k = 0; k < e->panels[q].points; k++) {
        if (!isnan(e->paper[row][q][k]))
            return 1;
        for (int a = 0; a < ARRIVALS; a++)
            if (!isnan(summarise(f, e, row, q, k, (arrival)a).mean))
                return 1;
    }
    return 0;
}

int compare_with_paper(measure m, double ours, double paper)
{
    double margin = m == MEASURE_MAE ? 0.1 : 0.03;
    double better = measure_low_is_good(m) ? paper - ours : ours - paper;
    return (better > margin) - (better < -margin);
}

const char *arrival_title(const experiment *e, arrival when)
{
    int is_text = e->panels[0].settings[0].reviews;
    if (when == ARRIVAL_FIRST)
        return is_text ? "frequent first" : "true first";
    return is_text ? "shuffled" : "random";
}
