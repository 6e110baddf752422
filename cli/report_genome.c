#include "cli/report_genome.h"

#include "base/memory.h"
#include "cli/groups.h"
#include "cli/report_page.h"
#include "cli/report_plot.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* A chromosome in the picture: from `start` on, `length` long. */
typedef struct chromosome {
    char name[CHROMOSOME_MOST];
    double number; /* of its name; infinite if that is no number */
    double start, length;
} chromosome;

typedef struct genome {
    const variant_list *variants;
    chromosome *all;
    int64_t count, capacity;
} genome;

static void put_chromosome_name(FILE *page, const void *user, int64_t k)
{
    page_text_short(page, ((const genome *)user)->all[k].name, 4);
}

static chromosome *find_chromosome(const genome *g, const char *text)
{
    char name[CHROMOSOME_MOST];
    chromosome_normal(text, name);
    for (int64_t k = 0; k < g->count; k++)
        if (strcmp(g->all[k].name, name) == 0)
            return &g->all[k];
    return NULL;
}

static roofs_status add_variant(genome *g, const fitted_variant *v, roofs_error *err)
{
    const double position = (double)variant_position(v);
    chromosome *c = find_chromosome(g, v->variant.chromosome);
    if (!c) {
        char *end;
        TRY(memory_grow(&g->all, &g->capacity, g->count + 1, sizeof *g->all, "the genome", err));
        c = &g->all[g->count++];
        chromosome_normal(v->variant.chromosome, c->name);
        c->number = strtod(c->name, &end);
        c->number = *end || end == c->name ? INFINITY : c->number;
    }
    c->length = fmax(c->length, position);
    return ROOFS_OK;
}

static int by_number(const void *left, const void *right)
{
    const chromosome *a = left, *b = right;
    if (a->number != b->number)
        return a->number < b->number ? -1 : 1;
    return strcmp(a->name, b->name);
}

/* Puts the chromosomes side by side, in the order of their numbers. */
static roofs_status lay_out(genome *g, double *length, roofs_error *err)
{
    for (int64_t k = 0; k < g->variants->count; k++)
        TRY(add_variant(g, &g->variants->items[k], err));
    if (g->count > 0)
        qsort(g->all, (size_t)g->count, sizeof *g->all, by_number);
    *length = 0;
    for (int64_t k = 0; k < g->count; k++) {
        g->all[k].start = *length;
        *length += g->all[k].length + 1;
    }
    return ROOFS_OK;
}

static double place_of(const genome *g, const fitted_variant *v)
{
    return find_chromosome(g, v->variant.chromosome)->start + (double)variant_position(v);
}

static void put_point(plot *p, const genome *g, const char *name, double probability)
{
    const fitted_variant *v = name ? variant_list_find(g->variants, name) : NULL;
    if (v && !isnan(probability))
        fprintf(p->script, "%.17g %.6g\n", place_of(g, v), probability);
}

/* Shades every second chromosome and names all. */
static void script_chromosomes(plot *p, const genome *g)
{
    for (int64_t k = 0; k < g->count; k++)
        if (k % 2 == 0)
            fprintf(p->script,
                    "set object %" PRId64 " rectangle from %.17g, graph 0 to %.17g, graph 1 behind "
                    "fc rgb grid fs solid 0.5 noborder\n",
                    k + 1, g->all[k].start, g->all[k].start + g->all[k].length + 1);
    fputs("set xtics scale 0 (", p->script);
    for (int64_t k = 0; k < g->count; k++)
        fprintf(p->script, "%s\"@%" PRId64 "\" %.17g", k ? ", " : "", k,
                g->all[k].start + 0.5 * g->all[k].length);
    fputs(")\n", p->script);
}

static void script_points(plot *p, const genome *g, const roofs_result *m)
{
    fputs("$kept << EOD\n", p->script);
    for (int64_t k = 0; k < m->selected; k++)
        put_point(p, g, m->features[k].name, m->features[k].probability);
    fputs("EOD\n$lead << EOD\n", p->script);
    for (int64_t k = 0; k < m->groups; k++)
        if (group_is_found(m, &m->group[k]))
            put_point(p, g, m->group[k].members[0].name, group_probability(&m->group[k]));
    fputs("EOD\nplot $kept using 1:2 with points pt 7 ps 0.25 lc rgb blue, "
          "$lead using 1:2 with points pt 7 ps 0.5 lc rgb plum\n",
          p->script);
}

static roofs_status draw_genome(FILE *page, genome *g, const roofs_result *m, roofs_error *err)
{
    static const page_key keys[] = {{"blue", "a variant has an effect"},
                                    {"plum", "a region has one; at its lead variant"},
                                    {0}};
    double length;
    plot p;
    TRY(lay_out(g, &length, err));
    page_figure(page, "Probability along the genome", keys,
                "Chromosomes are shaded alternately and end with the last variant of the model.");
    TRY(plot_begin(&p, PLOT_HEIGHT, PLOT_LEFT, err));
    p.name = put_chromosome_name;
    p.user = g;
    plot_axis_share(&p, 'y');
    fprintf(p.script, "set xrange [0:%.17g]\nset yrange [0:1.04]\n", length);
    script_chromosomes(&p, g);
    plot_axis_name(&p, 'x', "chromosome");
    script_points(&p, g, m);
    return plot_end(&p, page, "Probability along the genome", err);
}

roofs_status figure_genome(FILE *page, const roofs_result *m, const variant_list *variants,
                           roofs_error *err)
{
    genome g = {.variants = variants};
    page_section(page, "Genome");
    fputs("<div class=\"figures\">\n", page);
    roofs_status status = draw_genome(page, &g, m, err);
    fputs("</div>\n</section>\n", page);
    memory_free(g.all);
    return status;
}
