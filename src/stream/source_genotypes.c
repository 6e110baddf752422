/* What a stream has of its files of genotypes: IDs of variants, counts, and features before them.
 */
#include "base/memory.h"
#include "stream/bed.h"
#include "stream/bim.h"
#include "stream/source_state.h"

#include <string.h>

/* The names of variants depend on the IDs in the files before, too. */
static roofs_status add_earlier(source *s, roofs_error *err)
{
    for (int64_t k = 0; k < s->options.earlier_count; k++) {
        reader *r = NULL;
        levels no_ids = {0};
        const format_hints hints = {.files = s->options.earlier_count,
                                    .file = k,
                                    .genotypes = s->options.genotypes,
                                    .variant_ids = s->variant_ids,
                                    .format = s->options.format,
                                    .ids = &no_ids};
        roofs_status status = path_is_bed(s->options.earlier[k])
                                  ? reader_open(&r, s->options.earlier[k], &hints, err)
                                  : ROOFS_OK;
        reader_close(r);
        levels_free(&no_ids);
        TRY(status);
    }
    return ROOFS_OK;
}

roofs_status source_begin_genotypes(source *s, roofs_error *err)
{
    if (s->options.lead)
        s->named = 1;
    TRY(memory_get(&s->variant_ids, 1, sizeof *s->variant_ids, "the IDs of variants", err));
    return add_earlier(s, err);
}

void source_end_genotypes(source *s)
{
    if (s->variant_ids)
        variant_ids_free(s->variant_ids);
    memory_free(s->variant_ids);
}

genotype_counts source_genotype_counts(const source *s)
{
    return s->genotypes;
}

roofs_status source_check_chromosomes(const source *s, roofs_error *err)
{
    const genotype_options *o = s->options.genotypes;
    int64_t variants = 0;
    for (int64_t k = 0; k < s->file_count; k++)
        variants += s->files[k].features != 0; /* -1: some, before other filters */
    if (!o || !o->filters || !o->chromosomes || variants > 0)
        return ROOFS_OK;
    return fail(err, ROOFS_BAD_DATA, "%s: --chr %.80s leaves no variant", s->files[0].path,
                o->chromosomes);
}

roofs_status source_describe_variants(const source *s, const levels *wanted, json_t *out,
                                      roofs_error *err)
{
    for (int64_t k = 0; k < s->file_count; k++) {
        genotype_counts nowhere = {0};
        reader *r = NULL;
        roofs_status status = ROOFS_OK;
        if (!path_is_bed(s->files[k].path))
            continue;
        status = source_open_reader(s, k, &nowhere, &r, err);
        if (status == ROOFS_OK)
            status = bed_describe(r, wanted, out, err);
        reader_close(r);
        TRY(status);
    }
    return ROOFS_OK;
}

roofs_status source_add_levels(source *s, const reader *r, int64_t before, int64_t count,
                               roofs_error *err)
{
    block_buffer *b = s->block;
    TRY(memory_grow_raw(&b->levels, &b->level_capacity, 4 * (before + count), sizeof *b->levels,
                        "a block of features", err));
    if (count > 0)
        memcpy(b->levels + 4 * before, r->levels, (size_t)(4 * count) * sizeof *b->levels);
    return ROOFS_OK;
}

/* ---- features before the files ----------------------------------------- */

static int64_t lead_left(const source *s)
{
    return s->options.lead ? s->options.lead->count - s->lead_at : 0;
}

roofs_status source_next_lead(source *s, int64_t most, roofs_block *block, int *given,
                              roofs_error *err)
{
    const source_lead *lead = s->options.lead;
    const int64_t left = lead_left(s), count = most < left ? most : left;
    *given = count > 0;
    if (!*given)
        return ROOFS_OK;
    if (!s->block || s->keeps_last)
        s->block = s->block == s->buffers ? s->buffers + 1 : s->buffers;
    block_buffer *r = s->block;
    TRY(memory_grow(&r->name_views, &r->view_capacity, count, sizeof *r->name_views,
                    "feature names", err));
    for (int64_t k = 0; k < count; k++)
        r->name_views[k] = names_get(lead->names, s->lead_at + k);
    *block = (roofs_block){.struct_size = sizeof *block,
                           .count = count,
                           .n = source_own_samples(s),
                           .dtype = ROOFS_F64,
                           .values = lead->values + s->lead_at * s->n + source_first_sample(s),
                           .feature_stride = s->n,
                           .sample_stride = 1,
                           .names = r->name_views};
    s->lead_at += count;
    s->position += count;
    return ROOFS_OK;
}

int64_t source_skip_lead(source *s, int64_t count)
{
    const int64_t left = lead_left(s), skipped = count < left ? count : left;
    s->lead_at += skipped;
    s->position += skipped;
    return skipped;
}
