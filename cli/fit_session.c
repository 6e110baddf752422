#include "cli/fit_session.h"

#include "base/block.h"
#include "base/memory.h"
#include "cli/cross_validate.h"
#include "cli/fit_store.h"
#include "cli/folder.h"
#include "cli/interrupt.h"
#include "cli/leak.h"
#include "cli/orders.h"
#include "cli/prefetch.h"
#include "cli/print.h"
#include "cli/tables.h"
#include "cli/verbs.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

const option_row output_rows[] = {
    {OUTPUT(output_options, output, "FILE"),
     .help = "file for the model; standard output if it is - or not given"},
    {TEXT(output_options, trace, "trace", "FILE"),
     .help = "write one line per batch (time, memory, largest coefficients), for 'roofs report'"},
    {FLAG(output_options, prefetch, "ahead"),
     .help = "read the next batch during the fit of the current one; always on with a GPU"},
    {FLAG(output_options, profile, "profile"),
     .help = "print where the time went, and the bytes read against the memory bandwidth"},
    {FLAG(output_options, json, "json"),
     .help = "print a summary as a JSON object; the model is then only written with -o"},
    {QUIET(output_options, quiet), .help = "print no progress, summary or warning"},
    {0},
};

void fit_session_free(fit_session *f)
{
    trace_abandon(&f->trace);
    roofs_destroy(f->estimator);
    roofs_model_destroy(f->model);
    source_close(f->source);
    checkpoint_close(&f->checkpoint);
    exchanged_free(&f->exchanged);
    genotypes_free(&f->genotypes);
    comm_leave(&f->comm);
}

const char *fit_model_path(const output_options *o)
{
    return o->output ? o->output : o->json ? NULL : "-";
}

static roofs_status open_outputs(fit_session *f, roofs_error *err)
{
    if (!comm_is_root(&f->comm))
        return ROOFS_OK;
    if (fit_model_path(&f->out))
        TRY(check_writable(fit_model_path(&f->out), err));
    return trace_open(&f->trace, f->out.trace, err);
}

roofs_status fit_session_prepare(fit_session *f, roofs_error *err)
{
    TRY(comm_join(&f->comm, process_comm(), 1, ROOFS_OK, err));
    return comm_agree(&f->comm, open_outputs(f, err), err);
}

source_options fit_session_options(const fit_session *f, int64_t n)
{
    source_options options = inputs_options(&f->in, n, 0);
    options.ids = f->ids;
    genotypes_to_source(&f->genotypes, &options);
    return options;
}

roofs_status fit_session_open(const fit_session *f, int64_t n, source **out, roofs_error *err)
{
    const source_options options = fit_session_options(f, n);
    return source_open(out, f->files.values, f->files.count, &options, err);
}

static roofs_description describe_fit(const fit_session *f)
{
    roofs_description now;
    roofs_describe(f->estimator, &now);
    return now;
}

/* The pass that the fit is in; 1 before it begins. */
static int64_t describe_fit_pass(const fit_session *f)
{
    return f->estimator ? describe_fit(f).pass : 1;
}

/* ---- checkpoints ------------------------------------------------------- */

/* True if the features of this pass were read before. After several passes, `roofs resume` can add
 * files: see roofs_extend. */
static int is_read_again(const fit_session *f)
{
    return describe_fit(f).pass > 1 && (!f->checkpoint.path || f->checkpoint.read.later);
}

/* Missing values of the first pass, up to the last consumed batch. */
static missing_count count_missing(const fit_session *f)
{
    missing_count all = f->missing;
    if (is_read_again(f) || !f->source)
        return all;
    all.values += f->missing_consumed.values - f->missing_skipped.values;
    all.features += f->missing_consumed.features - f->missing_skipped.features;
    return all;
}

/* Returns FAILED instead of IO: a checkpoint that cannot be written is not bad input. */
static roofs_status save_checkpoint(fit_session *f, roofs_error *err)
{
    if (!f->checkpoint.path)
        return ROOFS_OK;
    f->checkpoint.missing = count_missing(f);
    f->checkpoint.genotypes = genotypes_counts(&f->genotypes);
    roofs_status status = checkpoint_write(&f->checkpoint, f->estimator, err);
    if (status != ROOFS_IO)
        return status;
    roofs_error reason = *err;
    return fail(err, ROOFS_FAILED, "%s; the previous checkpoint, if any, is valid", reason.text);
}

