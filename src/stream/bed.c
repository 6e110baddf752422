/* Genotypes: .bed files of PLINK 1, with .bim (variants) and .fam (people) beside them. A variant
 * is a feature: the copies of allele A1, 0 to 2. A missing value is the mean of the others. */
#include "stream/bed.h"

#include "base/memory.h"
#include "base/number.h"
#include "stream/bim.h"
#include "stream/people.h"
#include "stream/two_bit.h"
#include "stream/variants.h"

#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

enum { MAGIC = 3 };
static const unsigned char magic[MAGIC] = {0x6c, 0x1b, 1};

typedef struct bed {
    reader base;
    bim variants;
    int64_t people;          /* in the file */
    int64_t stored;          /* bytes of a variant in the file */
    int64_t *chosen;         /* the variants that are read; NULL = all */
    fitted_variant **fitted; /* of each chosen variant; NULL = no model is given */
    int64_t count;           /* variants that are read, before filters */
    int64_t at;              /* the next of them */
    int64_t row_at;          /* of a compressed file: the next row */
    two_bit_run *runs;       /* where the samples are in a row; NULL = all, in their order */
    int64_t run_count, run_capacity;
    unsigned char *row, *samples, *shard; /* the file's, the stream's, the rank's; padded */
    double *level;                        /* four for each variant of the last read */
    int64_t level_capacity;
} bed;

void genotype_levels(const int64_t counts[4], double level[4])
{
    const int64_t present = counts[0] + counts[2] + counts[3];
    level[0] = 2;
    level[1] = present > 0 ? (double)(2 * counts[0] + counts[2]) / (double)present : 0;
    level[2] = 1;
    level[3] = 0;
}

/* ---- opening ----------------------------------------------------------- */

static int bed_recognises(const unsigned char *start, int64_t length)
{
    return length >= MAGIC && start[0] == magic[0] && start[1] == magic[1] && start[2] <= 1;
}

int path_is_bed(const char *path)
{
    unsigned char start[MAGIC] = {0};
    char *plain = NULL;
    struct stat info;
    roofs_error err;
    if (path_beside(path, "", &plain, &err) != ROOFS_OK)
        return 0;
    const size_t length = strlen(plain);
    memory_free(plain);
    if (strncmp(path + length, ".bed", 4) == 0)
        return 1;
    const int is_file = strcmp(path, "-") != 0 && stat(path, &info) == 0 && S_ISREG(info.st_mode);
    FILE *file = is_file ? fopen(path, "rb") : NULL;
    const int64_t got = file ? (int64_t)fread(start, 1, MAGIC, file) : 0;
    if (file)
        fclose(file);
    return bed_recognises(start, got);
}

static roofs_status check_magic(const bed *b, roofs_error *err)
{
    unsigned char start[MAGIC] = {0};
    const char *name = bytes_name(b->base.input);
    int64_t got;
    TRY(bytes_read(b->base.input, start, MAGIC, &got, err));
    if (got == MAGIC && memcmp(start, magic, MAGIC) == 0)
        return ROOFS_OK;
    if (got == MAGIC && bed_recognises(start, got))
        return fail(err, ROOFS_BAD_DATA,
                    "%s stores one person after the other (sample-major); convert it with 'plink2 "
                    "--bfile OLD --make-bed --out NEW'",
                    name);
    return fail(
        err, ROOFS_BAD_DATA,
        "%s is no file of genotypes: it begins with the bytes %02x %02x %02x, not with 6c 1b "
        "01 (a BED file of genome intervals has no genotypes)",
        name, start[0], start[1], start[2]);
}

static roofs_status read_variants(bed *b, roofs_error *err)
{
    const format_hints *h = &b->base.hints;
    char *beside = NULL;
    const char *given = h->genotypes ? h->genotypes->bim : NULL;
    if (given && h->files > 1)
        return fail(
            err, ROOFS_BAD_DATA,
            "--bim is for one .bed file, but %lld files are given; name the .bim files like "
            "the .bed files",
            (long long)h->files);
    if (!given)
        TRY(path_beside(bytes_name(b->base.input), ".bim", &beside, err));
    roofs_status status = bim_read(&b->variants, given ? given : beside, err);
    memory_free(beside);
    if (status == ROOFS_OK && h->variant_ids)
        status = variant_ids_add(h->variant_ids, h->file, &b->variants, err);
    return status;
}

