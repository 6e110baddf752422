/* roofs resume: goes on with a fit that was interrupted, or with new features. */
#include "base/memory.h"
#include "cli/fit_run.h"
#include "cli/interrupt.h"
#include "cli/print.h"
#include "cli/ranks.h"
#include "cli/verbs.h"
#include "stream/folder.h"
#include "stream/names.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

typedef struct resume_args {
    fit_wishes wishes;
    const char *names;
    int64_t every, threads;
    const char *max_memory, *device;
} resume_args;

#define AT(field) .at = offsetof(resume_args, field)

static const option_row rows[] = {
    FIT_OUTPUT_ROW(offsetof(resume_args, wishes)),
    {.name = "trace",
     .kind = OPTION_TEXT,
     AT(wishes.trace),
     .value = "FILE",
     .help = "write down every batch from here on (time, memory, largest coefficients)"},
    {.name = "names",
     .kind = OPTION_TEXT,
     AT(names),
     .value = "FILE",
     .help = "names of all features, those before included; needed where the fit had such a file"},
    {.name = "checkpoint-every",
     .kind = OPTION_COUNT,
     AT(every),
     .value = "N",
     .low = 1,
     .high = 1e15,
     .help = "batches between two checkpoints; as before where it is not given"},
    {.name = "threads",
     .kind = OPTION_COUNT,
     AT(threads),
     .value = "N",
     .low = 0,
     .high = 4096,
     .help = "threads to use; 0 = one per core; as before where it is not given"},
    {.name = "max-memory",
     .kind = OPTION_TEXT,
     AT(max_memory),
     .value = "SIZE",
     .help = "bytes the fit may take; 0 = no limit; as before where it is not given"},
    {.name = "device",
     .kind = OPTION_TEXT,
     AT(device),
     .value = "WORD",
     .help = "where to compute: cpu, cuda (a GPU) or auto; as before where it is not given"},
    FIT_AHEAD_ROW(offsetof(resume_args, wishes)),
    FIT_JSON_ROW(offsetof(resume_args, wishes)),
    FIT_QUIET_ROW(offsetof(resume_args, wishes)),
    {0},
};

static const example examples[] = {
    {"go on after a power failure, with the files the fit was given",
     "roofs resume fit.ck -o model.json"},
    {"new features have come: the folder again, only its new files are used",
     "roofs resume fit.ck genes/ -o model.json"},
    {"one more file, with four threads", "roofs resume fit.ck more.npy --threads 4 -o model.json"},
    {"the fit was saved on a GPU, and there is none here",
     "roofs resume fit.ck --device cpu -o model.json"},
    {"how far did it come?", "roofs inspect fit.ck"},
    {0},
};

/* ---- which files ------------------------------------------------------- */

static int is_stdin(const ledger_file *file)
{
    return strcmp(file->path, "-") == 0;
}

/* Something of it was read in this pass, or nothing is left. */
static int is_reached(const ledger_file *file)
{
    return file->ended || file->now.features > 0;
}

/* Which mention of its path in the ledger file k is, from 0. */
static int64_t mention_of(const ledger *l, int64_t k)
{
    int64_t before = 0;
    for (int64_t j = 0; j < k; j++)
        before += strcmp(l->files[j].path, l->files[k].path) == 0;
    return before;
}

/* The place of that mention among the given files; -1 where it is not given. */
static int64_t find_given(const names *given, const char *path, int64_t mention)
{
    for (int64_t k = 0; k < given->count; k++)
        if (strcmp(names_get(given, k), path) == 0 && mention-- == 0)
            return k;
    return -1;
}

typedef struct plan {
    const roofs_description *fit;
    ledger *read;
    names given;          /* empty: as before */
    unsigned char *used;  /* of the given ones: is in the ledger and needs no place behind it */
    unsigned char *there; /* of the ledger's: can be read again */
} plan;

static roofs_status not_given(const ledger_file *file, const plan *p, roofs_error *err)
{
    if (p->fit->settings.passes > 1)
        return fail(err, ROOFS_BAD_DATA,
                    "%s is not given; with --passes %" PRId64 " all files are read again",
                    file->path, p->fit->settings.passes);
    return fail(err, ROOFS_BAD_DATA,
                "%s is not given, but the fit was stopped inside it, after %" PRId64
                " of its features",
                file->path, file->now.features);
}

/* Standard input that has ended is past; given again, it is new. */
static roofs_status match_given(plan *p, roofs_error *err)
{
    for (int64_t k = 0; k < p->read->count; k++) {
        const ledger_file *file = &p->read->files[k];
        int past = file->ended && is_stdin(file);
        int64_t at = past ? -1 : find_given(&p->given, file->path, mention_of(p->read, k));
        int needed = p->fit->settings.passes > 1 ? is_reached(file) || p->read->later
                                                 : is_reached(file) && !file->ended;
        if (at < 0 && needed)
            return not_given(file, p, err);
        if (at < 0)
            continue;
        p->there[k] = 1;
        p->used[at] = is_reached(file) || p->read->later;
    }
    return ROOFS_OK;
}

