#include "cli/predict_genotypes.h"

#include "base/memory.h"
#include "cli/print.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

void predict_genotypes_free(predict_genotypes *g)
{
    genotypes_free(&g->genotypes);
    variant_list_free(&g->variants);
    memory_free(g->absent_value);
    *g = (predict_genotypes){0};
}

static const fitted_variant *variant_of(const predict_genotypes *g, const roofs_feature *f)
{
    return f->name ? variant_list_find(&g->variants, f->name) : NULL;
}

static roofs_status begin_variants(predict_genotypes *g, const roofs_model *m, roofs_error *err)
{
    roofs_result v;
    TRY(variant_list_parse(&g->variants, roofs_model_table(m), err));
    if (g->variants.count == 0)
        return ROOFS_OK;
    roofs_model_view(m, &v);
    g->options.fitted = &g->variants;
    TRY(memory_get(&g->absent_value, v.selected, sizeof *g->absent_value, "variants", err));
    for (int64_t k = 0; k < v.selected; k++) {
        const fitted_variant *found = variant_of(g, &v.features[k]);
        g->absent_value[k] = found ? found->mean : (double)NAN;
    }
    return ROOFS_OK;
}

roofs_status predict_genotypes_begin(predict_genotypes *g, const roofs_model *m,
                                     const operands *files, const genotype_options *o,
                                     roofs_error *err)
{
    char *bed;
    *g = (predict_genotypes){.options = *o};
    TRY(genotypes_find(files, &bed, err));
    roofs_status status = ROOFS_OK;
    if (bed)
        status = genotypes_choose(&g->genotypes, bed, o, 0, err);
    else if (genotypes_option(o))
        status = fail(err, ROOFS_BAD_SETTING, "%s is for genotypes, but no .bed file is given",
                      genotypes_option(o));
    if (status == ROOFS_OK && bed)
        status = begin_variants(g, m, err);
    memory_free(bed);
    return status;
}

void predict_genotypes_to_source(const predict_genotypes *g, source_options *options)
{
    if (!g->genotypes.are_given)
        return;
    options->genotypes = &g->options;
    genotypes_to_source(&g->genotypes, options);
}

/* ---- messages ---------------------------------------------------------- */

/* The variants of the model in a state, with the names of the first ones. */
typedef struct state_list {
    int64_t count;
    char names[300];
} state_list;

static void add_to_list(state_list *list, const char *name)
{
    enum { NAMED = 5 };
    const size_t used = strlen(list->names);
    list->count++;
    if (list->count <= NAMED)
        snprintf(list->names + used, sizeof list->names - used, "%s%.40s", used ? ", " : "", name);
    else if (list->count == NAMED + 1)
        snprintf(list->names + used, sizeof list->names - used, ", ...");
}

void predict_genotypes_print(const predict_genotypes *g, const roofs_result *model)
{
    state_list absent = {0}, other = {0}, swapped = {0};
    int64_t all = 0;
    for (int64_t k = 0; g->absent_value && k < model->selected; k++) {
        const fitted_variant *v = variant_of(g, &model->features[k]);
        if (!v)
            continue;
        all++;
        if (v->state == VARIANT_ABSENT)
            add_to_list(&absent, v->name);
        else if (v->state == VARIANT_OTHER)
            add_to_list(&other, v->name);
        else if (v->is_swapped)
            add_to_list(&swapped, v->name);
    }
    if (swapped.count > 0)
        complain("predict",
                 "%s of the %s variants of the model have A1 and A2 exchanged in the "
                 "files; they are counted as in the fit: %s",
                 text_of_count(swapped.count).text, text_of_count(all).text, swapped.names);
    if (absent.count > 0)
        complain("predict",
                 "%s of the %s variants of the model are not in the files; their mean in "
                 "the fit is used: %s",
                 text_of_count(absent.count).text, text_of_count(all).text, absent.names);
    if (other.count > 0)
        complain("predict",
                 "%s of the %s variants of the model have other alleles in the files "
                 "(the other strand?); their mean in the fit is used: %s",
                 text_of_count(other.count).text, text_of_count(all).text, other.names);
}
