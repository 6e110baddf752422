/* roofs inspect: prints a model or a checkpoint. */
#include "base/escape.h"
#include "base/memory.h"
#include "cli/checkpoint.h"
#include "cli/draw.h"
#include "cli/exchanged.h"
#include "cli/fit_report.h"
#include "cli/groups.h"
#include "cli/inputs.h"
#include "cli/inspect_checkpoint.h"
#include "cli/interrupt.h"
#include "cli/model_extras.h"
#include "cli/print.h"
#include "cli/tables.h"
#include "cli/theory.h"
#include "cli/top.h"
#include "cli/verbs.h"

#include <inttypes.h>
#include <limits.h>
#include <math.h>
#include <unistd.h>

typedef struct inspect_args {
    int64_t top;
    int json, theory;
    theory_args about; /* the data, for --theory */
} inspect_args;

static const option_row inspect_rows[] = {
    {COUNT(inspect_args, top, "top", 0, 10000), .standard = "20",
     .help = "number of features to show: selected ones first, largest effects first; and of "
             "groups"},
    {FLAG(inspect_args, json, "json"),
     .help = "print a JSON object, with all samples that are not trusted"},
    {FLAG(inspect_args, theory, "theory"),
     .help = "bound the error of the coefficients; needs the data of the fit"},
    {GROUP(inspect_args, about, theory_rows)},
    {0},
};

static const example inspect_examples[] = {
    {"show a model", "roofs inspect model.json"},
    {"show the five largest effects", "roofs inspect model.json --top 5"},
    {"how wrong can the coefficients be?", "roofs inspect model.json --theory --y y.npy X.npy"},
    {"show how far an interrupted fit has come", "roofs inspect fit.ck"},
    {"list the names of the features", "roofs inspect model.json --json | jq -r '.top[].name'"},
    {0},
};

/* ---- text -------------------------------------------------------------- */

static void show_warnings(int64_t flags)
{
    enum { INDENT = 11 };
    const char *text;
    for (int64_t k = 0; (text = roofs_warning_text(k)) != NULL; k++) {
        if (!(flags & (int64_t)1 << k))
            continue;
        printf("%-*s", INDENT, "warning");
        print_wrapped(stdout, text, terminal_width(stdout), INDENT, INDENT);
    }
}

/* The interval that most people ask for. */
static void show_half_width(const roofs_result *m)
{
    const int64_t k = ROOFS_HALF_WIDTH_STEPS * 9 / 10 - 1;
    if (m->half_widths > k)
        printf("intervals  90%% of clean responses within %.4g of their predictions, by "
               "cross-validation\n",
               m->half_width[k]);
}

/* How well the fit explains the trusted samples, beside a constant. */
static void show_quality(const roofs_result *m)
{
    enum { INDENT = 11 };
    char line[160];
    if (!(m->quality.constant_error > 0))
        return;
    snprintf(line, sizeof line,
             "%.1f%% of the variance explained; error %s, that of a constant %s (trusted samples)",
             100 * m->quality.r2, text_of_real(m->quality.error).text,
             text_of_real(m->quality.constant_error).text);
    printf("%-*s", INDENT, "quality");
    print_wrapped(stdout, line, terminal_width(stdout), INDENT, INDENT);
}

static void show_head(const roofs_result *m, const model_extras *x)
{
    printf("method     ");
    print_clean(stdout, m->method, INT_MAX);
    printf(", %s\n", roofs_stop_text(m->stop));
    fit_print_counts(stdout, m);
    putchar('\n');
    show_quality(m);
    fit_print_hypothesis(stdout, m);
    fit_print_orders(stdout, m);
    print_group_counts(stdout, m);
    model_extras_print(x);
    printf("intercept  %.6g\n", m->intercept);
    show_half_width(m);
    show_warnings(m->warnings);
}

static int inspect_name_width(const roofs_result *m, const int64_t *top, int64_t count, int most)
{
    int widest = 12;
    for (int64_t k = 0; k < count; k++) {
        const char *name = m->features[top[k]].name;
        int columns = name ? text_columns(name) : 0;
        widest = columns > widest ? columns : widest;
    }
    return widest < most ? widest : most;
}

enum { BAR_MOST = 30 };

