/* Saves and loads a running fit. */
#include "api/checkpoint.h"

#include "api/hypotheses.h"
#include "api/settings.h"
#include "base/memory.h"

#include <string.h>

/* ---- transfer ---------------------------------------------------------- */

void estimator_transfer(roofs_estimator *e, archive *a)
{
    archive_int(a, &e->named, -1, 1);
    fit_transfer(e->f, e->m->has_probability, a);
    if (e->m->transfer)
        e->m->transfer(e->state, e->f, a);
}

/* What a checkpoint begins with: all that is needed to build the estimator. */
typedef struct beginning {
    roofs_settings set;
    const double *y;           /* loading: a view into the archive */
    const double *case_weight; /* the same; NULL = none */
    int64_t n;
    hypotheses_list living;
} beginning;

static void samples_transfer(const double **numbers, int64_t n, archive *a)
{
    const int64_t bytes = memory_bytes(n, sizeof **numbers);
    archive_mark(a, ARCHIVE_SAMPLES);
    if (a->loading)
        *numbers = archive_view(a, bytes);
    else
        archive_put(a, *numbers, bytes);
}

/* Version 1 has one hypothesis, see load_begin; versions before 3 have no weights of samples. */
static void begin_transfer(beginning *b, archive *a)
{
    int is_weighted = b->case_weight != NULL;
    settings_transfer(&b->set, a);
    archive_mark(a, ARCHIVE_COUNT);
    archive_count(a, &b->n, INT64_MAX / (int64_t)sizeof *b->y, sizeof *b->y);
    samples_transfer(&b->y, b->n, a);
    if (!a->loading || a->version >= 2)
        hypotheses_transfer(&b->living, a);
    if (a->loading && a->version < 3)
        return;
    archive_int(a, &is_weighted, 0, 1);
    if (is_weighted)
        samples_transfer(&b->case_weight, b->n, a);
}

static void unit_transfer(fit *f, archive *a)
{
    archive_mark(a, ARCHIVE_SAMPLES);
    archive_finite(a, f->y, f->n);
    archive_int(a, &f->y_exponent, -4096, 4096);
    archive_finite(a, &f->y_scale, 1);
}

static void history_transfer(roofs_estimator *e, archive *a)
{
    int64_t batches = e->f->batches;
    archive_count(a, &batches, INT64_MAX, sizeof *e->history);
    if (batches != e->f->batches)
        archive_refuse(a, "the history has a wrong number of batches");
    if (a->loading && a->status == ROOFS_OK)
        a->status = memory_grow(&e->history, &e->history_capacity, batches, sizeof *e->history,
                                "the history", a->err);
    if (a->status == ROOFS_OK)
        archive_bytes(a, e->history, memory_bytes(batches, sizeof *e->history));
}

/* Loading allocates the columns as the first block did. */
static void storage_transfer(roofs_estimator *e, archive *a)
{
    int allocated = e->allocated, dense = e->dense, bits = e->narrow | e->keeps_packed << 1;
    archive_int(a, &allocated, 0, 1);
    archive_int(a, &dense, 0, 1);
    archive_int(a, &bits, 0, 3);
    if (!a->loading || !allocated || a->status != ROOFS_OK)
        return;
    const int64_t storage = e->f->set.storage;
    const storage_kind kind = {.dtype = storage == ROOFS_STORAGE_F32 ? ROOFS_F32 : ROOFS_F64,
                               .keeps_packed = bits >> 1,
                               .narrow = bits & 1,
                               .dense = dense};
    if (storage == ROOFS_STORAGE_AUTO)
        archive_refuse(a, "the type of the stored features is missing");
    else
        a->status = estimator_begin(e, &kind, a->err);
}

static void state_transfer(roofs_estimator *e, archive *a)
{
    unit_transfer(e->f, a);
    storage_transfer(e, a);
    estimator_transfer(e, a);
    if (!e->allocated && e->f->cols.count > 0)
        archive_refuse(a, "it has features before the first block");
    history_transfer(e, a);
    nameset_transfer(&e->names, a);
    if (!a->loading || a->version >= 2)
        archive_i64(a, &e->f->selection, 0, ARCHIVE_MOST);
}

/* ---- saving ------------------------------------------------------------ */

static roofs_status write_archive(archive *a, const char *name, const section_sink *to,
                                  roofs_error *err)
{
    TRY(archive_end(a));
    TRY(section_write(to, name, a, err));
    archive_begin_saving(a, err);
    return ROOFS_OK;
}

/* If the samples are split: the samples of this rank and the type of the values. */
static roofs_status write_shard(const fit *f, archive *a, const section_sink *to, roofs_error *err)
{
    int64_t numbers[] = {f->comm.total, f->comm.first, f->n, f->cols.dtype == ROOFS_F32};
    if (comm_is_alone(&f->comm))
        return ROOFS_OK;
    archive_put(a, numbers, sizeof numbers);
    return write_archive(a, CHECKPOINT_SHARD, to, err);
}