/* The record of the checkpoint takes the recipes while no other thread reads the stream. */
static roofs_status record_recipes(fit_session *f, roofs_error *err)
{
    char *text;
    if (!f->checkpoint.path)
        return ROOFS_OK;
    TRY(tables_collect_text(f->checkpoint.recipes, f->source, &text, err));
    memory_free(f->checkpoint.recipes);
    f->checkpoint.recipes = text;
    return ROOFS_OK;
}

static roofs_status save_when_due(fit_session *f, const roofs_block *block, roofs_error *err)
{
    if (!f->checkpoint.path)
        return ROOFS_OK;
    TRY(comm_agree(&f->comm, ledger_add(&f->checkpoint.read, block, err), err));
    return ++f->checkpoint.waited < f->checkpoint.every ? ROOFS_OK : save_checkpoint(f, err);
}

/* ---- blocks and passes ------------------------------------------------- */

/* An interrupt undoes the batch if there is a checkpoint: `roofs resume` fits it again. */
static int monitor_fit(void *user, const roofs_progress *now)
{
    fit_session *f = user;
    char detail[200];
    snprintf(detail, sizeof detail, "batch %s.%s  selected %s  trusted %s",
             text_of_count(now->batch).text, text_of_count(now->round).text,
             text_of_count(now->selected).text, text_of_count(now->trusted).text);
    progress_show(&f->bar, f->consumed, detail);
    if (!interrupt_signal())
        return ROOFS_MONITOR_CONTINUE;
    return f->checkpoint.path ? ROOFS_MONITOR_UNDO : ROOFS_MONITOR_STOP;
}

static roofs_status read_block(fit_session *f, prefetch *reader, roofs_block *block,
                               roofs_error *err)
{
    double start = seconds_now();
    roofs_status status = reader
                              ? prefetch_wait(reader, block, err)
                              : source_next(f->source, describe_fit(f).settings->batch, block, err);
    f->times.reading += seconds_now() - start;
    if (status == ROOFS_OK && block->count > 0)
        f->bytes_read += profile_block_bytes(block);
    if (status == ROOFS_OK && interrupt_signal())
        status = fail(err, ROOFS_CANCELLED, "interrupted");
    const comm_point at = {.call = "the next features of the files",
                           .count = status == ROOFS_OK ? block->count : 0};
    return comm_agree_at(&f->comm, at, status, err);
}

/* Rank 0 writes the trace. */
static roofs_status trace_times(fit_session *f, roofs_error *err)
{
    double reading = f->times.reading - f->traced.reading;
    double fitting = f->times.fitting - f->traced.fitting;
    f->traced = f->times;
    return comm_agree(&f->comm, trace_batch(&f->trace, f->estimator, reading, fitting, err), err);
}

/* Reads the counts of the source before prefetch_read: then the reader may change them. */
static roofs_status fit_block(fit_session *f, prefetch *reader, const roofs_block *block,
                              roofs_error *err)
{
    const missing_count missing = source_missing(f->source);
    const genotype_counts variants = source_genotype_counts(f->source);
    if (f->checkpoint.path)
        TRY(comm_agree(&f->comm, ledger_locate(&f->checkpoint.read, f->source, block, err), err));
    if (f->checkpoint.waited + 1 >= f->checkpoint.every)
        TRY(comm_agree(&f->comm, record_recipes(f, err), err));
    if (reader)
        prefetch_read(reader);
    if (f->y && !f->out.quiet && comm_is_root(&f->comm) && describe_fit(f).pass == 1)
        leak_report(f->out.verb, block, f->y);
    double start = seconds_now();
    f->consumed += block->count;
    roofs_status status = roofs_consume(f->estimator, block, err);
    f->times.fitting += seconds_now() - start;
    if (status != ROOFS_OK)
        return status;
    f->missing_consumed = missing;
    if (!is_read_again(f))
        f->genotypes.consumed = variants;
    TRY(save_when_due(f, block, err));
    return trace_times(f, err);
}

