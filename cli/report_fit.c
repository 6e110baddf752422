/* The page about one fit: text and tables. */
#include "cli/report_fit.h"

#include "base/memory.h"
#include "cli/exchanged.h"
#include "cli/groups.h"
#include "cli/model_extras.h"
#include "cli/report_genome.h"
#include "cli/report_groups.h"
#include "cli/report_page.h"
#include "cli/tables.h"
#include "cli/top.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

/* Limits that keep the page fast in a browser. */
enum { FEATURE_ROWS = 2000, BATCH_ROWS = 2000, SAMPLES_LISTED = 10000 };

const char *feature_label(const roofs_feature *feature, short_text *number)
{
    snprintf(number->text, sizeof number->text, "feature %" PRId64, feature->index);
    return feature->name ? feature->name : number->text;
}

/* True if the method gives probabilities of features. */
static int has_probabilities(const roofs_result *m)
{
    for (int64_t k = 0; k < m->selected; k++)
        if (!isnan(m->features[k].probability))
            return 1;
    return 0;
}

static int has_names(const roofs_result *m)
{
    for (int64_t k = 0; k < m->selected; k++)
        if (m->features[k].name)
            return 1;
    return 0;
}

/* ---- the headline ------------------------------------------------------ */

static const char *stop_sentence(roofs_stop stop)
{
    switch (stop) {
    case ROOFS_STOP_SETTLED:
        return "The fit settled.";
    case ROOFS_STOP_MAX_ITER:
        return "The fit used all its rounds before it settled.";
    case ROOFS_STOP_EMPTY:
        break;
    }
    return "No feature varies.";
}

/* With a rate of false discoveries groups are found, not features. */
static void put_headline(FILE *page, const roofs_result *m, int64_t selected)
{
    const short_text trusted = text_of_share((double)m->trusted, (double)m->n);
    const int64_t found = groups_found(m);
    if (m->fdr > 0)
        fprintf(page,
                "<h1>%s group%s of %s feature%s found among %s, %s of the samples trusted</h1>\n",
                text_of_count(found).text, plural(found), text_of_count(features_in_groups(m)).text,
                plural(features_in_groups(m)), text_of_count(m->features_seen).text, trusted.text);
    else
        fprintf(page, "<h1>%s of %s feature%s selected, %s of the samples trusted</h1>\n",
                text_of_count(selected).text, text_of_count(m->features_seen).text,
                plural(m->features_seen), trusted.text);
}

/* How good the fit is, in one sentence. */
static void put_quality(FILE *page, const roofs_result *m)
{
    const roofs_quality *q = &m->quality;
    if (!(q->constant_error > 0))
        return;
    fprintf(
        page,
        "On the samples that it trusts the model explains <strong>%.1f%%</strong> of the variance "
        "of the response: its mean error is <strong>%s</strong>, that of a constant %s. ",
        100 * q->r2, text_of_real(q->error).text, text_of_real(q->constant_error).text);
}

static void put_lead(FILE *page, const roofs_result *m)
{
    const int64_t outliers = m->n - m->trusted, selected = selected_features(m);
    put_headline(page, m, selected);
    fputs("<p class=\"lead\">", page);
    put_quality(page, m);
    fputs("The method <code>", page);
    page_text(page, m->method);
    fprintf(page, "</code> read %s feature%s in %s batch%s and selected %s to explain %s samples. ",
            text_of_count(m->features_seen).text, plural(m->features_seen),
            text_of_count(m->batches).text, m->batches == 1 ? "" : "es",
            text_of_count(selected).text, text_of_count(m->n).text);
    if (m->by_probability)
        fprintf(page, "Selected are the features %s. The model keeps %s, and all of them predict. ",
                m->fdr > 0 ? "in a group that is found" : "whose probability is above 1/2",
                text_of_count(m->selected).text);
    if (outliers == 0)
        fputs("It trusts all of them. ", page);
    else
        fprintf(page, "It trusts %s of them and does not trust %s outlier%s. ",
                text_of_count(m->trusted).text, text_of_count(outliers).text, plural(outliers));
    if (m->constant > 0)
        fprintf(page, "%s constant feature%s %s left out. ", text_of_count(m->constant).text,
                plural(m->constant), m->constant == 1 ? "was" : "were");
    fprintf(page, "%s</p>\n", stop_sentence(m->stop));
}