/* Writes a section and, if the samples are split, its marks. */
static roofs_status write_marked(const fit *f, archive *a, const char *name, const section_sink *to,
                                 roofs_error *err)
{
    archive marks = {0};
    archive_begin_saving(&marks, err);
    archive_put(&marks, a->marks, a->mark_count * (int64_t)sizeof *a->marks);
    roofs_status status = write_archive(a, name, to, err);
    if (status == ROOFS_OK && !comm_is_alone(&f->comm))
        status = write_archive(&marks, CHECKPOINT_MARKS, to, err);
    archive_free(&marks);
    return status;
}

static roofs_status write_state(roofs_estimator *e, archive *a, const section_sink *to,
                                roofs_error *err)
{
    state_transfer(e, a);
    TRY(write_marked(e->f, a, CHECKPOINT_STATE, to, err));
    for (int64_t j = 0; j < e->f->cols.count; j++) {
        columns_transfer_values(&e->f->cols, j, a);
        TRY(write_archive(a, CHECKPOINT_COLUMN, to, err));
    }
    return ROOFS_OK;
}

static roofs_status write_fit(roofs_estimator *e, archive *a, const section_sink *to,
                              roofs_error *err)
{
    const fit *f = e->f;
    beginning b = {.set = f->set,
                   .y = f->y,
                   .case_weight = f->case_weight,
                   .n = f->n,
                   .living = hypotheses_living(e)};
    archive_begin_saving(a, err);
    TRY(write_shard(f, a, to, err));
    begin_transfer(&b, a);
    TRY(write_marked(f, a, CHECKPOINT_BEGIN, to, err));
    for (int64_t k = 0; hypotheses_at(e, k); k++)
        TRY(write_state(hypotheses_at(e, k), a, to, err));
    return write_archive(a, CHECKPOINT_END, to, err);
}

static int is_free_name(const char *name)
{
    const char *const used[] = {CHECKPOINT_BEGIN, CHECKPOINT_STATE, CHECKPOINT_COLUMN,
                                CHECKPOINT_END,   CHECKPOINT_SHARD, CHECKPOINT_MARKS};
    for (size_t k = 0; k < sizeof used / sizeof *used; k++)
        if (strcmp(name, used[k]) == 0)
            return 0;
    return name[0] != '\0' && strlen(name) < SECTION_NAME;
}

/* Writes the head, the data of the caller unless `name` is NULL, and the fit. */
static roofs_status write_all(roofs_estimator *e, const char *name, const void *data, int64_t size,
                              archive *a, const section_sink *to, roofs_error *err)
{
    TRY(section_write_head(to, err));
    if (name) {
        archive_begin_saving(a, err);
        archive_put(a, data, size);
        TRY(write_archive(a, name, to, err));
    }
    return write_fit(e, a, to, err);
}

static roofs_status checkpoint_save(roofs_estimator *e, const char *name, const void *data,
                                    int64_t size, roofs_write write, void *user, roofs_error *err)
{
    const section_sink to = {.write = write, .user = user};
    archive a = {0};
    TRY(estimator_check_open(e, "roofs_save", err));
    roofs_status status = write_all(e, name, data, size, &a, &to, err);
    archive_free(&a);
    return status;
}

roofs_status roofs_save_with(roofs_estimator *e, const char *name, const void *data, int64_t size,
                             roofs_write write, void *user, roofs_error *err)
{
    REQUIRE(e);
    REQUIRE(name);
    REQUIRE(data);
    REQUIRE(write);
    if (!is_free_name(name) || size < 0)
        return fail(
            err, ROOFS_BAD_CALL,
            "roofs_save_with: the name \"%s\" is reserved, empty or longer than %d characters, "
            "or the size is negative",
            name, SECTION_NAME - 1);
    return checkpoint_save(e, name, data, size, write, user, err);
}

roofs_status roofs_save(roofs_estimator *e, roofs_write write, void *user, roofs_error *err)
{
    REQUIRE(e);
    REQUIRE(write);
    return checkpoint_save(e, NULL, NULL, 0, write, user, err);
}

/* ---- loading ----------------------------------------------------------- */

/* The fit may continue on another device than that on which it was saved. */
static roofs_status check_device(const roofs_settings *set, int changed, roofs_error *err)
{
    const device_ops *ops = NULL;
    roofs_error why = {0};
    roofs_status status = estimator_device(set, &ops, &why);
    if (status == ROOFS_OK)
        return ROOFS_OK;
    if (changed)
        return fail(err, status, "%s", why.text);
    return fail(err, status, "the fit was saved on %s; continue with --device cpu (%s)",
                roofs_setting_choice(roofs_setting_find("device"), set->device), why.text);
}

