#include "cli/fit_run.h"

#include "api/estimator.h"
#include "base/memory.h"
#include "cli/ahead.h"
#include "cli/folder.h"
#include "cli/interrupt.h"
#include "cli/print.h"
#include "cli/verbs.h"
#include "model/model.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

void fit_run_free(fit_run *f)
{
    trace_abandon(&f->trace);
    roofs_destroy(f->estimator);
    source_close(f->source);
    checkpoint_close(&f->kept);
    comm_leave(&f->ranks);
}

static int speaks(const fit_run *f)
{
    return f->ranks.with.rank == 0;
}

const char *fit_model_path(const fit_wishes *w)
{
    return w->output ? w->output : w->json ? NULL : "-";
}

static roofs_status prepare_outputs(fit_run *f, roofs_error *err)
{
    if (!speaks(f))
        return ROOFS_OK;
    if (f->wishes.output)
        TRY(check_writable(f->wishes.output, err));
    return trace_open(&f->trace, f->wishes.trace, err);
}

roofs_status fit_run_prepare(fit_run *f, roofs_error *err)
{
    TRY(comm_join(&f->ranks, ranks_here(), 1, err));
    return comm_agree(&f->ranks, prepare_outputs(f, err), err);
}

roofs_status fit_run_open(fit_run *f, source **out, roofs_error *err)
{
    source_options options = inputs_options(&f->in, f->n, 0);
    return source_open(out, f->files.values, f->files.count, &options, err);
}

/* ---- checkpoints ------------------------------------------------------- */

static roofs_description where(const fit_run *f)
{
    roofs_description now;
    roofs_describe(f->estimator, &now);
    return now;
}

/* Of the first pass: what was known when this run began, and what was met since. */
static missing_count missing_now(const fit_run *f)
{
    missing_count all = f->missing;
    if (where(f).pass > 1 || !f->source)
        return all;
    all.values += f->missing_met.values - f->missing_skipped.values;
    all.features += f->missing_met.features - f->missing_skipped.features;
    return all;
}

/* What cannot be written is no fault of the data: FAILED, not IO. */
static roofs_status save(fit_run *f, roofs_error *err)
{
    if (!f->kept.path)
        return ROOFS_OK;
    f->kept.missing = missing_now(f);
    roofs_status status = checkpoint_write(&f->kept, f->estimator, err);
    if (status != ROOFS_IO)
        return status;
    roofs_error reason = *err;
    return fail(err, ROOFS_FAILED, "%s; the checkpoint before it, where there is one, is whole",
                reason.text);
}

static roofs_status save_in_time(fit_run *f, const roofs_block *block, roofs_error *err)
{
    if (!f->kept.path)
        return ROOFS_OK;
    TRY(ledger_add(&f->kept.read, block, err));
    return ++f->kept.waited < f->kept.every ? ROOFS_OK : save(f, err);
}

/* ---- the stream -------------------------------------------------------- */

/* With a checkpoint, the batch under way is taken back and made anew later. */
static int watch(void *user, const roofs_progress *now)
{
    fit_run *f = user;
    char detail[200];
    snprintf(detail, sizeof detail, "batch %s.%s  selected %s  trusted %s",
             text_of_count(now->batch).text, text_of_count(now->round).text,
             text_of_count(now->selected).text, text_of_count(now->trusted).text);
    progress_show(&f->bar, f->taken, detail);
    if (!interrupt_signal())
        return ROOFS_GO_ON;
    return f->kept.path ? ROOFS_TAKE_BACK : ROOFS_STOP_HERE;
}

static roofs_status next_block(fit_run *f, ahead *reader, roofs_block *block, roofs_error *err)
{
    double start = seconds_now();
    roofs_status status = reader ? ahead_wait(reader, block, err)
                                 : source_next(f->source, f->settings.batch, block, err);
    f->times.reading += seconds_now() - start;
    if (status == ROOFS_OK && interrupt_signal())
        status = fail(err, ROOFS_CANCELLED, "interrupted");
    return comm_agree(&f->ranks, status, err);
}

static roofs_status trace_now(fit_run *f, roofs_error *err)
{
    double reading = f->times.reading - f->traced.reading;
    double fitting = f->times.fitting - f->traced.fitting;
    f->traced = f->times;
    return trace_batch(&f->trace, f->estimator, reading, fitting, err);
}

static roofs_status take_block(fit_run *f, const roofs_block *block, roofs_error *err)
{
    double start = seconds_now();
    f->taken += block->count;
    roofs_status status = roofs_consume(f->estimator, block, err);
    f->times.fitting += seconds_now() - start;
    return status;
}

/* Everything the source still has. What is asked of it comes before it reads ahead. */
static roofs_status all_blocks(fit_run *f, ahead *reader, roofs_error *err)
{
    for (;;) {
        roofs_block block = {0};
        TRY(next_block(f, reader, &block, err));
        const missing_count met = source_missing(f->source);
        if (block.count == 0)
            return ROOFS_OK;
        if (f->kept.path)
            TRY(ledger_locate(&f->kept.read, f->source, &block, err));
        if (reader)
            ahead_read(reader);
        TRY(take_block(f, &block, err));
        f->missing_met = met;
        TRY(save_in_time(f, &block, err));
        TRY(trace_now(f, err));
    }
}

static roofs_status read_blocks(fit_run *f, roofs_error *err)
{
    ahead *reader = NULL;
    f->missing_met = source_missing(f->source);
    if (f->wishes.ahead || strcmp(roofs_device(f->estimator), "cpu") != 0) {
        TRY(ahead_begin(&reader, f->source, f->settings.batch, err));
        ahead_read(reader);
    }
    roofs_status status = all_blocks(f, reader, err);
    ahead_end(reader);
    return status;
}

