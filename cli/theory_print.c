/* The text and the JSON object of roofs inspect --theory. */
#include "base/memory.h"
#include "cli/print.h"
#include "cli/theory.h"
#include "cli/theory_noise.h"
#include "cli/top.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

static double coefficients_length(const roofs_result *m)
{
    double length = 0;
    for (int64_t k = 0; k < m->selected; k++)
        length = sqrt(length * length + m->features[k].coef * m->features[k].coef);
    return length;
}

/* True features that are not kept: the bounds do not cover them. */
static int64_t missed_features(const theory *t)
{
    int64_t missed = 0, next = 0;
    const roofs_result *m = t->model;
    for (int64_t k = 0; k < t->truth.view.p; k++) {
        const int kept = next < m->selected && m->features[next].index == k;
        next += kept;
        missed += !kept && t->truth.beta[k] != 0;
    }
    return missed;
}

/* Corrupt samples, in all or among the trusted. */
static int64_t corrupt_samples(const theory *t, int only_trusted)
{
    int64_t corrupt = 0;
    for (int64_t i = 0; i < t->truth.view.n; i++)
        corrupt += !t->truth.clean[i] && (!only_trusted || t->model->trust[i]);
    return corrupt;
}

/* ---- text -------------------------------------------------------------- */

enum { LABEL = 13 };

static void print_line(const canvas *c, const char *label, const char *text)
{
    printf("  %-*s", LABEL - 2, label);
    print_wrapped(stdout, text, c->width, LABEL, LABEL);
}

static void print_assumed(const theory *t, const canvas *c)
{
    char line[300];
    snprintf(line, sizeof line, "at most %s of %s samples are corrupt (%s)",
             text_of_count(t->corrupt).text, text_of_count(t->model->n).text,
             t->corrupt_is_given ? "--corruption"
                                 : "as many as are not trusted; --corruption changes it");
    print_line(c, "assumed", line);
    if (t->sigma >= 0) {
        snprintf(
            line, sizeof line, "the noise is normal, with standard deviation %.4g (%s)", t->sigma,
            t->sigma_is_given ? "--noise" : "estimated from the trusted samples; --noise sets it");
        print_line(c, "", line);
    }
    snprintf(line, sizeof line,
             "every feature with an effect is among the %s kept ones (cannot be checked)",
             text_of_count(t->model->selected).text);
    print_line(c, "", line);
}

static void print_bound(const bound *b, const canvas *c, const char *label)
{
    char line[REASON_MOST + 100];
    if (b->reason[0])
        snprintf(line, sizeof line, "does not apply, because %s", b->reason);
    else
        snprintf(line, sizeof line, "the error of the coefficients is at most %.4g", b->value);
    print_line(c, label, line);
    for (int k = 0; k < b->count; k++) {
        const condition *needed = &b->conditions[k];
        snprintf(line, sizeof line, "%s %s: %.4g %s %.4g", needed->holds ? "yes" : "NO ",
                 needed->name, needed->value, needed->relation, needed->limit);
        printf("%*s", LABEL, "");
        print_wrapped(stdout, line, c->width, LABEL + 4, LABEL);
    }
}

static void print_terms(const theory *t, const canvas *c)
{
    char line[300];
    const measured *f = &t->found;
    if (t->repaired.reason[0])
        return;
    snprintf(line, sizeof line,
             "holds with probability %g; (%.4g from the gradient + %.4g from corrupt samples + "
             "%.4g from the noise) / (1 - %.4g), in the unit of the response times the root of the "
             "number of samples",
             1 - THEORY_RISK, f->gradient, f->corruption, f->noise, f->leverage);
    print_line(c, "", line);
}

static void print_paper(const theory *t, const canvas *c)
{
    char line[300];
    const measured *f = &t->found;
    print_bound(&t->published, c, "paper");
    if (isnan(f->alpha))
        return;
    if (!t->published.reason[0])
        print_line(c, "", "holds if no trusted sample is corrupt (cannot be checked)");
    snprintf(line, sizeof line,
             "alpha = %.4g; sum of trusted squared residuals %.4g, its bound %.4g, with all "
             "coefficients 0 %.4g",
             f->alpha, f->residual_squares, f->residual_bound, f->response_squares);
    print_line(c, "", line);
}

static void print_truth(const theory *t, const canvas *c)
{
    char line[300];
    if (!t->truth.beta)
        return;
    snprintf(line, sizeof line,
             "%.4g; features with an effect that are not kept: %s; corrupt samples: %s, of these "
             "trusted: %s",
             score_l2_error(t->model, &t->truth.view), text_of_count(missed_features(t)).text,
             text_of_count(corrupt_samples(t, 0)).text, text_of_count(corrupt_samples(t, 1)).text);
    print_line(c, "real error", line);
}