static void put_warnings(FILE *page, int64_t flags)
{
    const char *text;
    for (int64_t k = 0; (text = roofs_warning_text(k)) != NULL; k++) {
        if (!(flags & (int64_t)1 << k))
            continue;
        fputs("<p><strong>Warning:</strong> ", page);
        page_text(page, text);
        fputs(".</p>\n", page);
    }
}

static void put_fact(FILE *page, const char *name, const char *value, const char *more)
{
    fprintf(page, "<div><dt>%s</dt><dd>%s<small>%s</small></dd></div>\n", name, value, more);
}

static void put_orders(FILE *page, const roofs_result *m)
{
    char orders[64], change[32];
    snprintf(orders, sizeof orders, "mean Jaccard of %s orders", text_of_count(m->orders).text);
    snprintf(change, sizeof change, "%.3g", m->change);
    put_fact(page, "Selections agree", text_of_share(m->jaccard, 1).text, orders);
    put_fact(page, "Predictions change", change, "of the noise at most, between two orders");
}

static void put_extras(FILE *page, const roofs_model *model)
{
    const model_extras x = model_extras_of(model);
    if (x.forced > 0) {
        fprintf(page, "<div><dt>Always</dt><dd>%s<small>", text_of_count(x.forced).text);
        page_text(page, x.names);
        fputs("</small></dd></div>\n", page);
    }
    if (x.offset) {
        fputs("<div><dt>Offset</dt><dd>", page);
        page_text(page, *x.offset ? x.offset : "yes");
        fputs("<small>subtracted from the response</small></dd></div>\n", page);
    }
}

static void put_facts(FILE *page, const roofs_model *model, const roofs_result *m)
{
    char intercept[48], cut[48], rounds[64], batches[64], outliers[64], share[64], r2[32],
        error[48], constant[80];
    const int64_t selected = selected_features(m);
    snprintf(intercept, sizeof intercept, "%s", text_of_real(m->intercept).text);
    snprintf(cut, sizeof cut, "%s", text_of_real(m->cut).text);
    snprintf(rounds, sizeof rounds, "in %s round%s", text_of_count(m->rounds).text,
             plural(m->rounds));
    snprintf(batches, sizeof batches, "in %s batch%s", text_of_count(m->batches).text,
             m->batches == 1 ? "" : "es");
    snprintf(outliers, sizeof outliers, "%s not trusted", text_of_count(m->n - m->trusted).text);
    snprintf(share, sizeof share, "%s of the features seen",
             text_of_share((double)selected, (double)m->features_seen).text);
    snprintf(r2, sizeof r2, "%.1f%%", 100 * m->quality.r2);
    snprintf(error, sizeof error, "%s", text_of_real(m->quality.error).text);
    snprintf(constant, sizeof constant, "a constant has %s",
             text_of_real(m->quality.constant_error).text);
    fputs("<dl class=\"facts\">\n", page);
    if (m->quality.constant_error > 0) {
        put_fact(page, "Explained", r2, "of the variance, trusted samples");
        put_fact(page, "Mean error", error, constant);
    }
    put_fact(page, "Selected", text_of_count(selected).text, share);
    put_fact(page, "Trusted", text_of_count(m->trusted).text, outliers);
    put_fact(page, "Samples", text_of_count(m->n).text, rounds);
    put_fact(page, "Features seen", text_of_count(m->features_seen).text, batches);
    put_fact(page, "Intercept", intercept, "in units of the response");
    put_fact(page, "Cut", cut, "largest trusted residual");
    if (m->orders > 0)
        put_orders(page, m);
    put_extras(page, model);
    fputs("</dl>\n", page);
}

static void put_setting(FILE *page, const roofs_setting_info *info, const char *value)
{
    if (info->kind == ROOFS_SETTING_FLAG)
        fputs(strcmp(value, "1") == 0 ? "yes" : "no", page);
    else if (strcmp(info->name, "clean_ratio") == 0 && strtod(value, NULL) == 0)
        fputs("estimated", page);
    else if (info->kind == ROOFS_SETTING_INT && strcmp(value, info->default_text) != 0)
        fputs(text_of_count(strtoll(value, NULL, 10)).text, page);
    else if (info->kind == ROOFS_SETTING_REAL)
        fprintf(page, "%g", strtod(value, NULL));
    else
        page_text(page, value);
}