/* Where features look alike, only a group has a probability. */
static const char *features_note(int has_probability, int has_orders, int has_groups)
{
    if (has_probability && has_groups && !has_orders)
        return " (probability, if no other feature looks alike)";
    if (has_probability && has_orders)
        return " (probability; share of the orders that select it)";
    if (has_orders)
        return " (share of the orders that select it)";
    return has_probability ? " (probability that the feature matters)" : "";
}

static void show_features(const canvas *c, const roofs_result *m, const int64_t *top, int64_t count)
{
    if (count == 0)
        return;
    int has_probability = !isnan(m->features[top[0]].probability), has_orders = m->orders > 0;
    char heading[160];
    snprintf(heading, sizeof heading, "Largest %s%s",
             m->scale ? "effects, coefficients" : "coefficients",
             features_note(has_probability, has_orders, m->groups > 0));
    draw_heading(c, heading);
    int width = inspect_name_width(m, top, count, c->width / 3);
    int columns = c->width - width - 20 - 8 * has_probability - 8 * has_orders - 13 * !!m->scale;
    int bar = columns < BAR_MOST ? columns : BAR_MOST;
    double largest = largest_of(m, top, count);
    for (int64_t k = 0; k < count; k++) {
        const roofs_feature *f = &m->features[top[k]];
        fputs("  ", stdout);
        print_feature(stdout, f, width);
        if (m->scale)
            printf("  %11s", text_of_real(feature_effect(m, top[k])).text);
        printf("  %+13.6g  ", f->coef);
        if (has_probability)
            printf("%5.1f%%  ", 100 * f->probability);
        if (has_orders)
            printf("%5.1f%%  ", 100 * m->frequency[top[k]]);
        draw_bar(c, largest > 0 ? fabs(feature_effect(m, top[k])) / largest : 0, bar);
        putchar('\n');
    }
    if (count < m->selected)
        printf("  and %s more (--top)\n", text_of_count(m->selected - count).text);
}

/* An ID as it may be printed, shortened to `size` - 1 bytes. */
static void escape_name(const char *id, char *out, size_t size)
{
    size_t used = 0;
    while (*id && used + ESCAPE_MOST < size)
        used += escape_next(&id, out + used);
    out[used] = '\0';
}

/* By ID where the model has IDs, otherwise by number. */
static void show_outliers(const canvas *c, const roofs_model *model, const roofs_result *m)
{
    enum { SHOWN = 20, LONGEST = 40 };
    char line[SHOWN * (LONGEST + 2) + 8] = "";
    int64_t shown = 0, used = 0, outliers = m->n - m->trusted;
    if (outliers == 0)
        return;
    json_t *ids = tables_outliers(model);
    draw_heading(c, ids ? "Samples that are not trusted"
                        : "Samples that are not trusted (counted from 0)");
    for (int64_t i = 0; i < m->n && shown < SHOWN; i++) {
        char name[LONGEST];
        if (m->trust[i])
            continue;
        snprintf(name, sizeof name, "%" PRId64, i);
        if (ids)
            escape_name(json_string_value(json_array_get(ids, (size_t)shown)), name, sizeof name);
        used +=
            snprintf(line + used, sizeof line - (size_t)used, "%s%s", shown++ ? ", " : "", name);
    }
    if (outliers > SHOWN)
        snprintf(line + used, sizeof line - (size_t)used, ", ...");
    printf("  %s: ", text_of_count(outliers).text);
    print_wrapped(stdout, line, c->width, 2, 4 + (int)sizeof "1,000");
    json_decref(ids);
}

/* "A and B look exchanged". */
static void show_exchanged(const canvas *c, const roofs_model *model)
{
    json_t *sentences = exchanged_sentences(model);
    if (sentences)
        draw_heading(c, "Samples whose responses fit each other");
    for (size_t k = 0; k < json_array_size(sentences); k++) {
        fputs("  ", stdout);
        print_clean(stdout, json_string_value(json_array_get(sentences, k)), c->width - 2);
        putchar('\n');
    }
    json_decref(sentences);
}

