/* roofs resume: continues an interrupted fit, or adds features to one that has ended. */
#include "base/digest.h"
#include "base/memory.h"
#include "cli/fit_session.h"
#include "cli/folder.h"
#include "cli/interrupt.h"
#include "cli/print.h"
#include "cli/same_files.h"
#include "cli/verbs.h"
#include "stream/folder.h"
#include "table/names.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

typedef struct resume_args {
    output_options out;
    const char *names;
    int64_t every, expect_features;
    roofs_settings execution; /* threads, max_memory and device; the others are those of the fit */
} resume_args;

static const option_row resume_rows[] = {
    {GROUP(resume_args, out, output_rows)},
    {TEXT(resume_args, names, "names", "FILE"),
     .help = "names of all features, old and new; needed for new FILES if the fit had --names"},
    {COUNT(resume_args, expect_features, "expect-features", 1, 9e18),
     .help = "refuse files that have not exactly N features, old and new; without FILES as in the "
             "fit"},
    {COUNT(resume_args, every, "checkpoint-every", 1, 1e15),
     .help = "batches between two checkpoints; without it, as in the fit"},
    {0},
};

static const example resume_examples[] = {
    {"continue an interrupted fit with its files", "roofs resume fit.ck -o model.json"},
    {"add the new files of a folder", "roofs resume fit.ck genes/ -o model.json"},
    {"add one file, use four threads", "roofs resume fit.ck more.npy --threads 4 -o model.json"},
    {"continue on the CPU a fit that used a GPU", "roofs resume fit.ck --device cpu -o model.json"},
    {"show how far the fit has come", "roofs inspect fit.ck"},
    {0},
};

/* ---- the files to read ------------------------------------------------- */

/* Standard input that has ended cannot be read again. */
static int is_ended_pipe(const ledger_file *file)
{
    return file->ended && path_is_standard(file->path);
}

/* True if the fit has read file k, or the beginning of it, in any pass. */
static int is_reached(const ledger *l, int64_t k)
{
    return l->later || l->files[k].ended || l->files[k].now.features > 0;
}

/* The index of file k of the ledger among the given files; -1 if it is not given. A path may occur
 * several times: its second occurrence in the ledger is the second among the given files. */
static int64_t find_given(const names *given, const ledger *l, int64_t k)
{
    const char *path = l->files[k].path;
    int64_t before = 0;
    for (int64_t j = 0; j < k; j++)
        before += strcmp(l->files[j].path, path) == 0;
    for (int64_t j = 0; j < given->count; j++)
        if (strcmp(names_get(given, j), path) == 0 && before-- == 0)
            return j;
    return -1;
}

/* The files that the resumed fit reads. */
typedef struct reading_plan {
    const roofs_description *fit;
    ledger *read;
    names given;              /* empty: the files of the ledger */
    unsigned char *used;      /* for each given file: the fit has read it or its beginning */
    unsigned char *available; /* for each file of the ledger: it can be read again */
} reading_plan;

static roofs_status refuse_absent(const ledger_file *file, const reading_plan *p, roofs_error *err)
{
    if (p->fit->settings->passes > 1)
        return fail(err, ROOFS_BAD_DATA,
                    "%s is not given; with --passes %" PRId64
                    " the fit reads all files again: add it to FILES",
                    file->path, p->fit->settings->passes);
    return fail(err, ROOFS_BAD_DATA,
                "%s is not given, but the fit was stopped inside it, after %" PRId64
                " of its features: add it to FILES",
                file->path, file->now.features);
}

/* After standard input has ended, a given "-" is a new file. */
static roofs_status match_given(reading_plan *p, roofs_error *err)
{
    for (int64_t k = 0; k < p->read->count; k++) {
        const ledger_file *file = &p->read->files[k];
        int64_t at = is_ended_pipe(file) ? -1 : find_given(&p->given, p->read, k);
        int needed = is_reached(p->read, k) && (p->fit->settings->passes > 1 || !file->ended);
        if (at < 0 && needed)
            return refuse_absent(file, p, err);
        if (at < 0)
            continue;
        p->available[k] = 1;
        p->used[at] = (unsigned char)is_reached(p->read, k);
    }
    return ROOFS_OK;
}