static roofs_status check_size(const bed *b, roofs_error *err)
{
    const int64_t size = bytes_plain_size(b->base.input);
    const int64_t needed = memory_sum(memory_bytes(b->variants.count, b->stored), MAGIC);
    if (size < 0 || size == needed)
        return ROOFS_OK;
    return fail(err, ROOFS_BAD_DATA,
                "%s has %lld bytes, but %lld variants (.bim) of %lld people (.fam) take %lld: the "
                "three files do not belong together, or one of them is not complete",
                bytes_name(b->base.input), (long long)size, (long long)b->variants.count,
                (long long)b->people, (long long)needed);
}

/* ---- people ------------------------------------------------------------ */

static roofs_status add_place(bed *b, int64_t place, roofs_error *err)
{
    two_bit_run *last = b->run_count > 0 ? &b->runs[b->run_count - 1] : NULL;
    if (last && last->first + last->count == place) {
        last->count++;
        return ROOFS_OK;
    }
    TRY(memory_grow(&b->runs, &b->run_capacity, b->run_count + 1, sizeof *b->runs, "people", err));
    b->runs[b->run_count++] = (two_bit_run){place, 1};
    return ROOFS_OK;
}

/* The people of the first file are the samples. */
static roofs_status adopt_people(bed *b, const fam *f, roofs_error *err)
{
    levels *ids = b->base.hints.ids;
    unsigned char *is_in;
    TRY(memory_get(&is_in, b->people, 1, "people", err));
    roofs_status status = people_filter(f, b->base.hints.genotypes, is_in, NULL, err);
    for (int64_t k = 0; k < b->people && status == ROOFS_OK; k++)
        if (is_in[k]) {
            status = add_place(b, k, err);
            if (status == ROOFS_OK && ids)
                status = levels_add(ids, fam_id(f, k), (int64_t)strlen(fam_id(f, k)), err);
            b->base.n++;
        }
    memory_free(is_in);
    if (status == ROOFS_OK && b->base.n == 0)
        status = fail(err, ROOFS_BAD_DATA, "%s: --keep and --remove leave no person",
                      bytes_name(b->base.input));
    return status;
}

/* Finds the samples among the people of a file. */
static roofs_status match_people(bed *b, const fam *f, roofs_error *err)
{
    const levels *ids = b->base.hints.ids;
    b->base.n = ids->words.count;
    for (int64_t i = 0; i < b->base.n; i++) {
        const char *id = names_get(&ids->words, i);
        const int64_t place = levels_find(&f->ids, id, (int64_t)strlen(id));
        if (place < 0)
            return fail(err, ROOFS_BAD_DATA,
                        "%s: its .fam file does not have the person \"%.80s\" (FID IID), who is in "
                        "the files before it; leave people out who are not in all files, with "
                        "--keep or --remove",
                        bytes_name(b->base.input), id);
        TRY(add_place(b, place, err));
    }
    return ROOFS_OK;
}

static roofs_status find_people(bed *b, roofs_error *err)
{
    const levels *ids = b->base.hints.ids;
    fam f = {0};
    char *path = NULL;
    TRY(people_fam_path(bytes_name(b->base.input), b->base.hints.genotypes, &path, err));
    roofs_status status = fam_read(&f, path, err);
    memory_free(path);
    b->people = f.ids.words.count;
    b->stored = two_bit_bytes(b->people);
    b->base.n = 0;
    if (status == ROOFS_OK)
        status = ids && ids->words.count > 0 ? match_people(b, &f, err) : adopt_people(b, &f, err);
    fam_free(&f);
    if (status == ROOFS_OK && b->run_count == 1 && b->runs[0].count == b->people) {
        memory_free(b->runs);
        b->runs = NULL;
        b->run_count = 0;
    }
    return status;
}

/* ---- variants ---------------------------------------------------------- */

/* The number of a chromosome; 0 if its name is no number. */
static double chromosome_number(const char *text)
{
    char normal[CHROMOSOME_MOST];
    double number;
    chromosome_normal(text, normal);
    return number_read(normal, normal + strlen(normal), &number) == NUMBER_FINE ? number : 0;
}

/* An item is a chromosome or a range, such as 1-22. Changes the text of the item. */
static int in_item(const char *chromosome, char *item)
{
    char own[CHROMOSOME_MOST], normal[CHROMOSOME_MOST];
    chromosome_normal(chromosome, own);
    chromosome_normal(item, normal);
    if (strcmp(own, normal) == 0)
        return 1;
    char *dash = strchr(item, '-');
    if (!dash)
        return 0;
    *dash = '\0';
    const double number = chromosome_number(own), low = chromosome_number(item);
    return number > 0 && low > 0 && number >= low && number <= chromosome_number(dash + 1);
}