/* A histogram of the probability that samples are clean. */
static void show_certainty(const canvas *c, const roofs_result *m)
{
    enum { BINS = 10 };
    int64_t bins[BINS] = {0}, most = 1;
    if (!m->clean)
        return;
    for (int64_t i = 0; i < m->n; i++) {
        int bin = (int)(m->clean[i] * BINS);
        bins[bin < BINS ? bin : BINS - 1]++;
    }
    for (int k = 0; k < BINS; k++)
        most = bins[k] > most ? bins[k] : most;
    draw_heading(c, "Probability that a sample is clean");
    for (int k = 0; k < BINS; k++) {
        printf("  %3d - %3d%%  %9s  ", 10 * k, 10 * k + 10, text_of_count(bins[k]).text);
        draw_bar(c, (double)bins[k] / (double)most, BAR_MOST);
        putchar('\n');
    }
}

static void show_residuals(const canvas *c, const roofs_result *m)
{
    if (m->quantiles == 0)
        return;
    draw_heading(c, "Residuals (trusted: between the marks)");
    draw_histogram(c, m->quantile, m->quantiles, m->cut);
}

enum { CELLS = 8, CELL_WIDTH = 9, CELL_TEXT = 32 };

static void fill_cells(char cells[CELLS][CELL_TEXT], const roofs_batch *b, int64_t number)
{
    const int64_t counts[CELLS] = {number,      b->features, b->trusted, 0,
                                   b->selected, b->entered,  b->rounds,  0};
    for (int k = 0; k < CELLS; k++)
        snprintf(cells[k], CELL_TEXT, "%" PRId64, counts[k]);
    snprintf(cells[3], CELL_TEXT, "%.3g", b->cut);
    snprintf(cells[7], CELL_TEXT, "%.3g", b->step);
}

/* The most important cells come first: a narrow terminal shows those that fit. */
static void show_cells(const canvas *c, const roofs_batch *b, int64_t number, int with_titles)
{
    static const char *const titles[CELLS] = {"batch",    "features", "trusted", "cut",
                                              "selected", "entered",  "rounds",  "step"};
    char cells[CELLS][CELL_TEXT];
    fill_cells(cells, b, number);
    const int shown = b->step > 0 ? CELLS : CELLS - 1; /* not every method has steps */
    for (int k = 0, used = 0; k < shown && used + CELL_WIDTH < c->width; k++)
        used += printf(" %*s", CELL_WIDTH - 1, with_titles ? titles[k] : cells[k]);
    putchar('\n');
}

/* Of a long history only the first, the last and some batches between are shown. */
static int is_shown(int64_t k, int64_t count)
{
    enum { WHOLE = 24, ENDS = 4, MIDDLE = 4 };
    if (count <= WHOLE || k < ENDS || k >= count - ENDS)
        return 1;
    for (int64_t j = 1; j <= MIDDLE; j++)
        if (k == ENDS + j * (count - 2 * ENDS) / (MIDDLE + 1))
            return 1;
    return 0;
}

static void show_trusted(const canvas *c, const roofs_result *m)
{
    roofs_error err;
    double *trusted = NULL;
    if (memory_get(&trusted, m->batches, sizeof *trusted, "the drawing", &err) != ROOFS_OK)
        return;
    for (int64_t k = 0; k < m->batches; k++)
        trusted[k] = (double)m->history[k].trusted;
    fputs("  trusted  ", stdout);
    draw_sparkline(c, trusted, m->batches, c->width - 12);
    putchar('\n');
    memory_free(trusted);
}

static void show_history(const canvas *c, const roofs_result *m)
{
    if (m->batches == 0)
        return;
    draw_heading(c, "Batches");
    show_cells(c, &m->history[0], 1, 1);
    for (int64_t k = 0, skipped = 0; k < m->batches; k++) {
        if (is_shown(k, m->batches)) {
            show_cells(c, &m->history[k], k + 1, 0);
            skipped = 0;
        } else if (!skipped++) {
            printf(" %8s\n", "...");
        }
    }
    if (m->batches > 1)
        show_trusted(c, m);
    int64_t rounds = m->rounds;
    for (int64_t k = 0; k < m->batches; k++)
        rounds -= m->history[k].rounds;
    if (rounds > 0)
        printf("  and %s round%s after the last batch\n", text_of_count(rounds).text,
               plural(rounds));
}

/* ---- JSON -------------------------------------------------------------- */

