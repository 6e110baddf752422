#include "cli/regions.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

int64_t variant_position(const fitted_variant *v)
{
    return strtoll(v->variant.position, NULL, 10);
}

static const fitted_variant *variant_of(const variant_list *variants, const roofs_member *m)
{
    return m->name ? variant_list_find(variants, m->name) : NULL;
}

int region_of(const variant_list *variants, const roofs_group *g, region *out)
{
    const fitted_variant *lead = g->count > 0 ? variant_of(variants, &g->members[0]) : NULL;
    if (!lead)
        return 0;
    const int64_t at = variant_position(lead);
    *out = (region){.chromosome = lead->variant.chromosome, .from = at, .to = at};
    for (int64_t k = 1; k < g->count; k++) {
        const fitted_variant *v = variant_of(variants, &g->members[k]);
        if (!v || strcmp(v->variant.chromosome, out->chromosome) != 0) {
            out->elsewhere++;
            continue;
        }
        const int64_t place = variant_position(v);
        out->from = place < out->from ? place : out->from;
        out->to = place > out->to ? place : out->to;
    }
    return 1;
}

region_text text_of_region(const region *r)
{
    region_text t;
    const char *prefix = strncmp(r->chromosome, "chr", 3) == 0 ? "" : "chr";
    int used = snprintf(t.text, sizeof t.text, "%s%.40s:%" PRId64, prefix, r->chromosome, r->from);
    if (r->to > r->from)
        used += snprintf(t.text + used, sizeof t.text - (size_t)used, "-%" PRId64, r->to);
    if (r->elsewhere > 0)
        snprintf(t.text + used, sizeof t.text - (size_t)used, " and %s elsewhere",
                 text_of_count(r->elsewhere).text);
    return t;
}
