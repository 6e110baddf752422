#include "cli/checkpoint.h"

#include "base/memory.h"
#include "base/output.h"
#include "cli/folder.h"
#include "cli/shards.h"
#include "stream/format.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static const char *const RECORD = "stream"; /* the section of the record */

/* ---- the record -------------------------------------------------------- */

/* Stores the format by name: its number may differ in another build. */
static void format_transfer(input_args *in, archive *a)
{
    const char *name = in->format > 0 ? format_name(in->format - 1) : NULL;
    archive_text(a, &name);
    if (!a->loading || !name)
        return;
    while (input_format_name(in->format) && strcmp(input_format_name(in->format), name) != 0)
        in->format++;
    if (!input_format_name(in->format))
        a->status = fail(a->err, ROOFS_BAD_DATA,
                         "the files have format '%s', which this build of roofs cannot read", name);
}

/* Copies a loaded text to *own: the archive is freed. */
static void text_transfer(const char **text, char **own, archive *a)
{
    archive_text(a, text);
    if (!a->loading || !*text || a->status != ROOFS_OK)
        return;
    a->status = memory_copy_text(own, *text, a->err);
    *text = *own;
}

static void options_transfer(checkpoint *c, archive *a)
{
    archive_i64(a, &c->in.orient, 0, ORIENT_SAMPLES);
    archive_i64(a, &c->in.base, 0, INDEX_FROM_1);
    archive_i64(a, &c->in.missing, 0, MISSING_INDICATOR);
    format_transfer(&c->in, a);
    text_transfer(&c->in.names, &c->names, a);
    text_transfer(&c->in.dataset, &c->dataset, a);
}

static void kind_transfer(source_kind *k, archive *a)
{
    int narrow = k->dtype == ROOFS_F32;
    archive_int(a, &k->sparse, 0, 1);
    archive_int(a, &narrow, 0, 1);
    archive_int(a, &k->named, 0, 1);
    k->dtype = narrow ? ROOFS_F32 : ROOFS_F64;
}

/* Versions before 0.3.0 end the record before these. */
static void later_options_transfer(input_args *in, archive *a)
{
    if (a->loading && a->at == a->size)
        return;
    archive_i64(a, &in->header, 0, HEADER_NO);
    archive_int(a, &in->external, 0, 1);
    archive_i64(a, &in->expected.features, 0, INT64_MAX);
    archive_i64(a, &in->expected.samples, 0, INT64_MAX);
    archive_i64(a, &in->expected.values, 0, INT64_MAX);
}

/* Checkpoints without tables end the record before these. */
static void tables_transfer(checkpoint *c, archive *a)
{
    table_options *t = &c->in.table;
    const char **texts[] = {&t->response, &t->id, &t->columns, &t->drop, &t->categories};
    const char *recipes = c->recipes;
    if (a->loading && a->at == a->size)
        return;
    for (size_t k = 0; k < sizeof texts / sizeof *texts; k++)
        text_transfer(texts[k], &c->lists[k], a);
    archive_int(a, &c->in.reads_tables, 0, 1);
    archive_i64(a, &t->max_levels, 0, ARCHIVE_MOST);
    archive_i64(a, &t->date_parts, 0, 1);
    archive_i64(a, &t->order, 0, DATE_ORDER_MDY);
    archive_int(a, &t->thousands, 0, 1);
    archive_int(a, &t->decimal_comma, 0, 1);
    archive_i64(a, &t->drop_missing_response, 0, 1);
    text_transfer(&recipes, &c->recipes, a);
}

/* Checkpoints of fits without these and all that follows end the record before them. */
static void extras_transfer(checkpoint *c, archive *a)
{
    table_options *t = &c->in.table;
    const char **texts[] = {&t->special[SPECIAL_WEIGHTS], &t->special[SPECIAL_OFFSET], &t->always,
                            &c->offset};
    const size_t count = sizeof texts / sizeof *texts;
    int is_used = a->loading ? a->at < a->size : c->people != 0;
    for (size_t k = 0; k < count && !a->loading; k++)
        is_used |= *texts[k] != NULL;
    for (size_t k = 0; k < count && is_used; k++)
        text_transfer(texts[k], &c->lists[CHECKPOINT_LISTS - count + k], a);
}