static roofs_status fit_blocks(fit_session *f, roofs_error *err)
{
    prefetch *reader = NULL;
    roofs_block block = {0};
    roofs_status status = ROOFS_OK;
    f->missing_consumed = source_missing(f->source);
    if (!is_read_again(f))
        f->genotypes.consumed = source_genotype_counts(f->source);
    if (f->out.prefetch || strcmp(roofs_device(f->estimator), "cpu") != 0) {
        TRY(prefetch_begin(&reader, f->source, describe_fit(f).settings->batch, err));
        prefetch_read(reader);
    }
    do {
        status = read_block(f, reader, &block, err);
        if (status == ROOFS_OK && block.count > 0)
            status = fit_block(f, reader, &block, err);
    } while (status == ROOFS_OK && block.count > 0);
    prefetch_end(reader);
    return status;
}

roofs_status fit_session_reopen(fit_session *f, int64_t offset, const source_options *options,
                                roofs_error *err)
{
    const ledger *l = &f->checkpoint.read;
    const char **paths = NULL;
    source_options own = *options;
    TRY(memory_get(&paths, l->count, sizeof *paths, "a list of files", err));
    for (int64_t k = 0; k < l->count; k++)
        paths[k] = l->files[k].path;
    own.earlier = paths;
    own.earlier_count = offset;
    roofs_status status = source_open(&f->source, paths + offset, l->count - offset, &own, err);
    memory_free((void *)paths);
    return status;
}

/* Opens all files again. With a checkpoint these are the files of all sessions. */
static roofs_status open_again(fit_session *f, roofs_error *err)
{
    const int64_t n = roofs_samples(f->estimator);
    const roofs_description now = describe_fit(f);
    if (now.pass > now.settings->passes && f->bar.total > 0)
        f->bar.total += now.features_seen; /* auto passes, or one more for groups */
    source_close(f->source);
    f->source = NULL;
    if (!f->checkpoint.path)
        return fit_session_open(f, n, &f->source, err);
    ledger_next_pass(&f->checkpoint.read);
    source_options options = fit_session_options(f, n);
    options.like = &f->checkpoint.kind;
    return fit_session_reopen(f, 0, &options, err);
}

/* Further passes repeat the messages of the first one. */
void fit_session_print_notes(fit_session *f)
{
    if (f->source && !f->out.quiet && describe_fit_pass(f) == 1)
        f->notes_printed = tables_print_notes(f->out.verb, f->source, f->notes_printed);
}

static roofs_status begin_next_pass(fit_session *f, roofs_error *err)
{
    TRY(roofs_next_pass(f->estimator, err));
    return comm_agree(&f->comm, open_again(f, err), err);
}

/* Pipes and devices may give other data, or none, when they are opened again. */
static int is_file(const char *path)
{
    struct stat info;
    return !path_is_standard(path) && stat(path, &info) == 0 && S_ISREG(info.st_mode);
}

int fit_session_can_reread(const fit_session *f)
{
    const ledger *l = &f->checkpoint.read;
    int all = !f->is_read_once;
    for (int64_t k = 0; all && k < l->count; k++)
        all = is_file(l->files[k].path);
    for (int64_t k = 0; all && f->source && source_file_at(f->source, k); k++)
        all = is_file(source_file_at(f->source, k));
    return all;
}

/* With --passes auto the ranks agree, even if not all of them see the same files. */
static int wants_pass(fit_session *f)
{
    const int wanted = roofs_wants_pass(f->estimator);
    if (describe_fit(f).settings->passes > 0)
        return wanted;
    return comm_largest_of(&f->comm, wanted && fit_session_can_reread(f) ? 0 : 1) == 0;
}

static roofs_status fit_passes(fit_session *f, roofs_error *err)
{
    for (;;) {
        if (f->source) {
            TRY(fit_blocks(f, err));
            f->base = source_base(f->source);
            if (!is_read_again(f))
                f->genotypes.consumed = source_genotype_counts(f->source);
        }
        fit_session_print_notes(f);
        TRY(comm_agree(&f->comm, record_recipes(f, err), err));
        f->missing = count_missing(f);
        f->missing_skipped = f->missing_consumed;
        if (f->checkpoint.path)
            TRY(comm_agree(&f->comm, ledger_end_pass(&f->checkpoint.read, err), err));
        if (!wants_pass(f))
            return save_checkpoint(f, err); /* `roofs resume` can add features */
        TRY(begin_next_pass(f, err));
    }
}

static roofs_status finish_fit(fit_session *f, roofs_error *err)
{
    double start = seconds_now();
    roofs_status status = roofs_finish(f->estimator, err);
    f->times.fitting += seconds_now() - start;
    return status == ROOFS_OK ? trace_times(f, err) : status;
}

