#include "cli/report_groups.h"

#include "cli/groups.h"
#include "cli/report_fit.h"
#include "cli/report_page.h"

#include <inttypes.h>
#include <math.h>

/* Limits that keep the page fast in a browser. */
enum { GROUP_ROWS = 500, MEMBERS_LISTED = 12 };

/* A bar per member: its share of the probability. */
static void put_members(FILE *page, const roofs_group *g, const variant_list *variants)
{
    const int64_t listed = g->count < MEMBERS_LISTED ? g->count : MEMBERS_LISTED;
    region place;
    fputs("<td>", page);
    if (region_of(variants, g, &place)) {
        fputs("<div><strong>", page);
        page_text(page, text_of_region(&place).text);
        fputs("</strong></div>\n", page);
    }
    for (int64_t k = 0; k < listed; k++) {
        const roofs_feature f = {.index = g->members[k].index, .name = g->members[k].name};
        const double share = 100 * g->members[k].probability;
        short_text number = {0};
        fputs("<div class=\"member\"><bdi>", page);
        page_text(page, feature_label(&f, &number));
        fprintf(page,
                "</bdi><span class=\"share\"><span style=\"--v:%.1f%%\"></span></span>"
                "<small>%.1f%%</small></div>\n",
                share, share);
    }
    if (listed < g->count)
        fprintf(page, "<small>and %s more</small>", text_of_count(g->count - listed).text);
    if (!g->complete)
        fputs("<small>incomplete</small>", page);
    fputs("</td>", page);
}

static void put_within(FILE *page, double value, double error)
{
    if (isnan(value))
        fputs("<td class=\"n\" data-v=\"0\"></td>", page);
    else
        fprintf(page, "<td class=\"n\" data-v=\"%.17g\">%.4g &plusmn; %.2g</td>", value, value,
                interval_half(error));
}

static void put_group(FILE *page, const roofs_group *g, const variant_list *variants)
{
    const double probability = group_probability(g);
    fprintf(page, "<tr><td class=\"n\" data-v=\"%" PRId64 "\">%s</td>", g->count,
            text_of_count(g->count).text);
    put_members(page, g, variants);
    fprintf(page, "<td class=\"n\" data-v=\"%.17g\">%.1f%%</td>", probability, 100 * probability);
    fprintf(page, "<td class=\"n spare\" data-v=\"%.17g\">%.2g</td>", g->fdr, g->fdr);
    if (g->count > 1)
        fprintf(page, "<td class=\"n\" data-v=\"%.17g\">%.2f</td>", g->correlation, g->correlation);
    else
        fputs("<td class=\"n\" data-v=\"1\"></td>", page);
    put_within(page, g->effect, g->error);
    put_within(page, g->coef, g->coef_error);
    fputs("</tr>\n", page);
}

static void put_note(FILE *page, const roofs_result *m)
{
    const promise_text promise = text_of_promise(m);
    const int64_t incomplete = groups_incomplete(m);
    fputs("<p class=\"note\">In each group one feature has an effect, with the probability that "
          "stands beside it. The bars are the shares of the features in it: the data do not show "
          "more. <em>Correlation</em>: the smallest between two features of the group. "
          "<em>FDR</em>: the smallest rate of false discoveries at which the group is found. "
          "<em>Effect</em>: of a change by one standard deviation. Intervals hold with 95%.</p>\n",
          page);
    if (*promise.text)
        fprintf(page, "<p class=\"note\">Promised by the setting <code>fdr</code>: %s.</p>\n",
                promise.text);
    if (incomplete > 0)
        fprintf(page, "<p class=\"note\">%s of the groups %s incomplete: %s.</p>\n",
                text_of_count(incomplete).text, incomplete == 1 ? "is" : "are",
                incomplete_advice());
}

static void put_groups(FILE *page, const roofs_result *m, const variant_list *variants,
                       int64_t found)
{
    static const char *const headings[] = {"#Features",    "Members", "#Probability", "-#FDR",
                                           "#Correlation", "#Effect", "#Coefficient", NULL};
    int64_t listed = 0;
    fputs("<div class=\"card groups\">\n", page);
    put_note(page, m);
    page_table(page, headings);
    for (int64_t k = 0; k < m->groups && listed < GROUP_ROWS; k++)
        if (group_is_found(m, &m->group[k])) {
            put_group(page, &m->group[k], variants);
            listed++;
        }
    page_table_end(page);
    if (listed < found)
        fprintf(page,
                "<p class=\"note\">And %s more: <code>roofs inspect --json</code> lists all.</p>\n",
                text_of_count(found - listed).text);
    fputs("</div>\n", page);
}

void report_put_groups(FILE *page, const roofs_result *m, const variant_list *variants)
{
    const int64_t found = groups_found(m);
    if (!m->groups_known)
        return;
    page_section(page, variants->count > 0 ? "Regions" : "Groups");
    if (found > 0)
        put_groups(page, m, variants, found);
    else
        fputs("<p>No group of features was found whose effect stands out from the noise.</p>\n",
              page);
    fputs("</section>\n", page);
}