/* Checkpoints without genotypes end the record before these. */
static void genotypes_transfer(checkpoint *c, archive *a)
{
    genotype_options *o = &c->in.genotypes;
    const char **texts[CHECKPOINT_GENOTYPES] = {
        &o->bim,         &o->fam,          &o->keep,       &o->remove,
        &o->chromosomes, &o->pheno,        &o->pheno_name, &o->covar,
        &o->covar_name,  &o->missing_code, &o->y};
    int64_t counts[GENOTYPE_COUNTS];
    if (a->loading ? a->at == a->size : c->people == 0)
        return;
    for (int k = 0; k < CHECKPOINT_GENOTYPES; k++)
        text_transfer(texts[k], &c->genotype_texts[k], a);
    archive_f64(a, &o->least_maf);
    archive_f64(a, &o->most_missing);
    archive_bytes(a, &c->people, sizeof c->people);
    memcpy(counts, &c->genotypes, sizeof counts);
    for (int k = 0; k < GENOTYPE_COUNTS; k++)
        archive_i64(a, &counts[k], 0, ARCHIVE_MOST);
    memcpy(&c->genotypes, counts, sizeof counts);
    c->in.reads_genotypes = o->filters = 1;
}

static void record_transfer(checkpoint *c, archive *a)
{
    archive_i64(a, &c->every, 1, ARCHIVE_MOST);
    options_transfer(c, a);
    kind_transfer(&c->kind, a);
    archive_int(a, &c->narrowed, 0, 1);
    archive_i64(a, &c->missing.values, 0, ARCHIVE_MOST);
    archive_i64(a, &c->missing.features, 0, ARCHIVE_MOST);
    ledger_transfer(&c->read, a);
    later_options_transfer(&c->in, a);
    tables_transfer(c, a);
    extras_transfer(c, a);
    genotypes_transfer(c, a);
}

roofs_status checkpoint_record(checkpoint *c, const source *s, const input_args *in,
                               roofs_error *err)
{
    c->recorded = 1;
    c->in = *in;
    c->kind = source_kind_of(s);
    for (int64_t k = 0; source_file_at(s, k); k++)
        TRY(ledger_append(&c->read, source_file_at(s, k), err));
    return ROOFS_OK;
}

/* ---- opening and closing ----------------------------------------------- */

roofs_status checkpoint_open(checkpoint *c, const char *path, roofs_error *err)
{
    c->path = path;
    if (!comm_is_alone(c->comm))
        return shards_open(c, path, err);
    return checkpoint_claim(c, path, err);
}

roofs_status checkpoint_claim(checkpoint *c, const char *path, roofs_error *err)
{
    TRY(lock_acquire(&c->lock, path, err));
    return check_writable(path, err);
}

void checkpoint_close(checkpoint *c)
{
    lock_release(&c->lock);
    ledger_free(&c->read);
    memory_free(c->names);
    for (int k = 0; k < CHECKPOINT_LISTS; k++)
        memory_free(c->lists[k]);
    for (int k = 0; k < CHECKPOINT_GENOTYPES; k++)
        memory_free(c->genotype_texts[k]);
    memory_free(c->recipes);
    memory_free(c->dataset);
    *c = (checkpoint){0};
}

/* ---- writing ----------------------------------------------------------- */

int checkpoint_write_bytes(void *file, const void *from, size_t size)
{
    return fwrite(from, 1, size, file) != size;
}

static roofs_status write_record_and_fit(checkpoint *c, roofs_estimator *e, FILE *file,
                                         roofs_error *err)
{
    archive a = {0};
    archive_begin_saving(&a, err);
    record_transfer(c, &a);
    roofs_status status = archive_end(&a);
    if (status == ROOFS_OK)
        status = roofs_save_with(e, RECORD, a.bytes, a.size, checkpoint_write_bytes, file, err);
    archive_free(&a);
    return status;
}

/* The lock of the checkpoint goes on with the new file, which is locked before it has its name. */
static roofs_status commit_locked(checkpoint *c, output *out, int is_locked, roofs_error *err)
{
    int fd = is_locked ? output_hold(out) : -1;
    roofs_status status = output_commit(out, err);
    if (status == ROOFS_OK)
        lock_move(&c->lock, fd);
    else if (fd >= 0)
        close(fd);
    return status;
}

