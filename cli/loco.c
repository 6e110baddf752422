#include "cli/loco.h"

#include "base/memory.h"

#include <string.h>

void loco_free(loco *l)
{
    names_free(&l->chromosomes);
    memory_free(l->chromosome);
    *l = (loco){0};
}

static roofs_status find_chromosome(loco *l, const char *text, int64_t *place, roofs_error *err)
{
    char normal[CHROMOSOME_MOST];
    chromosome_normal(text, normal);
    for (*place = 0; *place < l->chromosomes.count; ++*place)
        if (strcmp(names_get(&l->chromosomes, *place), normal) == 0)
            return ROOFS_OK;
    return names_add(&l->chromosomes, normal, (int64_t)strlen(normal), err);
}

roofs_status loco_begin(loco *l, const roofs_result *model, const variant_list *variants,
                        roofs_error *err)
{
    enum { LAST = 23 }; /* X */
    if (variants->count == 0)
        return fail(err, ROOFS_BAD_DATA,
                    "--loco needs a model of genotypes: its features have no chromosomes");
    for (int k = 1; k <= LAST; k++) {
        char number[8];
        const int length = snprintf(number, sizeof number, "%d", k);
        TRY(names_add(&l->chromosomes, number, length, err));
    }
    TRY(memory_get(&l->chromosome, model->selected, sizeof *l->chromosome, "chromosomes", err));
    for (int64_t k = 0; k < model->selected; k++) {
        const char *name = model->features[k].name;
        const fitted_variant *v = name ? variant_list_find(variants, name) : NULL;
        l->chromosome[k] = -1;
        if (v)
            TRY(find_chromosome(l, v->variant.chromosome, &l->chromosome[k], err));
    }
    return ROOFS_OK;
}

void loco_write(const loco *l, FILE *file, const names *ids, int64_t n, const double *rows)
{
    fputs("FID_IID", file);
    for (int64_t i = 0; i < n; i++) {
        putc(' ', file);
        for (const char *c = names_get(ids, i); *c; c++)
            putc(*c == ' ' ? '_' : *c, file);
    }
    for (int64_t c = 0; c < l->chromosomes.count; c++) {
        fprintf(file, "\n%s", names_get(&l->chromosomes, c));
        for (int64_t i = 0; i < n; i++)
            fprintf(file, " %.10g", rows[c * n + i]);
    }
    putc('\n', file);
}
