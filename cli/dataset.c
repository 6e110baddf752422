#include "cli/dataset.h"

#include "base/memory.h"
#include "base/output.h"
#include "cli/interrupt.h"
#include "cli/print.h"
#include "cli/progress.h"
#include "cli/shared_output.h"
#include "stream/npy.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/statvfs.h>

const char *order_name(int64_t k)
{
    static const char *const names[] = {"first", "random"};
    return k < 2 ? names[k] : NULL;
}

const char *dtype_name(int64_t k)
{
    static const char *const names[] = {"f64", "f32"};
    return k < 2 ? names[k] : NULL;
}

/* ---- the files --------------------------------------------------------- */

const char *const dataset_names[DATASET_FILES] = {"X.npy", "y.npy", "beta.npy", "clean.npy",
                                                  "truth.json"};

typedef struct dataset {
    folder *folder;
    output files[DATASET_FILES]; /* of rank 0 */
    comm *ranks;
} dataset;

static roofs_status dataset_open_file(dataset *d, int k, roofs_error *err)
{
    char *path = NULL;
    TRY(folder_join(&path, d->folder->path, dataset_names[k], err));
    const output_kind kind = {.named = !comm_is_alone(d->ranks)}; /* ranks write to one file */
    roofs_status status = output_check(path, err);
    if (status == ROOFS_OK)
        status = output_open_as(&d->files[k], path, &kind, err);
    memory_free(path);
    return status;
}

static roofs_status commit_files(dataset *d, roofs_error *err)
{
    for (int k = 0; k < DATASET_FILES && comm_is_root(d->ranks); k++)
        TRY(output_commit(&d->files[k], err));
    return ROOFS_OK;
}

/* Fails before a long write if the disk has no space for X, by far the largest file. */
static roofs_status check_disk(const simulate_args *a, const char *path, roofs_error *err)
{
    int64_t need = memory_bytes(memory_bytes(a->n, a->p), dtype_size((roofs_dtype)a->dtype));
    struct statvfs disk;
    if (statvfs(path, &disk) != 0)
        return ROOFS_OK;
    double space = (double)disk.f_bavail * (double)disk.f_frsize;
    if ((double)need <= space)
        return ROOFS_OK;
    return fail(err, ROOFS_IO,
                "%s: X.npy needs %s, but the disk has %s left; free space or choose another folder",
                path, text_of_bytes((double)need).text, text_of_bytes(space).text);
}

/* ---- writing ----------------------------------------------------------- */

static roofs_status write_failed(const output *o, roofs_error *err)
{
    return fail(err, ROOFS_IO, "%s: cannot be written: %s", o->target, strerror(errno));
}

static roofs_status put_values(output *o, const void *values, int64_t count, int64_t size,
                               roofs_error *err)
{
    if (fwrite(values, (size_t)size, (size_t)count, o->file) == (size_t)count)
        return ROOFS_OK;
    return write_failed(o, err);
}

static roofs_status put_vector(output *o, const char *descr, const void *values, int64_t count,
                               int64_t size, roofs_error *err)
{
    npy_write_header(o->file, descr, 1, &count);
    return put_values(o, values, count, size, err);
}

/* Writes one value per sample, for the samples of this rank. */
static roofs_status put_samples(dataset *d, output *o, const char *descr, const void *values,
                                int64_t size, roofs_error *err)
{
    comm *c = d->ranks;
    shared_output all;
    if (comm_is_alone(c))
        return put_vector(o, descr, values, c->n, size, err);
    if (comm_is_root(c))
        npy_write_header(o->file, descr, 1, &c->total);
    roofs_status status = shared_output_open(&all, o, c, err);
    if (status == ROOFS_OK)
        status = shared_output_write(&all, values, c->n * size, c->first * size, err);
    return shared_output_close(&all, c, status, err);
}

/* Writes features first..first + count - 1, for the samples of this rank. */
static roofs_status put_block(dataset *d, const shared_output *all, const void *values,
                              int64_t first, int64_t count, int64_t size, roofs_error *err)
{
    const comm *c = d->ranks;
    if (comm_is_alone(c))
        return put_values(&d->files[DATASET_X], values, count * c->n, size, err);
    for (int64_t k = 0; k < count; k++)
        TRY(shared_output_write(all, (const char *)values + k * c->n * size, c->n * size,
                                ((first + k) * c->total + c->first) * size, err));
    return ROOFS_OK;
}

static roofs_status put_blocks(dataset *d, const simulate_args *a, const simulator *s,
                               const shared_output *all, roofs_error *err)
{
    const int64_t block_bytes = 16 << 20;
    int64_t size = dtype_size((roofs_dtype)a->dtype), most = block_bytes / size / s->own;
    most = most < 1 ? 1 : most > a->p ? a->p : most;
    void *values = NULL;
    TRY(memory_get(&values, memory_bytes(most, s->own), (size_t)size, "a block of features", err));
    progress bar;
    progress_begin(&bar, "simulate", a->p, a->quiet);
    roofs_status status = ROOFS_OK;
    for (int64_t first = 0; first < a->p && status == ROOFS_OK; first += most) {
        int64_t count = a->p - first < most ? a->p - first : most;
        simulator_features(s, first, count, (roofs_dtype)a->dtype, a->threads, values);
        status = put_block(d, all, values, first, count, size, err);
        if (status == ROOFS_OK && interrupt_signal())
            status = fail(err, ROOFS_CANCELLED, "interrupted");
        progress_show(&bar, first + count, "");
    }
    progress_end(&bar);
    memory_free(values);
    return status;
}