/* New features are accepted in the first pass, and at the end of automatic passes. */
static roofs_status check_new(const reading_plan *p, const char *path, roofs_error *err)
{
    const roofs_description *now = p->fit;
    if (now->pass == 1)
        return ROOFS_OK;
    if (now->settings->passes > 0)
        return fail(err, ROOFS_BAD_DATA,
                    "%s is new, but the fit is in pass %" PRId64
                    "; new files cannot be read as often as the others: fit all files again, or "
                    "fit with --passes auto or 1 to add features later",
                    path, now->pass);
    if (now->position == now->features_seen)
        return ROOFS_OK;
    return fail(err, ROOFS_BAD_DATA,
                "%s is new, but the fit was stopped in the middle of pass %" PRId64
                "; complete it first: run 'roofs resume' without new files, then add them",
                path, now->pass);
}

/* Orders the ledger: the files that were read, then the given files that are still to be read. */
static roofs_status order_ledger(reading_plan *p, roofs_error *err)
{
    ledger *l = p->read;
    int64_t reached = 0;
    for (int64_t k = 0; k < l->count; k++) {
        if (is_reached(l, k)) {
            p->available[reached] = p->available[k];
            ledger_file file = l->files[k];
            l->files[k] = l->files[reached];
            l->files[reached++] = file;
        }
    }
    while (l->count > reached)
        memory_free(l->files[--l->count].path);
    for (int64_t k = 0; k < p->given.count; k++) {
        const char *path = names_get(&p->given, k);
        if (p->used[k])
            continue;
        TRY(check_new(p, path, err));
        l->later = 0; /* new features follow, as in a first pass */
        TRY(ledger_append(l, path, err));
    }
    return ROOFS_OK;
}

/* The samples of a new table cannot be matched: the IDs of the fit are not saved. */
static roofs_status check_ids(const fit_session *f, const reading_plan *p, roofs_error *err)
{
    if (!f->checkpoint.in.table.id || p->read->count < 2)
        return ROOFS_OK;
    return fail(err, ROOFS_BAD_DATA,
                "the fit has --id, and 'roofs resume' cannot join new tables on it; fit all tables "
                "again");
}

static roofs_status make_reading_plan(reading_plan *p, const operands *files, roofs_error *err)
{
    for (int64_t k = 0; k < files->count; k++)
        TRY(folder_expand(files->values[k], &p->given, err));
    TRY(memory_get(&p->used, p->given.count, 1, "a list of files", err));
    TRY(memory_get(&p->available, p->read->count, 1, "a list of files", err));
    if (files->count > 0) {
        TRY(match_given(p, err));
        return order_ledger(p, err);
    }
    for (int64_t k = 0; k < p->read->count; k++)
        p->available[k] = !is_ended_pipe(&p->read->files[k]);
    return ROOFS_OK;
}

/* True if the features that follow are new, after several passes over those before. */
static int is_extended(const reading_plan *p)
{
    return p->fit->pass > 1 && !p->read->later && p->fit->position == p->fit->features_seen;
}

/* With --passes auto the fit makes no further pass unless it can read all features again. */
static int has_lost_files(const reading_plan *p, int recorded)
{
    for (int64_t k = 0; k < p->read->count; k++)
        if (p->read->files[k].ended && !p->available[k])
            return 1;
    return !recorded && p->fit->features_seen > 0;
}

/* ---- comparison with the files as they were ---------------------------- */

static source_options resume_options(const fit_session *f, int64_t before)
{
    source_options options = fit_session_options(f, roofs_samples(f->estimator));
    options.before = before;
    options.joined = f->checkpoint.read.count > 1;
    options.like = f->checkpoint.recorded ? &f->checkpoint.kind : NULL;
    return options;
}

/* A file that was read to its end must have the same features as then, and no more. */
static roofs_status verify_ended(fit_session *f, const reading_plan *p, int64_t k, roofs_error *err)
{
    const ledger_file *file = &f->checkpoint.read.files[k];
    const char *path = file->path;
    source_options options = resume_options(f, 0);
    source *s = NULL;
    roofs_block more = {0};
    options.names_path = NULL;
    options.lead = k == 0 ? options.lead : NULL;
    options.expected = (source_expectation){0};
    options.features = options.joined ? 0 : file->now.features;
    TRY(source_open(&s, &path, 1, &options, err));
    roofs_status status = ledger_verify(&f->checkpoint.read, k, s, p->fit->settings->batch, err);
    if (status == ROOFS_OK)
        status = source_next(s, 1, &more, err);
    source_close(s);
    if (status == ROOFS_OK && more.count > 0)
        return fail(err, ROOFS_BAD_DATA,
                    "%s has more than the %" PRId64
                    " features it had at the checkpoint; give new features in a new file",
                    path, file->now.features);
    return status;
}