static void print_coefficients(const theory *t, int64_t most)
{
    roofs_error err;
    int64_t *top = NULL;
    if (t->repaired.reason[0] ||
        memory_get(&top, most, sizeof *top, "the features", &err) != ROOFS_OK)
        return;
    const int64_t count = top_features(t->model, most, top);
    for (int64_t k = 0; k < count; k++) {
        const roofs_feature *f = &t->model->features[top[k]];
        printf("  %-*s", LABEL - 2, k == 0 ? "each" : "");
        print_feature(stdout, f, 20);
        printf("  %+13.6g  +- %.4g\n", f->coef, t->each[top[k]]);
    }
    memory_free(top);
}

void theory_print(const theory *t, const canvas *c, int64_t top)
{
    char line[100];
    draw_heading(c, "Error of the coefficients (docs/theory.md)");
    print_assumed(t, c);
    print_bound(&t->repaired, c, "bound");
    print_terms(t, c);
    print_paper(t, c);
    snprintf(line, sizeof line, "the length of the fitted coefficients is %.4g",
             coefficients_length(t->model));
    print_line(c, "compare", line);
    print_truth(t, c);
    print_coefficients(t, top);
}

/* ---- JSON -------------------------------------------------------------- */

static json_t *json_bound(const bound *b)
{
    json_t *conditions = json_array();
    for (int k = 0; k < b->count; k++) {
        const condition *needed = &b->conditions[k];
        json_array_append_new(
            conditions, json_pack("{s:s, s:o, s:s, s:o, s:b}", "name", needed->name, "value",
                                  json_number(needed->value), "relation", needed->relation, "limit",
                                  json_number(needed->limit), "holds", needed->holds));
    }
    return json_pack("{s:o, s:s?, s:o}", "value", json_number(b->value), "reason",
                     b->reason[0] ? b->reason : NULL, "conditions", conditions);
}

static json_t *json_terms(const measured *f)
{
    return json_pack("{s:I, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o}", "columns",
                     (json_int_t)f->columns, "smallest_eigenvalue", json_number(f->smallest),
                     "largest_eigenvalue", json_number(f->largest), "leverage",
                     json_number(f->leverage), "outside", json_number(f->outside), "gradient",
                     json_number(f->gradient), "corruption", json_number(f->corruption), "noise",
                     json_number(f->noise), "distance", json_number(f->distance));
}

static json_t *json_published(const theory *t)
{
    const measured *f = &t->found;
    json_t *object = json_bound(&t->published);
    json_object_set_new(object, "alpha", json_number(f->alpha));
    json_object_set_new(object, "residual_squares", json_number(f->residual_squares));
    json_object_set_new(object, "residual_bound", json_number(f->residual_bound));
    json_object_set_new(object, "response_squares", json_number(f->response_squares));
    return object;
}

static json_t *json_each(const theory *t)
{
    json_t *list = json_array();
    for (int64_t k = 0; k < t->model->selected && !t->repaired.reason[0]; k++)
        json_array_append_new(list, json_pack("{s:I, s:o, s:o}", "index",
                                              (json_int_t)t->model->features[k].index, "coef",
                                              json_number(t->model->features[k].coef), "bound",
                                              json_number(t->each[k])));
    return list;
}

static json_t *json_truth(const theory *t)
{
    if (!t->truth.beta)
        return NULL;
    return json_pack("{s:o, s:I, s:I, s:I}", "error",
                     json_number(score_l2_error(t->model, &t->truth.view)), "missed_features",
                     (json_int_t)missed_features(t), "corrupt", (json_int_t)corrupt_samples(t, 0),
                     "corrupt_trusted", (json_int_t)corrupt_samples(t, 1));
}

json_t *theory_json(const theory *t)
{
    json_t *assumed =
        json_pack("{s:I, s:b, s:o, s:b}", "corrupt", (json_int_t)t->corrupt, "corrupt_is_given",
                  t->corrupt_is_given, "noise", json_number(t->sigma >= 0 ? t->sigma : NAN),
                  "noise_is_given", t->sigma_is_given);
    return json_pack("{s:o, s:f, s:o, s:o, s:o, s:f, s:o, s:o*}", "assumed", assumed, "probability",
                     1 - THEORY_RISK, "bound", json_bound(&t->repaired), "terms",
                     json_terms(&t->found), "published", json_published(t), "coefficients_length",
                     coefficients_length(t->model), "features", json_each(t), "truth",
                     json_truth(t));
}

void theory_destroy(theory *t)
{
    memory_free(t->columns);
    memory_free(t->response);
    memory_free(t->residual);
    memory_free(t->scale);
    memory_free(t->each);
    truth_destroy(&t->truth);
}