static roofs_status fit_stream(fit_session *f, roofs_error *err)
{
    const roofs_description now = describe_fit(f);
    int64_t known = f->source ? source_features(f->source) : now.features_seen;
    int64_t before = f->source ? source_position(f->source) : 0;
    f->consumed = (now.pass - 1) * now.features_seen + now.position;
    const int64_t passes = now.settings->passes > 0 ? now.settings->passes : now.pass;
    progress_begin(&f->bar, f->out.verb, known > 0 ? (before + known) * passes : 0, f->out.quiet);
    roofs_set_monitor(f->estimator, monitor_fit, f);
    roofs_set_undo(f->estimator, f->checkpoint.path != NULL);
    if (f->checkpoint.path)
        interrupt_defer();
    roofs_status status = fit_passes(f, err);
    if (status == ROOFS_OK)
        status = finish_fit(f, err);
    progress_end(&f->bar);
    return status;
}

/* ---- results ----------------------------------------------------------- */

roofs_status fit_session_create_model(fit_session *f, roofs_error *err)
{
    f->passes_made = describe_fit(f).pass;
    if (f->out.profile)
        profile_take(&f->profile, f->estimator, &f->times, f->bytes_read);
    TRY(roofs_model_create(&f->model, f->estimator, err));
    if (f->base != INDEX_AUTO)
        TRY(roofs_model_set_index_base(f->model, f->base == INDEX_FROM_1, err));
    if (f->offset)
        TRY(roofs_model_set_offset(f->model, f->offset, err));
    TRY(fit_store_tables(f, err));
    return f->y && f->comm.with.size < 2
               ? exchanged_complete(&f->exchanged, f->y, f->estimator, f->model, err)
               : ROOFS_OK;
}

static roofs_status open_anew(void *user, source **out, roofs_error *err)
{
    const fit_session *f = user;
    return fit_session_open(f, f->samples, out, err);
}

/* The fit itself is destroyed before the others begin: its model is enough. */
static roofs_status begin_orders(fit_session *f, orders **out, roofs_error *err)
{
    roofs_result result;
    const roofs_description now = describe_fit(f);
    orders_question q = {.settings = *now.settings,
                         .y = f->y,
                         .weight = f->weight,
                         .n = now.n,
                         .features = now.features_seen,
                         .orders = f->orders,
                         .quiet = f->out.quiet,
                         .comm = &f->comm,
                         .times = &f->times,
                         .open = open_anew,
                         .user = f};
    if (q.settings.fdr == 0)
        q.settings.groups = ROOFS_GROUPS_OFF; /* no selection depends on them */
    f->samples = roofs_samples(f->estimator);
    TRY(roofs_view(f->estimator, &result, err));
    TRY(comm_agree(&f->comm, orders_begin(out, &q, &result, err), err));
    roofs_destroy(f->estimator);
    f->estimator = NULL;
    return ROOFS_OK;
}

static roofs_status compare_orders(fit_session *f, roofs_error *err)
{
    orders *o = NULL;
    if (f->orders < 2)
        return ROOFS_OK;
    roofs_status status = begin_orders(f, &o, err);
    if (status == ROOFS_OK)
        status = orders_fit(o, err);
    if (status == ROOFS_OK)
        status = orders_store(o, f->model, err);
    orders_end(o);
    return status;
}

/* After the other orders, when no other fit needs memory. */
static roofs_status find_intervals(fit_session *f, const roofs_description *fitted,
                                   const roofs_settings *settings, roofs_error *err)
{
    const cv_question q = {.settings = *settings,
                           .y = f->y,
                           .weight = f->weight,
                           .n = fitted->n,
                           .features = fitted->features_seen,
                           .quiet = f->out.quiet,
                           .open = open_anew,
                           .user = f};
    f->samples = fitted->n;
    roofs_destroy(f->estimator);
    f->estimator = NULL;
    const double start = seconds_now();
    roofs_status status = cross_validate(&q, f->model, err);
    f->times.fitting += seconds_now() - start;
    return status;
}

/* What needs further fits. */
static roofs_status complete_model(fit_session *f, roofs_error *err)
{
    const roofs_description fitted = describe_fit(f);
    const roofs_settings settings = *fitted.settings;
    TRY(compare_orders(f, err));
    return f->with_cv ? find_intervals(f, &fitted, &settings, err) : ROOFS_OK;
}