static int in_list(const char *chromosome, const char *list)
{
    while (*list) {
        char item[2 * CHROMOSOME_MOST];
        const size_t length = strcspn(list, ", ");
        snprintf(item, sizeof item, "%.*s", (int)(length < sizeof item ? length : sizeof item - 1),
                 list);
        if (in_item(chromosome, item))
            return 1;
        list += length + strspn(list + length, ", ");
    }
    return 0;
}

/* True if variant k is read; *fitted is its item of a model. */
static int is_chosen(const bed *b, int64_t k, fitted_variant **fitted)
{
    const genotype_options *o = b->base.hints.genotypes;
    const variant v = bim_variant(&b->variants, k);
    if (o->fitted) {
        *fitted = variant_list_match(o->fitted, v, b->base.hints.file, k);
        return *fitted != NULL;
    }
    return in_list(v.chromosome, o->chromosomes);
}

static roofs_status choose_variants(bed *b, roofs_error *err)
{
    const genotype_options *o = b->base.hints.genotypes;
    b->count = b->variants.count;
    if (!o || (!o->fitted && !(o->filters && o->chromosomes)))
        return ROOFS_OK;
    TRY(memory_get(&b->chosen, b->variants.count, sizeof *b->chosen, "variants", err));
    if (o->fitted)
        TRY(memory_get(&b->fitted, b->variants.count, sizeof(void *), "variants", err));
    b->count = 0;
    for (int64_t k = 0; k < b->variants.count; k++) {
        fitted_variant *fitted = NULL;
        if (!is_chosen(b, k, &fitted))
            continue;
        if (b->fitted)
            b->fitted[b->count] = fitted;
        b->chosen[b->count++] = k;
    }
    return ROOFS_OK;
}

static int filters_values(const bed *b)
{
    const genotype_options *o = b->base.hints.genotypes;
    return o && o->filters && !o->fitted && (o->least_maf > 0 || o->most_missing < 1);
}

static roofs_status bed_open(reader *r, roofs_error *err)
{
    bed *b = (bed *)r;
    TRY(check_magic(b, err));
    TRY(find_people(b, err));
    TRY(read_variants(b, err));
    TRY(check_size(b, err));
    TRY(choose_variants(b, err));
    r->features = filters_values(b) && b->count > 0 ? -1 : b->count;
    r->dtype = r->hints.unpacked ? ROOFS_F64 : ROOFS_2BIT;
    r->named = 1;
    r->reads_shard = 1;
    return ROOFS_OK;
}

static void bed_close(reader *r)
{
    bed *b = (bed *)r;
    bim_free(&b->variants);
    memory_free(b->chosen);
    memory_free((void *)b->fitted);
    memory_free(b->runs);
    memory_free(b->row);
    memory_free(b->samples);
    memory_free(b->shard);
    memory_free(b->level);
}

/* ---- reading ----------------------------------------------------------- */

static roofs_status reserve_row(unsigned char **row, int64_t n, roofs_error *err)
{
    return memory_get(row, two_bit_bytes(n) + TWO_BIT_PADDING, 1, "a variant", err);
}

static genotype_counts *counts_of(const bed *b, genotype_counts *nowhere)
{
    *nowhere = (genotype_counts){0};
    return b->base.hints.genotype_counts ? b->base.hints.genotype_counts : nowhere;
}

static roofs_status bed_load(reader *r, roofs_error *err)
{
    bed *b = (bed *)r;
    genotype_counts nowhere, *counts = counts_of(b, &nowhere);
    const variant_ids none = {0};
    TRY(bim_name_variants(&b->variants, r->hints.variant_ids ? r->hints.variant_ids : &none, err));
    TRY(reserve_row(&b->row, b->people, err));
    TRY(reserve_row(&b->samples, r->n, err));
    TRY(reserve_row(&b->shard, reader_own_samples(r), err));
    counts->variants += b->variants.count;
    counts->renamed += b->variants.renamed;
    counts->by_chromosome += b->fitted ? 0 : b->variants.count - b->count;
    return ROOFS_OK;
}

/* The bits behind the last person are 0. Otherwise the .fam file probably lacks a person, and the
 * values would be those of others. */