/* True unless the help of a setting names, at its end, other methods than this one. */
static int setting_is_used(const char *help, const char *method)
{
    const char *last = strrchr(help, '(');
    roofs_method_info info;
    char words[64];
    if (!last || help[strlen(help) - 1] != ')' || strlen(last) >= sizeof words)
        return 1;
    snprintf(words, sizeof words, "%.*s", (int)strlen(last) - 2, last + 1);
    if (roofs_method_find(words) >= 0)
        return strcmp(words, method) == 0;
    if (!roofs_method_describe(roofs_method_find(method), &info))
        return 1;
    if (strcmp(words, "batch-wise methods") == 0)
        return info.joint;
    return strcmp(words, "methods with a reserve") == 0 ? info.reserve : 1;
}

static void put_settings(FILE *page, const roofs_model *model, const char *method)
{
    roofs_setting_info info;
    char number[40];
    page_section(page, "Settings");
    fputs("<p class=\"note\">Those that the method uses.</p>\n<dl class=\"settings\">\n", page);
    for (int64_t k = 0; roofs_setting_describe(k, &info); k++) {
        const char *value = roofs_model_setting(model, info.name, number, sizeof number);
        if (!value || !setting_is_used(info.help, method))
            continue;
        fputs("<div title=\"", page);
        page_text(page, info.help);
        fprintf(page, "\"><dt>%s</dt><dd>", info.name);
        put_setting(page, &info, value);
        fputs("</dd></div>\n", page);
    }
    fputs("</dl>\n</section>\n", page);
}

static void put_head(FILE *page, const roofs_model *model, const roofs_result *m, const char *name)
{
    fputs("<header>\n<p class=\"eyebrow\">Report of a fit &middot; <bdi>", page);
    page_text(page, name);
    fputs("</bdi></p>\n", page);
    put_lead(page, m);
    put_warnings(page, m->warnings);
    put_facts(page, model, m);
    fputs("</header>\n", page);
}

/* ---- coefficients ------------------------------------------------------ */

/* What the table of features shows beside names and coefficients. */
typedef struct feature_table {
    double largest; /* of the effects */
    int named, probable, effects;
    int ordered; /* several orders of the features were compared */
} feature_table;

static void put_share(FILE *page, double share)
{
    if (isnan(share))
        fputs("<td class=\"n\" data-v=\"-1\"></td>", page);
    else
        fprintf(page, "<td class=\"n\" data-v=\"%.6g\">%.1f%%</td>", share, 100 * share);
}

static void put_feature_row(FILE *page, const roofs_result *m, int64_t k, const feature_table *t)
{
    const roofs_feature *f = &m->features[k];
    short_text number = {0};
    fputs("<tr>", page);
    if (t->named)
        fprintf(page, "<td class=\"n spare\" data-v=\"%" PRId64 "\">%" PRId64 "</td>", f->index,
                f->index);
    fputs("<td><bdi>", page);
    page_text(page, feature_label(f, &number));
    fputs("</bdi></td>", page);
    double effect = feature_effect(m, k), size = fabs(effect);
    if (t->effects)
        fprintf(page, "<td class=\"n\" data-v=\"%.17g\">%s</td>", effect,
                text_of_real(effect).text);
    fprintf(page, "<td class=\"n%s\" data-v=\"%.17g\">%.5g</td>", t->effects ? " spare" : "",
            f->coef, f->coef);
    if (t->probable)
        put_share(page, f->probability);
    if (t->ordered)
        put_share(page, m->frequency[k]);
    fprintf(page, "<td class=\"bar\" data-v=\"%.17g\"><i%s style=\"--v:%.1f%%\"></i></td></tr>\n",
            size, f->coef < 0 ? " class=\"minus\"" : "",
            t->largest > 0 ? 100 * size / t->largest : 0);
}

/* Without names the index is the name: one column is enough. */
static void put_feature_headings(FILE *page, const feature_table *t)
{
    const char *headings[8];
    int count = 0;
    if (t->named)
        headings[count++] = "-#Index";
    headings[count++] = "Feature";
    if (t->effects)
        headings[count++] = "#Effect";
    headings[count++] = t->effects ? "-#Coefficient" : "#Coefficient";
    if (t->probable)
        headings[count++] = "#Probability";
    if (t->ordered)
        headings[count++] = "#Orders";
    headings[count++] = "Size";
    headings[count] = NULL;
    page_table(page, headings);
}