static roofs_status one_pass(fit_run *f, roofs_error *err)
{
    if (f->source) {
        TRY(read_blocks(f, err));
        f->base = source_base(f->source);
    }
    f->missing = missing_now(f);
    f->missing_skipped = f->missing_met; /* they are counted */
    return f->kept.path ? ledger_end_pass(&f->kept.read, err) : ROOFS_OK;
}

/* All files of the stream, in its order; a checkpoint knows those of earlier runs. */
static roofs_status open_again(fit_run *f, roofs_error *err)
{
    const ledger *l = &f->kept.read;
    const char **paths = NULL;
    if (!f->kept.path)
        return fit_run_open(f, &f->source, err);
    TRY(memory_get(&paths, l->count, sizeof *paths, "a list of files", err));
    for (int64_t k = 0; k < l->count; k++)
        paths[k] = l->files[k].path;
    source_options options = inputs_options(&f->in, f->n, 0);
    options.like = &f->kept.kind;
    roofs_status status = source_open(&f->source, paths, l->count, &options, err);
    memory_free(paths);
    return status;
}

static roofs_status read_again(fit_run *f, roofs_error *err)
{
    TRY(roofs_next_pass(f->estimator, err));
    source_close(f->source);
    f->source = NULL;
    if (f->kept.path)
        ledger_next_pass(&f->kept.read);
    return open_again(f, err);
}

static roofs_status all_passes(fit_run *f, roofs_error *err)
{
    roofs_set_monitor(f->estimator, watch, f);
    roofs_set_undo(f->estimator, f->kept.path != NULL);
    TRY(one_pass(f, err));
    while (where(f).pass < f->settings.passes) {
        TRY(read_again(f, err));
        TRY(one_pass(f, err));
    }
    return save(f, err); /* more features may come one day */
}

static roofs_status finish(fit_run *f, roofs_error *err)
{
    double start = seconds_now();
    roofs_status status = roofs_finish(f->estimator, err);
    f->times.fitting += seconds_now() - start;
    return status == ROOFS_OK ? trace_now(f, err) : status;
}

roofs_status fit_run_go(fit_run *f, roofs_error *err)
{
    const roofs_description now = where(f);
    int64_t known = f->source ? source_features(f->source) : now.features_seen;
    int64_t before = f->source ? source_position(f->source) : 0;
    f->taken = (now.pass - 1) * now.features_seen + now.position;
    progress_begin(&f->bar, f->wishes.who, known > 0 ? (before + known) * f->settings.passes : 0,
                   f->wishes.quiet);
    roofs_status status = all_passes(f, err);
    if (status == ROOFS_OK)
        status = finish(f, err);
    progress_end(&f->bar);
    return status;
}

/* ---- what is left of it ------------------------------------------------ */

static roofs_status write_model(const fit_run *f, roofs_error *err)
{
    const char *path = fit_model_path(&f->wishes);
    roofs_model *model = NULL;
    if (!path)
        return ROOFS_OK;
    TRY(roofs_model_create(&model, f->estimator, err));
    if (f->base != INDEX_AUTO)
        model->index_base = f->base == INDEX_FROM_1;
    roofs_status status = speaks(f) ? roofs_model_write(model, path, err) : ROOFS_OK;
    roofs_model_destroy(model);
    return status;
}

int fit_run_tell(fit_run *f)
{
    roofs_error err = {0};
    roofs_result result;
    roofs_status status = write_model(f, &err);
    if (status == ROOFS_OK && speaks(f))
        status = trace_commit(&f->trace, &err);
    if (status == ROOFS_OK)
        status = roofs_view(f->estimator, &result, &err);
    if (comm_agree(&f->ranks, status, &err) != ROOFS_OK) {
        complain(f->wishes.who, "%s", err.text);
        return exit_after(err.status);
    }
    result.n = f->n;
    if (f->wishes.json)
        return fit_print_json(&result, &f->times, &f->missing);
    if (!f->wishes.quiet)
        fit_print_summary(&result, &f->times, &f->missing);
    return EXIT_FINE;
}

/* Saves the fit where it can be saved; says so in `left`. 0: that failed, and it was said why. */
static int save_the_rest(fit_run *f, char *left, size_t size)
{
    roofs_error err = {0};
    if (!f->kept.path || !f->estimator)
        return 1;
    roofs_status status = save(f, &err);
    if (status == ROOFS_BAD_CALL) /* the fit itself failed: what was saved before is good */
        return 1;
    if (status != ROOFS_OK) {
        complain(f->wishes.who, "%s", err.text);
        return 0;
    }
    snprintf(left, size, "; 'roofs resume %s' goes on with feature %" PRId64 "%s", f->kept.path,
             where(f).position, where(f).pass > 1 ? " of a later pass" : "");
    return 1;
}

int fit_run_fail(fit_run *f, roofs_status status, const roofs_error *err)
{
    char left[PATH_MOST + 100] = "; no model was written";
    int known = f->ranks.agreed || (f->estimator && f->estimator->f.comm.agreed);
    if ((status == ROOFS_NO_MEMORY || status == ROOFS_FAILED) && !known)
        ranks_abort(f->wishes.who, err->text, exit_after(status));
    int reading = status == ROOFS_CANCELLED || status == ROOFS_IO || status == ROOFS_BAD_DATA;
    int saved = !reading || save_the_rest(f, left, sizeof left);
    if (interrupt_signal())
        return saved ? interrupt_exit(f->wishes.who, left) : EXIT_FAILED;
    inputs_complain(f->wishes.who, f->source, err);
    return exit_after_input(status);
}