static roofs_status check_rest(const bed *b, int64_t k, roofs_error *err)
{
    if (b->people % 4 == 0 || b->row[b->stored - 1] >> 2 * (b->people % 4) == 0)
        return ROOFS_OK;
    return fail(err, ROOFS_BAD_DATA,
                "%s: variant %lld has values behind the last of the %lld people of the .fam file: "
                "that file is not complete, or belongs to another .bed file",
                bytes_name(b->base.input), (long long)k + 1, (long long)b->people);
}

/* Reads variant k of the file into b->row. A compressed file is read in its order. */
static roofs_status read_row(bed *b, int64_t k, roofs_error *err)
{
    bytes *input = b->base.input;
    int64_t got;
    if (bytes_plain_size(input) >= 0) {
        TRY(bytes_read_at(input, MAGIC + k * b->stored, b->row, b->stored, err));
        return check_rest(b, k, err);
    }
    TRY(bytes_skip(input, (k - b->row_at) * b->stored, err));
    b->row_at = k + 1;
    TRY(bytes_read(input, b->row, b->stored, &got, err));
    if (got == b->stored)
        return check_rest(b, k, err);
    return fail(err, ROOFS_BAD_DATA,
                "%s is not complete: it ends in variant %lld of %lld; do the .bim and .fam files "
                "belong to it?",
                bytes_name(input), (long long)k + 1, (long long)b->variants.count);
}

/* Counts the codes of a variant among all samples; *codes are those of the samples. */
static roofs_status read_codes(bed *b, int64_t k, const unsigned char **codes, int64_t counts[4],
                               roofs_error *err)
{
    TRY(read_row(b, k, err));
    *codes = b->row;
    if (b->runs) {
        two_bit_copy(b->row, b->runs, b->run_count, b->samples);
        *codes = b->samples;
    }
    two_bit_count(*codes, b->base.n, counts);
    return ROOFS_OK;
}

/* Applies --maf and --geno, and counts what they leave out. */
static int passes_filters(const bed *b, const int64_t counts[4], genotype_counts *all)
{
    const genotype_options *o = b->base.hints.genotypes;
    const int64_t missing = counts[1], present = b->base.n - missing;
    const int64_t copies = 2 * counts[0] + counts[2], others = 2 * present - copies;
    const int64_t rarer = copies < others ? copies : others;
    if ((double)missing > o->most_missing * (double)b->base.n) {
        all->by_missing++;
        return 0;
    }
    if ((double)rarer < o->least_maf * 2 * (double)present || present == 0) {
        all->by_maf++;
        return 0;
    }
    return 1;
}

static void count_variant(bed *b, const int64_t counts[4], genotype_counts *all)
{
    const int64_t present = b->base.n - counts[1];
    all->constant += counts[0] == present || counts[2] == present || counts[3] == present;
    all->empty += present == 0;
    b->base.missing.values += counts[1];
    b->base.missing.features += counts[1] > 0;
}

/* A variant that was read. */
typedef struct genotype {
    int64_t place;              /* among the chosen variants; -1 = there are no more */
    const unsigned char *codes; /* of all samples */
    double level[4];
} genotype;

static void find_levels(const bed *b, const int64_t counts[4], genotype *g)
{
    genotype_levels(counts, g->level);
    const fitted_variant *fitted = b->fitted ? b->fitted[g->place] : NULL;
    if (!fitted)
        return;
    g->level[1] = fitted->mean;
    if (fitted->is_swapped) {
        g->level[0] = 0;
        g->level[3] = 2;
    }
}

/* The next variant that passes the filters. */
static roofs_status next_variant(bed *b, genotype *g, roofs_error *err)
{
    genotype_counts nowhere, *all = counts_of(b, &nowhere);
    int64_t counts[4];
    g->place = -1;
    while (g->place < 0 && b->at < b->count) {
        const int64_t place = b->at++;
        TRY(read_codes(b, b->chosen ? b->chosen[place] : place, &g->codes, counts, err));
        if (filters_values(b) && !passes_filters(b, counts, all))
            continue;
        g->place = place;
        count_variant(b, counts, all);
        find_levels(b, counts, g);
    }
    return ROOFS_OK;
}

static roofs_status add_name(bed *b, int64_t place, roofs_error *err)
{
    if (!b->fitted)
        return bim_add_name(&b->variants, b->chosen ? b->chosen[place] : place, &b->base.names,
                            err);
    const char *name = b->fitted[place]->name;
    return names_add(&b->base.names, name, (int64_t)strlen(name), err);
}

static roofs_status store_levels(bed *b, int64_t k, const genotype *g, roofs_error *err)
{
    TRY(memory_grow_raw(&b->level, &b->level_capacity, 4 * (k + 1), sizeof *b->level,
                        "a block of features", err));
    memcpy(b->level + 4 * k, g->level, sizeof g->level);
    return ROOFS_OK;
}