static roofs_status put_features(dataset *d, const simulate_args *a, const simulator *s,
                                 roofs_error *err)
{
    shared_output all = {.fd = -1};
    output *x = &d->files[DATASET_X];
    if (comm_is_root(d->ranks))
        npy_write_header(x->file, dtype_size((roofs_dtype)a->dtype) == 4 ? "<f4" : "<f8", 2,
                         (int64_t[]){a->p, a->n});
    if (comm_is_alone(d->ranks))
        return put_blocks(d, a, s, NULL, err);
    TRY(shared_output_open(&all, x, d->ranks, err));
    return shared_output_close(&all, d->ranks, put_blocks(d, a, s, &all, err), err);
}

static int64_t count_corrupted(const simulator *s)
{
    int64_t corrupted = 0;
    for (int64_t i = 0; i < s->own; i++)
        corrupted += !s->clean[i];
    return comm_count(s->what.ranks, corrupted);
}

static roofs_status put_truth(output *o, const simulate_args *a, int64_t corrupted,
                              roofs_error *err)
{
    json_t *truth = json_pack(
        "{s:s, s:i, s:s, s:I, s:I, s:I, s:f, s:f, s:s, s:s, s:s, s:I, s:I}", "format",
        "roofs-truth", "version", 1, "library", roofs_version(), "n", (json_int_t)a->n, "p",
        (json_int_t)a->p, "mu", (json_int_t)a->mu, "corruption", a->corruption, "noise_var",
        a->noise_var, "order", order_name(a->order), "attack", attack_name(a->attack), "dtype",
        dtype_name(a->dtype), "seed", (json_int_t)a->seed, "corrupted", (json_int_t)corrupted);
    char *text = truth ? json_dumps(truth, JSON_REAL_PRECISION(17) | JSON_INDENT(1)) : NULL;
    json_decref(truth);
    if (!text)
        return fail(err, ROOFS_NO_MEMORY, "no memory for truth.json");
    roofs_status status = put_values(o, text, (int64_t)strlen(text), 1, err);
    fputc('\n', o->file);
    free(text);
    return status;
}

/* Finds a full disk before the first file gets its name. */
static roofs_status flush_files(const dataset *d, roofs_error *err)
{
    for (int k = 0; k < DATASET_FILES && comm_is_root(d->ranks); k++)
        if (fflush(d->files[k].file) != 0)
            return write_failed(&d->files[k], err);
    return ROOFS_OK;
}

/* Writes the files that do not depend on samples. */
static roofs_status put_small(dataset *d, const simulate_args *a, const simulator *s,
                              int64_t corrupted, roofs_error *err)
{
    if (!comm_is_root(d->ranks))
        return ROOFS_OK;
    TRY(put_vector(&d->files[DATASET_BETA], "<f8", s->beta, a->p, 8, err));
    return put_truth(&d->files[DATASET_TRUTH], a, corrupted, err);
}

static roofs_status dataset_write(dataset *d, const simulate_args *a, const simulator *s,
                                  roofs_error *err)
{
    const int64_t corrupted = count_corrupted(s);
    TRY(put_samples(d, &d->files[DATASET_Y], "<f8", s->y, 8, err));
    TRY(put_samples(d, &d->files[DATASET_CLEAN], "|u1", s->clean, 1, err));
    TRY(comm_agree(d->ranks, put_small(d, a, s, corrupted, err), err));
    TRY(put_features(d, a, s, err));
    TRY(comm_agree(d->ranks, flush_files(d, err), err));
    TRY(comm_agree(d->ranks, interrupt_check(err), err));
    return comm_agree(d->ranks, commit_files(d, err), err);
}

static roofs_status open_folder(dataset *d, const simulate_args *a, roofs_error *err)
{
    if (!comm_is_root(d->ranks))
        return ROOFS_OK;
    TRY(folder_make(d->folder, a->folder, err));
    TRY(check_disk(a, d->folder->path, err));
    for (int k = 0; k < DATASET_FILES; k++)
        TRY(dataset_open_file(d, k, err));
    return ROOFS_OK;
}

static roofs_status dataset_simulate(dataset *d, const simulate_args *a, roofs_error *err)
{
    const simulation what = {.n = a->n,
                             .p = a->p,
                             .mu = a->mu,
                             .corruption = a->corruption,
                             .noise_var = a->noise_var,
                             .random_order = a->order == 1,
                             .attack = (attack)a->attack,
                             .seed = (uint64_t)a->seed,
                             .ranks = d->ranks};
    TRY(comm_agree(d->ranks, open_folder(d, a, err), err));
    simulator *s = NULL;
    roofs_status status = comm_agree(d->ranks, simulator_create(&s, &what, a->threads, err), err);
    if (status == ROOFS_OK)
        status = dataset_write(d, a, s, err);
    simulator_destroy(s);
    return status;
}

roofs_status dataset_make(const simulate_args *a, comm *ranks, folder *made, roofs_error *err)
{
    dataset d = {.folder = made, .ranks = ranks};
    roofs_status status = dataset_simulate(&d, a, err);
    if (status == ROOFS_OK)
        return ROOFS_OK;
    for (int k = 0; k < DATASET_FILES; k++)
        output_abandon(&d.files[k]);
    folder_unmake(made);
    return status;
}