static void put_feature_table(FILE *page, const roofs_result *m, const int64_t *top, int64_t count)
{
    enum { SHORT = 12 };
    const feature_table t = {.largest = largest_of(m, top, count),
                             .named = has_names(m) && !m->scale,
                             .probable = has_probabilities(m),
                             .effects = m->scale != NULL,
                             .ordered = m->orders > 0};
    fprintf(page, "<div class=\"card%s\"><h3>", count > SHORT ? " long" : "");
    if (count < m->selected)
        fprintf(page, "The largest %s of %s %s", text_of_count(count).text,
                text_of_count(m->selected).text, t.effects ? "effects" : "coefficients");
    else
        fputs(t.effects ? "All effects" : "All coefficients", page);
    fprintf(page, "</h3><p class=\"note\">%s Click a heading to sort.%s%s</p>\n",
            t.effects ? "<em>Effect</em>: the coefficient times the standard deviation of the "
                        "feature, in the unit of the response."
                      : "In the units of the data.",
            !t.probable     ? ""
            : m->groups > 0 ? " <em>Probability</em>: that the feature has an effect, if no other "
                              "feature looks alike."
                            : " <em>Probability</em>: that the feature has an effect.",
            t.ordered ? " <em>Orders</em>: share of the orders that select the feature." : "");
    put_feature_headings(page, &t);
    for (int64_t k = 0; k < count; k++)
        put_feature_row(page, m, top[k], &t);
    page_table_end(page);
    fputs("</div>\n", page);
}

static roofs_status put_coefficients(FILE *page, const roofs_result *m, roofs_error *err)
{
    int64_t *top = NULL;
    page_section(page, m->scale ? "Features by effect" : "Coefficients");
    if (m->selected == 0) {
        fputs("<p>No feature was selected: the prediction is the intercept.</p>\n</section>\n",
              page);
        return ROOFS_OK;
    }
    TRY(memory_get(&top, FEATURE_ROWS, sizeof *top, "the features", err));
    int64_t count = top_features(m, FEATURE_ROWS, top);
    fputs("<div class=\"figures\">\n", page);
    roofs_status status = figure_coefficients(page, m, err);
    put_feature_table(page, m, top, count);
    fputs("</div>\n</section>\n", page);
    memory_free(top);
    return status;
}

/* ---- samples ----------------------------------------------------------- */

/* By ID where the model has IDs, otherwise by number. */
static void put_outliers(FILE *page, const roofs_model *model, const roofs_result *m)
{
    int64_t outliers = m->n - m->trusted, listed = 0;
    if (outliers == 0)
        return;
    json_t *ids = tables_outliers(model);
    page_folded(page, "%s sample%s not trusted <small>%s%s</small>", text_of_count(outliers).text,
                plural(outliers), ids ? "by ID" : "counted from 0",
                m->clean ? ", with the probability of being clean" : "");
    fputs("<ul class=\"samples\">\n", page);
    for (int64_t i = 0; i < m->n && listed < SAMPLES_LISTED; i++) {
        if (m->trust[i])
            continue;
        if (ids) {
            fputs("<li>", page);
            page_text(page, json_string_value(json_array_get(ids, (size_t)listed)));
        } else {
            fprintf(page, "<li>%" PRId64, i);
        }
        if (m->clean)
            fprintf(page, " <small>%.1f%%</small>", 100 * m->clean[i]);
        fputs("</li>\n", page);
        listed++;
    }
    fputs("</ul>\n", page);
    if (listed < outliers)
        fprintf(page,
                "<p class=\"note\">And %s more: <code>roofs inspect --json</code> lists all.</p>\n",
                text_of_count(outliers - listed).text);
    fputs("</details>\n", page);
    json_decref(ids);
}

/* "A and B look exchanged". */
static void put_exchanged(FILE *page, const roofs_model *model)
{
    json_t *sentences = exchanged_sentences(model);
    const size_t count = json_array_size(sentences);
    if (count > 0)
        fprintf(page,
                "<p>The responses of these samples fit each other, as after a mix-up. On average "
                "at most a tenth of such pairs are chance.</p>\n<ul class=\"samples\">\n");
    for (size_t k = 0; k < count; k++) {
        fputs("<li>", page);
        page_text(page, json_string_value(json_array_get(sentences, k)));
        fputs("</li>\n", page);
    }
    if (count > 0)
        fputs("</ul>\n", page);
    json_decref(sentences);
}

