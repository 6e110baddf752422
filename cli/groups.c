#include "cli/groups.h"

#include "base/escape.h"
#include "base/student.h"
#include "cli/print.h"

#include <inttypes.h>
#include <math.h>

/* The smallest rates of false discoveries that are promised: for any features, and for those that
 * correlate at most so much (docs/uncertainty.md). */
static const double PROMISED_RATE = 0.1, PROMISED_CORRELATION = 0.5, PROMISED_BELOW = 0.05;

static const double INTERVAL_LEVEL = 0.95;

int group_is_found(const roofs_result *r, const roofs_group *g)
{
    return r->fdr <= 0 || g->fdr <= r->fdr;
}

int64_t groups_found(const roofs_result *r)
{
    int64_t count = 0;
    for (int64_t k = 0; k < r->groups; k++)
        count += group_is_found(r, &r->group[k]);
    return count;
}

int64_t groups_incomplete(const roofs_result *r)
{
    int64_t count = 0;
    for (int64_t k = 0; k < r->groups; k++)
        count += group_is_found(r, &r->group[k]) && !r->group[k].complete;
    return count;
}

int64_t features_in_groups(const roofs_result *r)
{
    int64_t count = 0;
    for (int64_t k = 0; k < r->groups; k++)
        count += group_is_found(r, &r->group[k]) ? r->group[k].count : 0;
    return count;
}

static int64_t groups_of_one(const roofs_result *r)
{
    int64_t count = 0;
    for (int64_t k = 0; k < r->groups; k++)
        count += group_is_found(r, &r->group[k]) && r->group[k].count == 1;
    return count;
}

double group_probability(const roofs_group *g)
{
    return g->exists * fmin(g->mass, 1);
}

double interval_half(double error)
{
    return error * student_quantile(INFINITY, (1 + INTERVAL_LEVEL) / 2);
}

promise_text text_of_promise(const roofs_result *r)
{
    promise_text t = {""};
    if (r->fdr <= 0)
        return t;
    snprintf(t.text, sizeof t.text,
             "at most %.3g%% of the groups, on average, hold no feature with an effect",
             100 * r->fdr);
    if (r->fdr < PROMISED_RATE)
        snprintf(t.text, sizeof t.text,
                 "at most %.3g%% of the groups, on average, hold no feature with an effect; where "
                 "features correlate above %.1g, only at most %.3g%% is promised",
                 100 * fmax(r->fdr, PROMISED_BELOW), PROMISED_CORRELATION, 100 * PROMISED_RATE);
    return t;
}

const char *incomplete_advice(void)
{
    return "further features may belong to them, because the pool of dropped features was full; "
           "fit with --groups exact, which reads the files once more, or with a larger --pool";
}

/* ---- text -------------------------------------------------------------- */

enum { LABEL = 11 }; /* columns before the text of a line */

void print_group_counts(FILE *file, const roofs_result *r)
{
    const int64_t found = groups_found(r), alone = groups_of_one(r);
    const int64_t incomplete = groups_incomplete(r);
    const promise_text promise = text_of_promise(r);
    char line[600];
    int used = 0;
    if (!r->groups_known)
        return;
    used += snprintf(line, sizeof line, "%s found", text_of_count(found).text);
    if (found > 0 && alone == found)
        used += snprintf(line + used, sizeof line - (size_t)used, ", %sof one feature",
                         found > 1 ? "each " : "");
    else if (found > 0)
        used += snprintf(line + used, sizeof line - (size_t)used,
                         ": %s of one feature, %s of several that look alike",
                         text_of_count(alone).text, text_of_count(found - alone).text);
    if (*promise.text)
        used += snprintf(line + used, sizeof line - (size_t)used, "; %s", promise.text);
    if (incomplete > 0)
        snprintf(line + used, sizeof line - (size_t)used, "; %s incomplete: %s",
                 text_of_count(incomplete).text, incomplete_advice());
    fprintf(file, "%-*s", LABEL, "groups");
    print_wrapped(file, line, terminal_width(file), LABEL, LABEL);
}

/* The name of a member, or "feature 12". */
static roofs_feature feature_of(const roofs_member *m)
{
    return (roofs_feature){.index = m->index, .name = m->name};
}

/* Columns of its name as it is printed. */
static int member_columns(const roofs_member *m)
{
    char escaped[1024];
    if (!m->name)
        return snprintf(NULL, 0, "feature %" PRId64, m->index);
    escape_text(m->name, escaped, sizeof escaped);
    return text_columns(escaped);
}

/* As many names as fit on the line. */
static void print_members(const canvas *c, const roofs_group *g)
{
    enum { ALONE = 50, SEVERAL = 16 }; /* of "(100.0%)", the coefficient or ", ..." */
    const int margin = g->count > 1 ? SEVERAL : ALONE;
    int used = printf("  %s", g->count > 1 ? "one of: " : "");
    for (int64_t k = 0; k < g->count; k++) {
        const roofs_feature f = feature_of(&g->members[k]);
        const int space = c->width - used - margin, columns = member_columns(&g->members[k]);
        if (k > 0 && columns > space) {
            printf(", ...");
            break;
        }
        const int shown = columns < space ? columns : space > 8 ? space : 8;
        used += shown + (k > 0 ? printf(", ") : 0);
        print_feature(stdout, &f, shown);
    }
    printf(" (%s)", text_of_share(group_probability(g), 1).text);
}