/* The ledger with what was read first, then all that is given and still to be read. */
static roofs_status append_new(plan *p, roofs_error *err)
{
    ledger *l = p->read;
    int64_t kept = 0;
    for (int64_t k = 0; k < l->count; k++) {
        if (is_reached(&l->files[k]) || l->later) {
            p->there[kept] = p->there[k];
            ledger_file file = l->files[k];
            l->files[k] = l->files[kept];
            l->files[kept++] = file;
        }
    }
    while (l->count > kept)
        memory_free(l->files[--l->count].path);
    for (int64_t k = 0; k < p->given.count; k++) {
        const char *path = names_get(&p->given, k);
        if (p->used[k])
            continue;
        if (l->later || (p->fit->settings.passes > 1 && p->fit->pass > 1))
            return fail(err, ROOFS_BAD_DATA,
                        "%s is new, but the fit is in pass %" PRId64 " of %" PRId64
                        "; new features can only come in the first",
                        path, p->fit->pass, p->fit->settings.passes);
        TRY(ledger_append(l, path, err));
    }
    return ROOFS_OK;
}

static roofs_status make_plan(plan *p, const operands *files, roofs_error *err)
{
    for (int64_t k = 0; k < files->count; k++)
        TRY(folder_expand(files->values[k], &p->given, err));
    TRY(memory_get(&p->used, p->given.count, 1, "a list of files", err));
    TRY(memory_get(&p->there, p->read->count, 1, "a list of files", err));
    if (files->count > 0) {
        TRY(match_given(p, err));
        return append_new(p, err);
    }
    for (int64_t k = 0; k < p->read->count; k++)
        p->there[k] = !(is_stdin(&p->read->files[k]) && p->read->files[k].ended);
    return ROOFS_OK;
}

static void plan_free(plan *p)
{
    names_free(&p->given);
    memory_free(p->used);
    memory_free(p->there);
}

/* ---- are they the same? ------------------------------------------------ */

static source_options options_of_rest(const fit_run *f, int64_t before)
{
    source_options options = inputs_options(&f->in, f->n, 0);
    options.before = before;
    options.joined = f->kept.read.count > 1;
    options.like = f->kept.recorded ? &f->kept.kind : NULL;
    return options;
}

/* A file that was read to its end must still be that, and no more. */
static roofs_status verify_whole(fit_run *f, int64_t k, roofs_error *err)
{
    const ledger_file *file = &f->kept.read.files[k];
    const char *path = file->path;
    source_options options = options_of_rest(f, 0);
    source *s = NULL;
    roofs_block more = {0};
    options.names_path = NULL;
    options.features = options.joined ? 0 : file->now.features;
    TRY(source_open(&s, &path, 1, &options, err));
    roofs_status status = ledger_verify(&f->kept.read, k, s, f->settings.batch, err);
    if (status == ROOFS_OK)
        status = source_next(s, 1, &more, err);
    source_close(s);
    if (status == ROOFS_OK && more.count > 0)
        return fail(err, ROOFS_BAD_DATA,
                    "%s has more than the %" PRId64
                    " features it had before the checkpoint; give new features in a file of "
                    "their own",
                    path, file->now.features);
    return status;
}

/* Opens what is not read to its end, and passes over what was read of it. */
static roofs_status open_rest(fit_run *f, int64_t offset, int64_t before, roofs_error *err)
{
    ledger *l = &f->kept.read;
    const char **paths = NULL;
    source_options options = options_of_rest(f, before);
    if (offset == l->count)
        return ROOFS_OK;
    TRY(memory_get(&paths, l->count - offset, sizeof *paths, "a list of files", err));
    for (int64_t k = offset; k < l->count; k++)
        paths[k - offset] = l->files[k].path;
    roofs_status status = source_open(&f->source, paths, l->count - offset, &options, err);
    memory_free(paths);
    if (status != ROOFS_OK)
        return status;
    ledger_begin(l, offset);
    TRY(ledger_verify(l, offset, f->source, f->settings.batch, err));
    f->missing_skipped = source_missing(f->source);
    return ROOFS_OK;
}

static roofs_status check_width(const fit_run *f, roofs_error *err)
{
    if (!f->kept.narrowed || !f->source || source_kind_of(f->source).dtype == ROOFS_F32)
        return ROOFS_OK;
    return fail(err, ROOFS_BAD_DATA,
                "the files hold 64-bit numbers, those before held 32-bit ones and are stored so; "
                "convert the new files to 32 bits, or begin anew with --storage f64");
}

static roofs_status open_stream(fit_run *f, const plan *p, roofs_error *err)
{
    const ledger *l = &f->kept.read;
    int64_t offset = 0, before = 0;
    for (; offset < l->count && l->files[offset].ended; offset++) {
        if (p->there[offset])
            TRY(verify_whole(f, offset, err));
        before += l->files[offset].now.features;
    }
    if (!f->kept.recorded)
        before = p->fit->position;
    int64_t cut = offset < l->count ? l->files[offset].now.features : 0;
    if (before + cut != p->fit->position)
        return fail(err, ROOFS_BAD_DATA, "%s is damaged: its files do not add up", f->kept.path);
    TRY(open_rest(f, offset, before, err));
    return check_width(f, err);
}