roofs_status checkpoint_write_file(checkpoint *c, roofs_estimator *e, const char *path,
                                   roofs_error *err)
{
    output out;
    const int is_shard = path != c->path;
    const output_kind kind = {.like = is_shard ? c->path : NULL};
    TRY(output_open_as(&out, path, &kind, err));
    errno = 0;
    roofs_status status = write_record_and_fit(c, e, out.file, err);
    int reason = errno;
    if (status == ROOFS_OK)
        return commit_locked(c, &out, !is_shard, err);
    output_abandon(&out);
    if (status == ROOFS_IO)
        fail(err, status, "%s: cannot be written: %s", path,
             reason ? strerror(reason) : "the disk may be full");
    return status;
}

roofs_status checkpoint_write(checkpoint *c, roofs_estimator *e, roofs_error *err)
{
    c->waited = 0;
    if (!comm_is_alone(c->comm))
        return shards_write(c, e, err);
    TRY(checkpoint_write_file(c, e, c->path, err));
    shards_remove(c);
    return ROOFS_OK;
}

/* ---- reading ----------------------------------------------------------- */

int64_t checkpoint_read_bytes(void *file, void *to, size_t size)
{
    size_t got = fread(to, 1, size, file);
    return got == 0 && ferror((FILE *)file) ? -1 : (int64_t)got;
}

roofs_status checkpoint_first_section(FILE *file, char name[SECTION_NAME + 1], archive *a,
                                      roofs_error *err)
{
    section_source from = {.read = checkpoint_read_bytes, .user = file};
    TRY(section_read_head(&from, err));
    return section_next(&from, name, a, err);
}

/* A fit that another program saved has no record. */
static roofs_status load_record(checkpoint *c, FILE *file, archive *a, roofs_error *err)
{
    char name[SECTION_NAME + 1];
    TRY(checkpoint_first_section(file, name, a, err));
    if (strcmp(name, RECORD) != 0)
        return ROOFS_OK;
    record_transfer(c, a);
    c->recorded = 1;
    return archive_end(a);
}

roofs_status checkpoint_read_record(checkpoint *c, FILE *file, roofs_error *err)
{
    archive a = {0};
    roofs_status status = load_record(c, file, &a, err);
    archive_free(&a);
    if (status == ROOFS_OK && fseek(file, 0, SEEK_SET) != 0)
        status = fail(err, ROOFS_IO, "%s", strerror(errno));
    return status;
}

static roofs_status read_record_and_fit(checkpoint *c, FILE *file, const roofs_settings *execution,
                                        roofs_estimator **e, roofs_error *err)
{
    TRY(checkpoint_read_record(c, file, err));
    TRY(roofs_load(e, checkpoint_read_bytes, file, execution, err));
    if (getc(file) == EOF)
        return ROOFS_OK;
    return fail(err, ROOFS_BAD_DATA, "the checkpoint is damaged: data follow its end");
}

roofs_status checkpoint_read(checkpoint *c, const char *path, const roofs_settings *execution,
                             roofs_estimator **e, roofs_error *err)
{
    *e = NULL;
    if (comm_is_alone(c->comm))
        TRY(shards_find(path, &c->shards, &c->stamp, err));
    if (c->shards > 0)
        return shards_read(c, path, execution, e, err);
    if (!comm_is_alone(c->comm))
        return fail(err, ROOFS_BAD_DATA,
                    "%s was written by one process and cannot be resumed with %lld ranks; use "
                    "'roofs resume'",
                    path, (long long)c->comm->with.size);
    FILE *file = fopen(path, "rb");
    if (!file)
        return fail(err, ROOFS_IO, "%s: cannot be read: %s", path, strerror(errno));
    roofs_status status = read_record_and_fit(c, file, execution, e, err);
    fclose(file);
    if (status != ROOFS_OK) {
        roofs_destroy(*e);
        *e = NULL;
    }
    return error_in_file(path, status, err);
}

int is_checkpoint(const char *path)
{
    unsigned char start[16];
    struct stat info;
    if (stat(path, &info) != 0 || !S_ISREG(info.st_mode))
        return 0;
    FILE *file = fopen(path, "rb");
    int found = file && section_recognises(start, fread(start, 1, sizeof start, file));
    if (file)
        fclose(file);
    return found;
}