/* Opens the files that were not read to their end. Verifies and skips the features that were read
 * of the first one. */
static roofs_status open_unread(fit_session *f, const reading_plan *p, int64_t offset,
                                int64_t before, roofs_error *err)
{
    ledger *l = &f->checkpoint.read;
    source_options options = resume_options(f, before);
    if (offset > 0)
        options.lead = NULL;
    if (before > 0)
        options.expected.values = 0; /* the values of the earlier files are not counted again */
    if (offset == l->count)
        return ROOFS_OK;
    TRY(fit_session_reopen(f, offset, &options, err));
    ledger_begin(l, offset);
    TRY(ledger_verify(l, offset, f->source, p->fit->settings->batch, err));
    f->missing_skipped = source_missing(f->source);
    if (!l->later)
        f->genotypes.skipped = source_genotype_counts(f->source);
    if (!f->checkpoint.narrowed || source_kind_of(f->source).dtype == ROOFS_F32)
        return ROOFS_OK;
    return fail(err, ROOFS_BAD_DATA,
                "the new files hold 64-bit numbers, but the fit stores 32-bit numbers, as in the "
                "files before; convert the new files to 32 bits, or fit again with --storage f64");
}

static roofs_status open_stream(fit_session *f, const reading_plan *p, roofs_error *err)
{
    const ledger *l = &f->checkpoint.read;
    int64_t offset = 0, before = 0;
    for (; offset < l->count && l->files[offset].ended; offset++) {
        if (p->available[offset])
            TRY(verify_ended(f, p, offset, err));
        before += l->files[offset].now.features;
    }
    if (!f->checkpoint.recorded)
        before = p->fit->position;
    int64_t cut = offset < l->count ? l->files[offset].now.features : 0;
    if (before + cut != p->fit->position)
        return fail(err, ROOFS_BAD_DATA,
                    "%s is damaged: its counts of features do not match its position",
                    f->checkpoint.path);
    return open_unread(f, p, offset, before, err);
}

/* ---- the verb ---------------------------------------------------------- */

static roofs_status choose_names(fit_session *f, const resume_args *a, int with_files,
                                 roofs_error *err)
{
    if (a->names)
        f->checkpoint.in.names = a->names;
    else if (f->checkpoint.in.names && with_files)
        return fail(err, ROOFS_BAD_SETTING,
                    "the fit had names from %s; give --names FILE with the names of all features, "
                    "old and new",
                    f->checkpoint.in.names);
    if (with_files)
        f->checkpoint.in.expected.features = f->checkpoint.in.expected.values = 0;
    if (a->expect_features > 0)
        f->checkpoint.in.expected.features = a->expect_features;
    f->in = f->checkpoint.in;
    f->offset = f->checkpoint.offset;
    return ROOFS_OK;
}

/* Chooses the people of genotypes as the fit did, from the same files. */
static roofs_status choose_people(fit_session *f, roofs_error *err)
{
    const checkpoint *c = &f->checkpoint;
    const char *bed = NULL;
    for (int64_t k = 0; c->people != 0 && !bed && k < c->read.count; k++)
        if (path_is_bed(c->read.files[k].path))
            bed = c->read.files[k].path;
    if (!bed)
        return ROOFS_OK;
    TRY(genotypes_choose(&f->genotypes, bed, &f->in.genotypes, 1, err));
    f->genotypes.base = c->genotypes;
    if (genotypes_digest(&f->genotypes) == c->people)
        return ROOFS_OK;
    return fail(err, ROOFS_BAD_DATA,
                "%s: other people than before the checkpoint, or other covariates; the .fam file "
                "and those of --keep, --remove, --pheno and --covar must not change",
                bed);
}