static roofs_status bed_read(reader *r, int64_t count, roofs_dtype dtype, void *values,
                             int64_t *got, roofs_error *err)
{
    bed *b = (bed *)r;
    const int64_t own = reader_own_samples(r);
    const two_bit_run shard = {r->shard_first, own};
    genotype g;
    names_clear(&r->names);
    for (*got = 0; *got < count; ++*got) {
        TRY(next_variant(b, &g, err));
        if (g.place < 0)
            break;
        if (r->shard_count > 0) {
            two_bit_copy(g.codes, &shard, 1, b->shard);
            g.codes = b->shard;
        }
        TRY(store_levels(b, *got, &g, err));
        if (dtype == ROOFS_2BIT)
            memcpy((char *)values + *got * two_bit_bytes(own), g.codes, (size_t)two_bit_bytes(own));
        else
            two_bit_decode(g.codes, own, g.level, (double *)values + *got * own);
        TRY(add_name(b, g.place, err));
    }
    r->levels = b->level;
    return ROOFS_OK;
}

static roofs_status bed_skip(reader *r, int64_t count, int64_t *got, roofs_error *err)
{
    bed *b = (bed *)r;
    genotype g;
    *got = 0;
    if (!filters_values(b)) {
        *got = count < b->count - b->at ? count : b->count - b->at;
        b->at += *got;
        return ROOFS_OK;
    }
    TRY(reader_load(r, err));
    for (; *got < count; ++*got) {
        TRY(next_variant(b, &g, err));
        if (g.place < 0)
            break;
    }
    return ROOFS_OK;
}

/* ---- descriptions ------------------------------------------------------ */

static roofs_status describe_variant(bed *b, int64_t k, const char *name, json_t *out,
                                     roofs_error *err)
{
    const unsigned char *codes;
    int64_t counts[4];
    double level[4];
    TRY(read_codes(b, k, &codes, counts, err));
    genotype_levels(counts, level);
    if (json_array_append_new(out, variant_to_json(name, bim_variant(&b->variants, k), level[1])))
        return fail(err, ROOFS_NO_MEMORY, "no memory for variants");
    return ROOFS_OK;
}

extern const file_format format_bed;
roofs_status bed_describe(reader *r, const levels *wanted, json_t *out, roofs_error *err)
{
    bed *b = (bed *)r;
    if (r->format != &format_bed)
        return ROOFS_OK;
    TRY(reader_load(r, err));
    for (int64_t k = 0; k < b->variants.count; k++) {
        names_clear(&r->names);
        TRY(bim_add_name(&b->variants, k, &r->names, err));
        const char *name = names_get(&r->names, 0);
        if (levels_find(wanted, name, (int64_t)strlen(name)) >= 0)
            TRY(describe_variant(b, k, name, out, err));
    }
    return ROOFS_OK;
}

const file_format format_bed = {
    .name = "bed",
    .endings = {".bed"},
    .size = sizeof(bed),
    .recognises = bed_recognises,
    .open = bed_open,
    .load = bed_load,
    .read = bed_read,
    .skip = bed_skip,
    .close = bed_close,
};

/* ---- files that another program must convert --------------------------- */

static roofs_status refuse_open(reader *r, roofs_error *err)
{
    char *prefix = NULL;
    const char *name = bytes_name(r->input);
    const char *dot = strrchr(name, '.');
    TRY(memory_copy_text(&prefix, name, err));
    if (dot && dot > name)
        prefix[dot - name] = '\0';
    fail(err, ROOFS_BAD_DATA,
         "%s is a file of PLINK 2, which roofs does not read; convert it with 'plink2 --pfile "
         "%.200s "
         "--make-bed --out %.200s' and give %.200s.bed",
         name, prefix, prefix, prefix);
    memory_free(prefix);
    return ROOFS_BAD_DATA;
}

static void refuse_close(reader *r)
{
    (void)r;
}

static int pgen_recognises(const unsigned char *start, int64_t length)
{
    return length >= MAGIC && start[0] == magic[0] && start[1] == magic[1] && start[2] > 1 &&
           start[2] <= 0x21;
}

extern const file_format format_pgen;
const file_format format_pgen = {
    .name = "pgen",
    .endings = {".pgen"},
    .size = sizeof(reader),
    .recognises = pgen_recognises,
    .open = refuse_open,
    .close = refuse_close,
};