static roofs_status write_results(fit_session *f, roofs_error *err)
{
    const char *path = fit_model_path(&f->out);
    const double start = seconds_now();
    if (!comm_is_root(&f->comm))
        return ROOFS_OK;
    if (path)
        TRY(roofs_model_write(f->model, path, err));
    if (f->out.profile) {
        profile_add(&f->profile, "writing", seconds_now() - start, 0);
        profile_measure(&f->profile);
        trace_profile(&f->trace, profile_json(&f->profile));
    }
    return trace_commit(&f->trace, err);
}

static int report_fit(fit_session *f)
{
    roofs_error err = {0};
    roofs_result result;
    fit_facts facts = {.times = f->times,
                       .missing = f->missing,
                       .passes = f->passes_made,
                       .peak = fit_peak_bytes()};
    if (comm_agree(&f->comm, write_results(f, &err), &err) != ROOFS_OK)
        return exit_with(f->out.verb, &err, exit_after(err.status));
    roofs_model_view(f->model, &result);
    if (!f->out.json && !f->out.quiet)
        fit_print_summary(&result, &facts);
    if (!f->out.json && !f->out.quiet)
        exchanged_print(stderr, &f->exchanged, fit_session_ids(f));
    if (!f->out.json && !f->out.quiet && f->source)
        inputs_print_listed(f->source, result.features_seen);
    if (!f->out.json && !f->out.quiet)
        genotypes_print_summary(&f->genotypes);
    if (!f->out.json && f->out.profile && comm_is_root(&f->comm))
        profile_print(stderr, &f->profile);
    if (!f->out.quiet)
        fit_print_warnings(result.warnings);
    if (!f->out.quiet)
        fit_warn_if_nothing_matters(&result);
    if (f->out.json)
        facts.exchanged = exchanged_json(&f->exchanged);
    if (f->out.json && f->out.profile)
        facts.profile = profile_json(&f->profile);
    return f->out.json ? fit_print_json(&result, &facts) : EXIT_FINE;
}

/* Saves the fit if it is valid and writes to `result` how to resume it. Returns 0 if saving failed;
 * the error is then printed. */
static int save_after_failure(fit_session *f, char *result, size_t size)
{
    roofs_error err = {0};
    if (f->checkpoint.path && f->model) /* saved before the fit ended */
        snprintf(result, size,
                 "; 'roofs resume %s' writes the model, without other orders and cross-validation",
                 f->checkpoint.path);
    if (!f->checkpoint.path || !f->estimator)
        return 1;
    roofs_status status = record_recipes(f, &err);
    if (status == ROOFS_OK)
        status = save_checkpoint(f, &err);
    if (status == ROOFS_BAD_CALL) /* the fit itself failed: the last checkpoint stays */
        return 1;
    if (status != ROOFS_OK) {
        complain(f->out.verb, "%s", err.text);
        return 0;
    }
    const roofs_description now = describe_fit(f);
    snprintf(result, size, "; 'roofs resume %s' continues with feature %" PRId64 "%s",
             f->checkpoint.path, now.position, now.pass > 1 ? " of a later pass" : "");
    return 1;
}

int fit_session_fail(fit_session *f, roofs_status status, const roofs_error *err)
{
    char result[PATH_MOST + 100] = "; no model was written";
    if (!f->checkpoint.path)
        snprintf(result, sizeof result, "%s",
                 "; no model was written. With --checkpoint FILE a stopped fit can continue");
    int shared = f->comm.agreed || roofs_failure_is_shared(f->estimator);
    if (!shared)
        process_stop_others(err->text, exit_after(status));
    int reading = status == ROOFS_CANCELLED || status == ROOFS_IO || status == ROOFS_BAD_DATA;
    int saved = !reading || save_after_failure(f, result, sizeof result);
    if (interrupt_signal())
        return saved ? interrupt_exit(f->out.verb, result) : EXIT_FAILED;
    inputs_complain(f->out.verb, f->source, err);
    return exit_after_input(status);
}

int fit_session_finish(fit_session *f, roofs_status status, roofs_error *err)
{
    if (status == ROOFS_OK)
        status = fit_stream(f, err);
    if (status == ROOFS_OK)
        status = fit_session_create_model(f, err);
    if (status == ROOFS_OK)
        status = complete_model(f, err);
    return status == ROOFS_OK ? report_fit(f) : fit_session_fail(f, status, err);
}