static json_t *json_top(const roofs_result *m, const int64_t *top, int64_t count)
{
    json_t *list = json_array();
    for (int64_t k = 0; k < count; k++) {
        const roofs_feature *f = &m->features[top[k]];
        json_t *frequency = m->orders > 0 ? json_number(m->frequency[top[k]]) : NULL;
        json_t *effect = m->scale ? json_number(feature_effect(m, top[k])) : NULL;
        json_array_append_new(list, json_pack("{s:I, s:s?, s:o, s:o*, s:o, s:o*}", "index",
                                              (json_int_t)f->index, "name", f->name, "coef",
                                              json_number(f->coef), "effect", effect, "probability",
                                              json_number(f->probability), "frequency", frequency));
    }
    return list;
}

static json_t *json_outliers(const roofs_result *m)
{
    json_t *list = json_array();
    for (int64_t i = 0; i < m->n; i++)
        if (!m->trust[i])
            json_array_append_new(list, json_integer(i));
    return list;
}

static json_t *json_quality(const roofs_result *m)
{
    const roofs_quality *q = &m->quality;
    return q->constant_error > 0 ? json_pack("{s:f, s:f, s:f}", "error", q->error, "constant_error",
                                             q->constant_error, "r2", q->r2)
                                 : NULL;
}

static int print_model_json(const roofs_model *model, const roofs_result *m,
                            const variant_list *variants, const int64_t *top, int64_t count,
                            const theory *t)
{
    const char *chosen = m->hypotheses > 0 ? roofs_hypothesis_text(m->hypothesis) : NULL;
    json_t *summary = json_pack(
        "{s:s, s:I, s:I, s:I, s:I, s:I, s:I, s:o, s:o, s:I, s:I, s:s, s:o, s:o, s:o, s:s*, s:o*, "
        "s:o*, s:o*, s:o*, s:o*, s:o*, s:o*}",
        "method", m->method, "n", (json_int_t)m->n, "features_seen", (json_int_t)m->features_seen,
        "constant", (json_int_t)m->constant, "selected", (json_int_t)selected_features(m), "kept",
        (json_int_t)m->selected, "trusted", (json_int_t)m->trusted, "intercept",
        json_number(m->intercept), "cut", json_number(m->cut), "rounds", (json_int_t)m->rounds,
        "batches", (json_int_t)m->batches, "stop", roofs_stop_text(m->stop), "warnings",
        json_warnings(m->warnings), "top", json_top(m, top, count), "outliers", json_outliers(m),
        "hypothesis", chosen, "orders", json_orders(m), "fdr",
        m->fdr > 0 ? json_number(m->fdr) : NULL, "groups", json_groups(m, variants), "noise",
        json_noise(m), "quality", json_quality(m), "theory", t ? theory_json(t) : NULL, "exchanged",
        exchanged_sentences(model));
    model_extras_to_json(model, summary);
    return print_json(summary);
}

/* ---- the verb ---------------------------------------------------------- */

/* t is NULL without --theory. */
static int print_model(const inspect_args *args, const roofs_model *model, const theory *t)
{
    const model_extras extras = model_extras_of(model);
    roofs_result view;
    const roofs_result *m = &view;
    variant_list variants = {0};
    roofs_model_view(model, &view);
    roofs_error err;
    int64_t *top = NULL;
    if (variant_list_parse(&variants, roofs_model_table(model), &err) != ROOFS_OK)
        return exit_with("inspect", &err, EXIT_DATA);
    if (memory_get(&top, args->top, sizeof *top, "the features", &err) != ROOFS_OK) {
        variant_list_free(&variants);
        return exit_with("inspect", &err, EXIT_FAILED);
    }
    int64_t count = top_features(m, args->top, top);
    int code = EXIT_FINE;
    if (args->json) {
        code = print_model_json(model, m, &variants, top, count, t);
    } else if (t) {
        canvas c = canvas_stdout();
        show_head(m, &extras);
        theory_print(t, &c, args->top);
    } else {
        canvas c = canvas_stdout();
        show_head(m, &extras);
        print_groups(&c, m, &variants, args->top);
        show_features(&c, m, top, count);
        show_outliers(&c, model, m);
        show_exchanged(&c, model);
        show_certainty(&c, m);
        show_residuals(&c, m);
        show_history(&c, m);
    }
    memory_free(top);
    variant_list_free(&variants);
    return code;
}