static roofs_status begin_resume(fit_session *f, const resume_args *a, const char *path,
                                 const operands *files, roofs_error *err)
{
    double start = seconds_now();
    roofs_description now;
    checkpoint *c = &f->checkpoint;
    reading_plan p = {.fit = &now, .read = &c->read};
    const char *others[] = {a->names, NULL};
    const int64_t choices[] = {a->every, fit_model_path(&a->out) != NULL, files->count > 0};
    const comm_point options = {.call = "the options of roofs resume",
                                .digest = digest_of(choices, sizeof choices, 0)};
    c->comm = &f->comm;
    TRY(comm_agree_at(&f->comm, options, ROOFS_OK, err));
    TRY(checkpoint_open(c, path, err));
    TRY(checkpoint_read(c, path, &a->execution, &f->estimator, err));
    f->missing = c->missing;
    c->every = a->every > 0 ? a->every : c->every > 0 ? c->every : 100;
    TRY(comm_agree(&f->comm, choose_names(f, a, files->count > 0, err), err));
    roofs_describe(f->estimator, &now);
    TRY(comm_agree(&f->comm, choose_people(f, err), err));
    roofs_status status = make_reading_plan(&p, files, err);
    if (status == ROOFS_OK)
        status = check_ids(f, &p, err);
    if (status == ROOFS_OK) {
        f->is_read_once = has_lost_files(&p, c->recorded);
        status = open_stream(f, &p, err);
    }
    if (status == ROOFS_OK && is_extended(&p))
        status = roofs_extend(f->estimator, err);
    status = comm_agree(&f->comm, status, err);
    if (status == ROOFS_OK)
        status = same_files(&f->comm, f->source, others, err);
    names_free(&p.given);
    memory_free(p.used);
    memory_free(p.available);
    f->times.reading += seconds_now() - start;
    return status;
}

static int check_resume(const resume_args *a, const operands *rest)
{
    if (rest->count == 0)
        return usage_error("resume", "give a checkpoint; 'roofs fit --checkpoint FILE' writes one");
    const char *path = rest->values[0];
    const operands given = {rest->values + 1, rest->count - 1}, *files = &given;
    const file_use read[] = {{"--names", a->names}, {0}};
    const file_use written[] = {
        {"-o", fit_model_path(&a->out)}, {"--trace", a->out.trace}, {"the checkpoint", path}, {0}};
    int code = files->count > 0 ? inputs_check("resume", files) : OPTIONS_FINE;
    return code == OPTIONS_FINE ? inputs_check_written("resume", files, read, written) : code;
}

static int resume_files(const resume_args *a, const operands *files, const char *path)
{
    roofs_error err = {.feature = -1};
    fit_session f = {.out = a->out, .files = *files};
    int code;
    roofs_status status = fit_session_prepare(&f, &err);
    if (status != ROOFS_OK) {
        code = exit_with("resume", &err, exit_after(status));
    } else {
        status = begin_resume(&f, a, path, files, &err);
        if (status != ROOFS_OK)
            f.checkpoint.path = NULL; /* do not change the file */
        code = fit_session_finish(&f, status, &err);
    }
    fit_session_free(&f);
    return code;
}

static int resume_main(int argc, char **argv)
{
    resume_args args = {.out.verb = "resume"};
    operands rest;
    int code = options_parse(&resume_verb, &args, argc, argv, &rest);
    if (code == OPTIONS_FINE)
        code = check_resume(&args, &rest);
    code = process_agree(code);
    if (code != OPTIONS_FINE)
        return code;
    const operands files = {rest.values + 1, rest.count - 1};
    interrupt_install();
    return resume_files(&args, &files, rest.values[0]);
}

const verb resume_verb = {
    .name = "resume",
    .summary = "continue an interrupted fit, or add new features to a fit",
    .usage = "CHECKPOINT [FILES...] [-o model.json] [options]",
    .about =
        "CHECKPOINT is the file that 'roofs fit --checkpoint' wrote; 'roofs resume' updates it. "
        "The settings are those of the fit. The model has the same bits as that of a fit without "
        "interruption. A trace begins with the first batch after the checkpoint.\n\n"
        "Without FILES the fit continues with its own files. With FILES, a file that the fit has "
        "read is compared with what was read and then skipped; the other files are new. The file "
        "in which the fit was stopped must be among FILES. A file is recognised by its name as it "
        "was given. A file that has changed is refused.\n\n"
        "New files after automatic passes are read once. If FILES has all files of the fit, passes "
        "that are left of the 3 may follow, over all of them.",
    .examples = resume_examples,
    .rows = resume_rows,
    .settings = SETTINGS_EXECUTION,
    .settings_at = offsetof(resume_args, execution),
    .main = resume_main,
};