static roofs_status report_put_samples(FILE *page, const roofs_model *model, const roofs_result *m,
                                       roofs_error *err)
{
    page_section(page, "Samples");
    fputs("<div class=\"figures\">\n", page);
    TRY(figure_residuals(page, m, err));
    TRY(figure_samples(page, m, err));
    if (m->clean) {
        TRY(figure_clean_sorted(page, m, err));
        TRY(figure_clean_histogram(page, m, err));
    }
    fputs("</div>\n", page);
    put_exchanged(page, model);
    put_outliers(page, model, m);
    fputs("</section>\n", page);
    return ROOFS_OK;
}

/* ---- the stream -------------------------------------------------------- */

static void put_count(FILE *page, int64_t count)
{
    fprintf(page, "<td class=\"n\" data-v=\"%" PRId64 "\">%s</td>", count,
            text_of_count(count).text);
}

static void put_real(FILE *page, double value)
{
    fprintf(page, "<td class=\"n\" data-v=\"%.17g\">%.4g</td>", value, value);
}

static void put_batch(FILE *page, const roofs_result *m, int64_t k, int steps)
{
    const roofs_batch *b = &m->history[k];
    const int64_t counts[] = {k + 1, b->features, b->rounds, b->selected, b->entered, b->trusted};
    fputs("<tr>", page);
    for (size_t j = 0; j < sizeof counts / sizeof *counts; j++)
        put_count(page, counts[j]);
    put_real(page, b->cut);
    if (steps)
        put_real(page, b->step);
    fputs("</tr>\n", page);
}

/* Only some methods have a step length. */
static int has_steps(const roofs_result *m)
{
    for (int64_t k = 0; k < m->batches; k++)
        if (m->history[k].step != 0)
            return 1;
    return 0;
}

static void put_history(FILE *page, const roofs_result *m)
{
    int steps = has_steps(m);
    const char *const headings[] = {"#Batch",   "#Features", "#Rounds", "#Selected",
                                    "#Entered", "#Trusted",  "#Cut",    steps ? "#Step" : NULL,
                                    NULL};
    int64_t every = (m->batches + BATCH_ROWS - 1) / BATCH_ROWS;
    char which[64] = "values after each batch";
    if (every > 1)
        snprintf(which, sizeof which, "one of every %" PRId64 ", and the last", every);
    page_folded(page, "%s batch%s <small>%s</small>", text_of_count(m->batches).text,
                m->batches == 1 ? "" : "es", which);
    page_table(page, headings);
    for (int64_t k = 0; k < m->batches; k++)
        if (k % every == 0 || k == m->batches - 1)
            put_batch(page, m, k, steps);
    page_table_end(page);
    fputs("</details>\n", page);
}

/* Draws no curves for a single batch. */
static roofs_status put_stream(FILE *page, const roofs_result *m, const trace_lines *lines,
                               roofs_error *err)
{
    if (m->batches == 0)
        return ROOFS_OK;
    page_section(page, "Batch by batch");
    if (m->batches == 1) {
        fputs("<p>All features arrived in one batch.</p>\n", page);
    } else {
        fputs("<div class=\"figures\">\n", page);
        TRY(figures_stream(page, m, err));
        if (lines->count > 0)
            TRY(figures_trace(page, m, lines, err));
        fputs("</div>\n", page);
    }
    put_history(page, m);
    fputs("</section>\n", page);
    return ROOFS_OK;
}

/* Groups, or regions of the genome with a picture. */
static roofs_status put_genome(FILE *page, const roofs_model *model, const roofs_result *m,
                               roofs_error *err)
{
    variant_list variants = {0};
    TRY(variant_list_parse(&variants, roofs_model_table(model), err));
    roofs_status status = ROOFS_OK;
    if (variants.count > 0)
        status = figure_genome(page, m, &variants, err);
    if (status == ROOFS_OK)
        report_put_groups(page, m, &variants);
    variant_list_free(&variants);
    return status;
}

roofs_status fit_page(FILE *page, const roofs_model *model, const trace_lines *lines,
                      const char *name, roofs_error *err)
{
    roofs_result m;
    char title[300];
    roofs_model_view(model, &m);
    snprintf(title, sizeof title, "%s - roofs report", name);
    page_begin(page, title);
    put_head(page, model, &m, name);
    TRY(put_coefficients(page, &m, err));
    TRY(put_genome(page, model, &m, err));
    TRY(report_put_samples(page, model, &m, err));
    TRY(put_stream(page, &m, lines, err));
    put_settings(page, model, m.method);
    page_end(page);
    return ROOFS_OK;
}