/* ---- the verb ---------------------------------------------------------- */

/* Names stand in the files, or in a file of their own, which covers all features. */
static roofs_status take_names(fit_run *f, const resume_args *a, int with_files, roofs_error *err)
{
    if (a->names)
        f->kept.in.names = a->names;
    else if (f->kept.in.names && with_files)
        return fail(err, ROOFS_BAD_SETTING,
                    "the fit had its names from %s: give --names FILE, with the names of all "
                    "features",
                    f->kept.in.names);
    f->in = f->kept.in;
    return ROOFS_OK;
}

static roofs_status load(fit_run *f, const resume_args *a, const char *path, roofs_error *err)
{
    checkpoint *c = &f->kept;
    roofs_description fit;
    roofs_settings how = {.threads = a->threads, .max_memory = -1, .device = a->device};
    if (a->max_memory)
        parse_size(a->max_memory, &how.max_memory);
    TRY(checkpoint_read(c, path, &how, &f->estimator, err));
    roofs_describe(f->estimator, &fit);
    f->settings = fit.settings;
    f->n = comm_count(&f->ranks, fit.n);
    f->missing = c->missing;
    c->every = a->every > 0 ? a->every : c->every > 0 ? c->every : 100;
    return ROOFS_OK;
}

static roofs_status begin(fit_run *f, const resume_args *a, const char *path, const operands *files,
                          roofs_error *err)
{
    double start = seconds_now();
    roofs_description now;
    plan p = {.fit = &now, .read = &f->kept.read};
    f->kept.ranks = &f->ranks;
    TRY(checkpoint_open(&f->kept, path, err));
    TRY(load(f, a, path, err));
    TRY(take_names(f, a, files->count > 0, err));
    roofs_describe(f->estimator, &now);
    roofs_status status = make_plan(&p, files, err);
    if (status == ROOFS_OK)
        status = open_stream(f, &p, err);
    status = comm_agree(&f->ranks, status, err);
    plan_free(&p);
    f->times.reading += seconds_now() - start;
    return status;
}

static int check(const resume_args *a, const operands *files, const char *path)
{
    const file_use read[] = {{"--names", a->names}, {0}};
    const file_use written[] = {{"-o", fit_model_path(&a->wishes)},
                                {"--trace", a->wishes.trace},
                                {"the checkpoint", path},
                                {0}};
    int64_t bytes;
    roofs_settings some;
    roofs_error err;
    if (a->device && roofs_settings_set(&some, "device", a->device, &err))
        return usage_error("resume", "%s", err.text);
    if (a->max_memory && !parse_size(a->max_memory, &bytes))
        return usage_error("resume", "--max-memory must be a size such as 500M; it is '%s'",
                           a->max_memory);
    int code = files->count > 0 ? inputs_check("resume", files) : OPTIONS_FINE;
    return code == OPTIONS_FINE ? inputs_check_written("resume", files, read, written) : code;
}

static int run(const resume_args *a, const operands *files, const char *path)
{
    roofs_error err = {.feature = -1};
    fit_run f = {.wishes = a->wishes, .files = *files};
    int code;
    roofs_status status = fit_run_prepare(&f, &err);
    if (status != ROOFS_OK) {
        complain("resume", "%s", err.text);
        code = exit_after(status);
    } else if ((status = begin(&f, a, path, files, &err)) != ROOFS_OK) {
        f.kept.path = NULL; /* it stays as it is */
        code = fit_run_fail(&f, status, &err);
    } else {
        status = fit_run_go(&f, &err);
        code = status == ROOFS_OK ? fit_run_tell(&f) : fit_run_fail(&f, status, &err);
    }
    fit_run_free(&f);
    return code;
}

static int resume_main(int argc, char **argv)
{
    resume_args args = {.wishes.who = "resume", .threads = -1};
    operands rest;
    int code = options_parse(&resume_verb, &args, argc, argv, &rest);
    if (code != OPTIONS_FINE)
        return code;
    if (rest.count == 0)
        return usage_error("resume", "no checkpoint is given; 'roofs fit --checkpoint' writes one");
    operands files = {rest.values + 1, rest.count - 1};
    code = check(&args, &files, rest.values[0]);
    if (code != OPTIONS_FINE)
        return code;
    interrupt_watch();
    return run(&args, &files, rest.values[0]);
}

const verb resume_verb = {
    .name = "resume",
    .summary = "go on with a fit that was interrupted, or with new features",
    .usage = "CHECKPOINT [FILES...] [-o model.json] [options]",
    .about =
        "CHECKPOINT is what 'roofs fit --checkpoint' keeps; it is kept up to date here, too. "
        "Settings are those of the fit. The model is the same to the bit as that of a fit that was "
        "not interrupted.\n\n"
        "Without FILES the fit goes on with the files it was given. With FILES, those that were "
        "used already are compared with what was read of them and passed over; the one in which "
        "the fit was stopped must be among them; new ones follow. Files are known by the names "
        "they were given by. A file that has changed is refused.",
    .examples = examples,
    .rows = rows,
    .main = resume_main,
};