/* What a rank reads and checks alone before it builds the estimator. */
static roofs_status read_beginning(beginning *b, archive *a, const roofs_settings *run,
                                   roofs_error *err)
{
    begin_transfer(b, a);
    TRY(archive_end(a));
    TRY(settings_override(&b->set, run, err));
    return check_device(&b->set, run && run->device != ROOFS_AS_SAVED, err);
}

/* Builds the estimator like roofs_create. The section STATE then overwrites what depends on y. */
static roofs_status load_begin(roofs_estimator *e, archive *a, const roofs_settings *run,
                               const roofs_comm *ranks, roofs_error *err)
{
    beginning b = {0};
    const roofs_status own = read_beginning(&b, a, run, err);
    const beginnings from = {.settings = &b.set,
                             .ranks = ranks,
                             .y = b.y,
                             .case_weight = b.case_weight,
                             .n = b.n,
                             .own = own};
    e->f->start = (hypothesis)b.living.start;
    e->compared = b.living.compared;
    roofs_status status = estimator_build(e, &from, err);
    for (int64_t k = 0; k < b.living.count && status == ROOFS_OK; k++)
        status = hypotheses_add(e, (hypothesis)b.living.others[k], &from, err);
    if (status == ROOFS_OK && a->version < 2 && e->m->has_hypotheses)
        e->f->set.hypotheses = 1;
    if (status == ROOFS_OK)
        hypotheses_share_memory(e);
    return status == ROOFS_BAD_SETTING && own == ROOFS_OK && !e->f->comm.agreed ? ROOFS_BAD_DATA
                                                                                : status;
}

/* All hypotheses are at the same position, whatever a file contains. */
static void check_position(const roofs_estimator *e, const roofs_estimator *first, archive *a)
{
    const fit *f = e->f, *g = first->f;
    if (e->allocated != first->allocated || e->dense != first->dense || f->pass != g->pass ||
        f->position != g->position || f->features_seen != g->features_seen ||
        f->batches != g->batches)
        archive_refuse(a, "its hypotheses are not at the same position");
}

static roofs_status read_state(roofs_estimator *e, const roofs_estimator *first, archive *a,
                               const section_source *from, roofs_error *err)
{
    TRY(section_read(from, CHECKPOINT_STATE, a, err));
    state_transfer(e, a);
    e->f->grows = e->f->pass == 1; /* the caller extends the stream again if it was extended */
    check_position(e, first, a);
    TRY(archive_end(a));
    for (int64_t j = 0; j < e->f->cols.count; j++) {
        TRY(section_read(from, CHECKPOINT_COLUMN, a, err));
        columns_transfer_values(&e->f->cols, j, a);
        TRY(archive_end(a));
    }
    return ROOFS_OK;
}

/* The ranks agree at the end, unless they did when the first failed. */
static roofs_status load_state(roofs_estimator *e, const roofs_estimator *first, archive *a,
                               const section_source *from, roofs_error *err)
{
    roofs_status status = read_state(e, first, a, from, err);
    return e->f->comm.agreed ? status : comm_agree(&e->f->comm, status, err);
}

static roofs_status load_fit(roofs_estimator *e, archive *a, const section_source *from,
                             const roofs_settings *run, const roofs_comm *ranks, roofs_error *err)
{
    TRY(load_begin(e, a, run, ranks, err));
    for (int64_t k = 0; hypotheses_at(e, k); k++)
        TRY(load_state(hypotheses_at(e, k), e, a, from, err));
    TRY(section_read(from, CHECKPOINT_END, a, err));
    return archive_end(a);
}

int checkpoint_begins(const char *section)
{
    return strcmp(section, CHECKPOINT_BEGIN) == 0;
}

roofs_status checkpoint_load(roofs_estimator **out, archive *a, const section_source *from,
                             const roofs_settings *run, const roofs_comm *ranks, roofs_error *err)
{
    TRY(estimator_allocate(out, err));
    return estimator_destroy_if_failed(out, load_fit(*out, a, from, run, ranks, err));
}

static roofs_status find_and_load(roofs_estimator **out, archive *a, section_source *from,
                                  const roofs_settings *run, roofs_error *err)
{
    char name[SECTION_NAME + 1];
    TRY(section_read_head(from, err));
    do {
        TRY(section_next(from, name, a, err));
        if (strcmp(name, CHECKPOINT_SHARD) == 0)
            return fail(err, ROOFS_BAD_DATA,
                        "the checkpoint is that of one rank of several; load those of all ranks");
    } while (!checkpoint_begins(name));
    return checkpoint_load(out, a, from, run, NULL, err);
}

roofs_status roofs_load(roofs_estimator **out, roofs_read read, void *user,
                        const roofs_settings *run, roofs_error *err)
{
    section_source from = {.read = read, .user = user};
    archive a = {0};
    REQUIRE(out);
    *out = NULL;
    REQUIRE(read);
    roofs_status status = find_and_load(out, &a, &from, run, err);
    archive_free(&a);
    return status;
}