static int inspect_theory(const inspect_args *args, const roofs_model *model, const operands *files)
{
    roofs_error err = {.feature = -1};
    roofs_result view;
    roofs_model_view(model, &view);
    theory t = {.model = &view};
    if (roofs_model_offset(model))
        return usage_error("inspect", "--theory does not know the offset of the model");
    interrupt_install();
    roofs_status status = theory_read(&t, &args->about, model, files, &err);
    if (status == ROOFS_OK)
        status = theory_bound(&t, &err);
    int code = EXIT_FINE;
    if (status == ROOFS_OK)
        code = print_model(args, model, &t);
    else if (interrupt_signal())
        code = interrupt_exit("inspect", "");
    else
        code = exit_with("inspect", &err, exit_after_input(status));
    theory_destroy(&t);
    return code;
}

/* Returns OPTIONS_FINE or an exit code. */
static int check_operands(const inspect_args *args, const operands *rest)
{
    const theory_args *about = &args->about;
    const operands files = {rest->values + 1, rest->count - 1};
    if (args->theory && rest->count > 1 && is_checkpoint(rest->values[0]))
        return usage_error("inspect", "--theory needs a model, not a checkpoint");
    if (args->theory && rest->count > 1 && inputs_have_stdin(&files))
        return usage_error("inspect", "--theory reads the features twice; give them in files");
    if (args->theory && rest->count > 1)
        return OPTIONS_FINE;
    if (args->theory)
        return usage_error("inspect", "--theory needs a model and the data of its fit: roofs "
                                      "inspect model.json --theory --y Y FILES...");
    if (about->y || about->truth || about->corruption >= 0 || about->noise >= 0)
        return usage_error("inspect", "--y, --truth, --corruption and --noise need --theory");
    if (rest->count != 1)
        return usage_error("inspect", "give one model or checkpoint; %" PRId64 " are given",
                           rest->count);
    return OPTIONS_FINE;
}

static int inspect_main(int argc, char **argv)
{
    inspect_args args = {.about = {.corruption = -1, .noise = -1}};
    operands rest;
    int code = options_parse(&inspect_verb, &args, argc, argv, &rest);
    if (code == OPTIONS_FINE)
        code = check_operands(&args, &rest);
    if (code != OPTIONS_FINE)
        return code;
    if (is_checkpoint(rest.values[0]))
        return inspect_checkpoint(rest.values[0], args.json);
    roofs_model *model = NULL;
    roofs_error err;
    roofs_status status = inputs_read_model(&model, rest.values[0], &err);
    if (status != ROOFS_OK)
        return exit_with("inspect", &err, exit_after_input(status));
    const operands files = {rest.values + 1, rest.count - 1};
    code = args.theory ? inspect_theory(&args, model, &files) : print_model(&args, model, NULL);
    roofs_model_destroy(model);
    return code;
}

const verb inspect_verb = {
    .name = "inspect",
    .summary = "show a model: features, samples not trusted, residuals, batches; or a checkpoint",
    .usage = "model.json|CHECKPOINT [--theory --y Y FILES...] [options]",
    .about =
        "A group is a set of features that look alike: one of them has an effect, with the "
        "probability that stands behind the group, but the data do not show which. A group of "
        "one feature has a coefficient with a 95% interval. A group is incomplete if the fit "
        "had no memory left for further features that look alike.\n\n"
        "A model that was fitted with --fdr shows what is promised: the share of the groups, on "
        "average, that hold no feature with an effect. Promised from 0.1 on; from 0.05 on where "
        "features correlate at most 0.5."
        "\n\n"
        "--theory reads the features and the response of the fit again, twice, and prints how "
        "far the coefficients can be from the true ones: a number, or why the bound does not "
        "apply. It names every condition with its measured value, and what it assumes: how "
        "many samples are corrupt (--corruption), the noise (--noise), and that every feature "
        "with an effect is kept. Beside it stands the bound of the theorem for method roofs. "
        "docs/theory.md has the derivation. Memory: the values of the kept features.",
    .examples = inspect_examples,
    .rows = inspect_rows,
    .main = inspect_main,
};