/* The region, and its variants with their shares of the probability, as many as fit. */
static void print_region(const canvas *c, const roofs_group *g, const region *place)
{
    enum { MARGIN = 24 }; /* of the share, ", ..." and "(100.0%)" */
    int used = printf("  %s  %s", text_of_region(place).text, g->count > 1 ? "lead " : "");
    for (int64_t k = 0; k < g->count; k++) {
        const roofs_feature f = feature_of(&g->members[k]);
        const int columns = member_columns(&g->members[k]);
        if (k > 0 && used + columns + MARGIN > c->width) {
            printf(", ...");
            break;
        }
        used += columns + (k > 0 ? printf(", ") : 0);
        print_feature(stdout, &f, columns);
        if (g->count > 1)
            used += printf(" (%.2f)", g->members[k].probability);
    }
    printf(" (%s)", text_of_share(group_probability(g), 1).text);
}

/* A group of one takes one line if it has a coefficient. */
static void print_group(const canvas *c, const roofs_group *g, const variant_list *variants)
{
    enum { INDENT = 6 };
    const char *within = c->utf8 ? "\xc2\xb1" : "+-";
    const char *end = g->complete ? "" : ", incomplete";
    char line[300];
    int used = 0;
    region place;
    if (variants && region_of(variants, g, &place))
        print_region(c, g, &place);
    else
        print_members(c, g);
    if (!isnan(g->coef)) {
        printf("  coefficient %+.6g %s %.2g%s\n", g->coef, within, interval_half(g->coef_error),
               end);
        return;
    }
    if (g->count > 1)
        used = snprintf(line, sizeof line, "%s features, correlation at least %.2f, ",
                        text_of_count(g->count).text, g->correlation);
    snprintf(line + used, sizeof line - (size_t)used,
             "effect %+.4g %s %.2g per standard deviation%s", g->effect, within,
             interval_half(g->error), end);
    printf("\n%*s", INDENT, "");
    print_wrapped(stdout, line, c->width, INDENT, INDENT);
}

void print_groups(const canvas *c, const roofs_result *r, const variant_list *variants,
                  int64_t most)
{
    int64_t shown = 0;
    const int64_t found = groups_found(r);
    if (found == 0)
        return;
    draw_heading(
        c, variants && variants->count > 0
               ? "Regions (probability that a variant of the region has an effect; 95% intervals)"
               : "Groups (probability that a feature of the group has an effect; 95% intervals)");
    for (int64_t k = 0; k < r->groups && shown < most; k++)
        if (group_is_found(r, &r->group[k])) {
            print_group(c, &r->group[k], variants);
            shown++;
        }
    if (shown < found)
        printf("  and %s more (--top)\n", text_of_count(found - shown).text);
}

/* ---- JSON -------------------------------------------------------------- */

static json_t *json_members(const roofs_group *g)
{
    json_t *list = json_array();
    for (int64_t k = 0; k < g->count; k++) {
        const roofs_member *m = &g->members[k];
        json_array_append_new(list,
                              json_pack("{s:I, s:s?, s:o}", "index", (json_int_t)m->index, "name",
                                        m->name, "probability", json_number(m->probability)));
    }
    return list;
}

/* NULL if the place is not known. */
static json_t *json_region(const roofs_group *g, const variant_list *variants)
{
    region place;
    if (!variants || !region_of(variants, g, &place))
        return NULL;
    return json_pack("{s:s, s:I, s:I, s:I}", "chr", place.chromosome, "from",
                     (json_int_t)place.from, "to", (json_int_t)place.to, "elsewhere",
                     (json_int_t)place.elsewhere);
}

static json_t *json_group(const roofs_result *r, const roofs_group *g, const variant_list *variants)
{
    return json_pack("{s:o*, s:o, s:o, s:o, s:o, s:o, s:b, s:o, s:o, s:o, s:o, s:o, s:b}", "region",
                     json_region(g, variants), "members", json_members(g), "probability",
                     json_number(group_probability(g)), "mass", json_number(g->mass), "exists",
                     json_number(g->exists), "fdr", json_number(g->fdr), "found",
                     group_is_found(r, g), "correlation", json_number(g->correlation), "effect",
                     json_number(g->effect), "error", json_number(g->error), "coef",
                     json_number(g->coef), "coef_error", json_number(g->coef_error), "complete",
                     (int)(g->complete != 0));
}

json_t *json_groups(const roofs_result *r, const variant_list *variants)
{
    json_t *list = r->groups_known ? json_array() : NULL;
    for (int64_t k = 0; list && k < r->groups; k++)
        json_array_append_new(list, json_group(r, &r->group[k], variants));
    return list;
}

json_t *json_noise(const roofs_result *r)
{
    const roofs_noise *n = &r->noise;
    if (!r->spread)
        return NULL;
    return json_pack("{s:o, s:o, s:o, s:o, s:o}", "scale", json_number(n->scale), "intercept",
                     json_number(n->intercept), "nu", json_number(n->nu), "skew",
                     json_number(n->skew), "tail", json_number(n->tail));
}
