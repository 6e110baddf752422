#include "cli/several.h"

#include "base/block.h"
#include "base/memory.h"
#include "base/threads.h"
#include "cli/chunk.h"
#include "cli/folder.h"
#include "cli/groups.h"
#include "cli/interrupt.h"
#include "cli/prefetch.h"
#include "cli/print.h"
#include "cli/subset.h"
#include "cli/top.h"
#include "cli/verbs.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>
#include <sys/stat.h>

enum { CHUNK_BYTES = 32 << 20 }; /* of features that all fits take in one after the other */

/* The fit of one response. */
typedef struct one_fit {
    const char *name;
    fit_session session; /* estimator, model and output; it does not own the stream */
    char *path;          /* of the model */
    double *y;           /* of its samples */
    double *weight;      /* the same; NULL = none are given */
    int64_t *samples;    /* those of the stream that have the response */
    int64_t n;           /* their number */
    levels ids;
    int reads; /* takes part in the current pass */
    roofs_settings settings;
    int64_t bytes; /* of memory that the fit needs at most */
    roofs_status status;
    roofs_error err;
} one_fit;

typedef struct several {
    const several_question *q;
    one_fit *fits;
    int64_t count, workers;
    int64_t bytes;          /* of all fits */
    subset_buffer *subsets; /* one per worker */
    chunk chunk;
    int64_t passes, features; /* read so far */
    int64_t stream;           /* features of one pass */
    missing_count missing;
    genotype_counts variants;
    fit_times times;
    progress bar;
} several;

static void free_several(several *s)
{
    for (int64_t k = 0; s->fits && k < s->count; k++) {
        one_fit *f = &s->fits[k];
        roofs_destroy(f->session.estimator);
        roofs_model_destroy(f->session.model);
        exchanged_free(&f->session.exchanged);
        genotypes_free(&f->session.genotypes);
        levels_free(&f->ids);
        memory_free(f->path);
        memory_free(f->y);
        memory_free(f->weight);
        memory_free(f->samples);
    }
    for (int64_t k = 0; s->subsets && k < s->workers; k++)
        subset_free(&s->subsets[k]);
    memory_free(s->subsets);
    memory_free(s->fits);
    chunk_free(&s->chunk);
}

/* ---- the samples and the settings of each fit -------------------------- */

static int is_folder(const char *path)
{
    struct stat info;
    const size_t length = strlen(path);
    return (length > 0 && path[length - 1] == '/') ||
           (stat(path, &info) == 0 && S_ISDIR(info.st_mode));
}

/* A slash in the name of a response is no folder. */
static void name_to_file(char *at, int64_t length)
{
    for (int64_t k = 0; k < length; k++)
        at[k] = (char)(at[k] == '/' ? '_' : at[k]);
}

roofs_status several_model_path(char **out, const char *to, const char *name, roofs_error *err)
{
    const int in_folder = is_folder(to);
    const size_t length = strlen(to), named = strlen(name), size = length + named + 10;
    const char *ending = !in_folder && path_ends_in(to, ".json") ? ".json" : "";
    const int stem = (int)(length - strlen(ending));
    const int slash = in_folder && to[length - 1] != '/';
    TRY(memory_get(out, (int64_t)size, 1, "a path", err));
    const int before = snprintf(*out, size, "%.*s%s", stem, to, slash ? "/" : in_folder ? "" : ".");
    snprintf(*out + before, size - (size_t)before, "%s%s", name, in_folder ? ".json" : ending);
    name_to_file(*out + before, (int64_t)named);
    return ROOFS_OK;
}

/* Weights of these samples, and responses less the offset. */
static roofs_status take_extras(one_fit *f, const fit_session *shared, roofs_error *err)
{
    f->session.offset = shared->offset;
    for (int64_t i = 0; shared->offsets && i < f->n; i++)
        f->y[i] -= shared->offsets[f->samples[i]];
    if (!shared->weight)
        return ROOFS_OK;
    TRY(memory_get(&f->weight, f->n, sizeof *f->weight, "the weights of the samples", err));
    for (int64_t i = 0; i < f->n; i++)
        f->weight[i] = shared->weight[f->samples[i]];
    return ROOFS_OK;
}

static roofs_status take_samples(one_fit *f, const responses *r, int64_t k, roofs_error *err)
{
    const double *y = r->values + k * r->n;
    const int with_ids = r->ids.words.count == r->n;
    TRY(memory_get(&f->samples, r->n, sizeof *f->samples, "the samples of a response", err));
    TRY(memory_get(&f->y, r->n, sizeof *f->y, "the response", err));
    for (int64_t i = 0; i < r->n; i++) {
        if (isnan(y[i]))
            continue;
        const char *id = with_ids ? names_get(&r->ids.words, i) : NULL;
        if (id)
            TRY(levels_add(&f->ids, id, (int64_t)strlen(id), err));
        f->samples[f->n] = i;
        f->y[f->n++] = y[i];
    }
    if (f->n == 0)
        return fail(err, ROOFS_BAD_DATA, "the response \"%.80s\" has no value", f->name);
    return ROOFS_OK;
}

/* How the fits store features. */
static roofs_dtype storage_of(const several *s)
{
    const int64_t asked = s->q->settings.storage;
    if (asked == ROOFS_STORAGE_AUTO)
        return source_kind_of(s->q->shared->source).dtype;
    return asked == ROOFS_STORAGE_F32 ? ROOFS_F32 : ROOFS_F64;
}

/* As for a response that is alone, with mu by its own number of samples. */
static roofs_status choose_settings(several *s, one_fit *f, roofs_error *err)
{
    const source *stream = s->q->shared->source;
    f->settings = s->q->settings;
    TRY(roofs_settings_resolve(&f->settings, f->n, f->n, source_features(stream), err));
    roofs_settings unlimited = f->settings;
    unlimited.max_memory = 0;
    TRY(roofs_memory_needed(&unlimited, f->n, storage_of(s), &f->bytes, err));
    s->bytes = memory_sum(s->bytes, f->bytes);
    if (s->workers > 1)
        f->settings.threads = 1;
    return ROOFS_OK;
}

/* Fills of missing values in features would differ with the samples of each response. */
static roofs_status check_missing(const several *s, const one_fit *f, roofs_error *err)
{
    if (f->n == s->q->y.n || s->q->shared->in.missing == MISSING_ERROR)
        return ROOFS_OK;
    return fail(err, ROOFS_BAD_SETTING,
                "the response \"%.80s\" is missing in %" PRId64 " samples: --missing would replace "
                "values of features by those of other samples; fit this response alone",
                f->name, s->q->y.n - f->n);
}

/* The people as they are for the phenotype alone. */
static roofs_status take_people(several *s, one_fit *f, roofs_error *err)
{
    fit_session *own = &f->session;
    if (!s->q->bed)
        return ROOFS_OK;
    own->in.genotypes.pheno_name = f->name;
    TRY(genotypes_choose(&own->genotypes, s->q->bed, &own->in.genotypes, 1, err));
    if (own->genotypes.people.ids.words.count != f->n)
        return fail(err, ROOFS_BAD_DATA, "the file of the phenotypes has changed");
    return ROOFS_OK;
}

static roofs_status prepare_fit(several *s, int64_t k, roofs_error *err)
{
    one_fit *f = &s->fits[k];
    const fit_session *shared = s->q->shared;
    f->name = names_get(&s->q->y.names, k);
    f->session = (fit_session){.out = shared->out, .in = shared->in, .files = shared->files};
    f->session.in.table.response = s->q->y.from_file ? NULL : f->name;
    f->session.ids = shared->ids;
    TRY(take_samples(f, &s->q->y, k, err));
    TRY(take_extras(f, shared, err));
    TRY(check_missing(s, f, err));
    TRY(take_people(s, f, err));
    f->session.y = f->y;
    f->session.fitted_ids = f->ids.words.count > 0 ? &f->ids : NULL;
    if (shared->out.output) {
        TRY(several_model_path(&f->path, shared->out.output, f->name, err));
        f->session.out.output = f->path;
        if (!s->q->explain)
            TRY(check_writable(f->path, err));
    }
    return choose_settings(s, f, err);
}

/* Models of two responses must not go to the same file. */
static roofs_status check_paths(const several *s, roofs_error *err)
{
    for (int64_t k = 1; k < s->count; k++)
        for (int64_t j = 0; j < k && s->fits[j].path && s->fits[k].path; j++)
            if (strcmp(s->fits[k].path, s->fits[j].path) == 0)
                return fail(err, ROOFS_BAD_SETTING,
                            "the responses \"%.80s\" and \"%.80s\" would both be written to %.200s",
                            s->fits[j].name, s->fits[k].name, s->fits[k].path);
    return ROOFS_OK;
}

/* Many responses share the threads; few responses use all of them, one after the other. */
static int64_t choose_workers(const several *s)
{
    const int64_t threads = threads_count(s->q->settings.threads);
    if (threads > 2 * s->count)
        return 1;
    return threads < s->count ? threads : s->count;
}

static roofs_status prepare(several *s, roofs_error *err)
{
    s->count = s->q->y.count;
    s->workers = choose_workers(s);
    TRY(memory_get(&s->fits, s->count, sizeof *s->fits, "the fits of several responses", err));
    TRY(memory_get(&s->subsets, s->workers, sizeof *s->subsets, "subsets of the samples", err));
    for (int64_t k = 0; k < s->count; k++)
        TRY(prepare_fit(s, k, err));
    return check_paths(s, err);
}

/* ---- memory ------------------------------------------------------------ */

/* Sparse features need less than the bound: each fit then has its share of the limit. */
static roofs_status limit_memory(several *s, roofs_error *err)
{
    const int64_t limit = s->q->settings.max_memory;
    if (limit == 0)
        return ROOFS_OK;
    const int is_sparse = source_kind_of(s->q->shared->source).sparse;
    if (s->bytes > limit && !is_sparse)
        return fail(err, ROOFS_OVER_LIMIT,
                    "the fits of %" PRId64 " responses need %s together, but --max-memory allows "
                    "%s; fit about %" PRId64 " responses at a time",
                    s->count, text_of_bytes((double)s->bytes).text,
                    text_of_bytes((double)limit).text,
                    (int64_t)fmax(1, floor((double)s->count * (double)limit / (double)s->bytes)));
    for (int64_t k = 0; k < s->count; k++)
        s->fits[k].settings.max_memory = is_sparse ? limit / s->count : s->fits[k].bytes;
    return ROOFS_OK;
}

static int64_t bytes_of_subsets(const several *s)
{
    int64_t most = 0;
    for (int64_t k = 0; k < s->count; k++)
        if (s->fits[k].n < s->q->y.n && s->fits[k].n > most)
            most = s->fits[k].n;
    return memory_bytes(s->workers * s->q->settings.batch, dtype_bytes(storage_of(s), most));
}

static void explain(const several *s)
{
    const int64_t limit = s->q->settings.max_memory;
    const roofs_settings *set = &s->q->settings;
    const int64_t read = memory_bytes(set->batch, dtype_bytes(storage_of(s), s->q->y.n));
    printf("%-28s %12s %12s %14s\n", "response", "samples", "mu", "memory");
    for (int64_t k = 0; k < s->count; k++) {
        const one_fit *f = &s->fits[k];
        print_clean(stdout, f->name, 28);
        printf("%*s %12s %12s %14s\n", (int)fmax(0, 28 - text_columns(f->name)), "",
               text_of_count(f->n).text, text_of_count(f->settings.mu).text,
               text_of_bytes((double)f->bytes).text);
    }
    printf("%-54s %14s\n", "total of the fits, side by side", text_of_bytes((double)s->bytes).text);
    printf("%-54s %14s\n", "buffers for reading",
           text_of_bytes((double)memory_sum(2 * read, CHUNK_BYTES)).text);
    if (bytes_of_subsets(s) > 0)
        printf("%-54s %14s\n", "subsets of the samples",
               text_of_bytes((double)bytes_of_subsets(s)).text);
    if (limit > 0)
        printf("%-54s %14s\n", "allowed (--max-memory)", text_of_bytes((double)limit).text);
    if (limit > 0 && s->bytes > limit)
        printf("The fit would fail with exit code 5: it needs more memory than allowed.\n");
    printf("\nThe files are read once per pass for all responses, on %" PRId64 " thread%s.\n",
           threads_count(set->threads), plural(threads_count(set->threads)));
}

/* ---- the passes -------------------------------------------------------- */

static int monitor(void *user, const roofs_progress *now)
{
    (void)user;
    (void)now;
    return interrupt_signal() ? ROOFS_MONITOR_STOP : ROOFS_MONITOR_CONTINUE;
}

static roofs_status create_fits(several *s, roofs_error *err)
{
    for (int64_t k = 0; k < s->count; k++) {
        one_fit *f = &s->fits[k];
        roofs_status status = roofs_create_weighted(&f->session.estimator, &f->settings, f->y,
                                                    f->weight, f->n, NULL, err);
        if (status != ROOFS_OK)
            return error_in_file(f->name, status, err);
        roofs_set_monitor(f->session.estimator, monitor, NULL);
        f->reads = 1;
    }
    return ROOFS_OK;
}

static roofs_status consume_block(several *s, one_fit *f, const roofs_block *block, int64_t worker)
{
    roofs_block own = *block;
    if (f->n < block->n)
        TRY(subset_block(&s->subsets[worker], block, f->samples, f->n, block->dtype, &own,
                         &f->err));
    return roofs_consume(f->session.estimator, &own, &f->err);
}

static void consume_job(void *user, int64_t k, int64_t worker)
{
    several *s = user;
    one_fit *f = &s->fits[k];
    for (int64_t j = 0; j < s->chunk.count && f->reads && f->status == ROOFS_OK; j++)
        f->status = consume_block(s, f, &s->chunk.blocks[j], worker);
}

static void finish_job(void *user, int64_t k, int64_t worker)
{
    one_fit *f = &((several *)user)->fits[k];
    (void)worker;
    f->status = roofs_finish(f->session.estimator, &f->err);
}

static void next_pass_job(void *user, int64_t k, int64_t worker)
{
    one_fit *f = &((several *)user)->fits[k];
    (void)worker;
    if (f->reads)
        f->status = roofs_next_pass(f->session.estimator, &f->err);
}

/* Runs the job for all fits. The first response that fails gives the error. */
static roofs_status run_jobs(several *s, void (*job)(void *, int64_t, int64_t), roofs_error *err)
{
    const double start = seconds_now();
    threads_each(job, s, s->count, s->workers);
    s->times.fitting += seconds_now() - start;
    for (int64_t k = 0; k < s->count; k++) {
        if (s->fits[k].status == ROOFS_OK)
            continue;
        const roofs_error why = s->fits[k].err;
        roofs_status status =
            fail(err, why.status, "response \"%.80s\": %s", s->fits[k].name, why.text);
        err->feature = why.feature;
        return status;
    }
    return ROOFS_OK;
}

static roofs_status read_next(several *s, prefetch *reader, roofs_block *block, roofs_error *err)
{
    const double start = seconds_now();
    roofs_status status = reader
                              ? prefetch_wait(reader, block, err)
                              : source_next(s->q->shared->source, s->q->settings.batch, block, err);
    s->times.reading += seconds_now() - start;
    if (status == ROOFS_OK && interrupt_signal())
        return fail(err, ROOFS_CANCELLED, "interrupted");
    return status;
}

/* All fits take the blocks of the chunk in. */
static roofs_status consume_chunk(several *s, roofs_error *err)
{
    TRY(run_jobs(s, consume_job, err));
    chunk_clear(&s->chunk);
    progress_show(&s->bar, s->features, "several responses");
    return ROOFS_OK;
}

/* A fit takes several blocks in before the next fit begins: then its features are in the cache. */
static roofs_status read_pass(several *s, roofs_error *err)
{
    prefetch *reader = NULL;
    roofs_block block = {0};
    roofs_status status = ROOFS_OK;
    if (s->q->shared->out.prefetch) {
        TRY(prefetch_begin(&reader, s->q->shared->source, s->q->settings.batch, err));
        prefetch_read(reader);
    }
    do {
        status = read_next(s, reader, &block, err);
        if (status != ROOFS_OK || block.count == 0)
            break;
        if (reader)
            prefetch_read(reader);
        s->features += block.count;
        status = chunk_add(&s->chunk, &block, err);
        if (status == ROOFS_OK && s->chunk.bytes >= CHUNK_BYTES)
            status = consume_chunk(s, err);
    } while (status == ROOFS_OK);
    prefetch_end(reader);
    return status == ROOFS_OK ? consume_chunk(s, err) : status;
}

/* *readers = the number of fits that another pass can improve. */
static roofs_status begin_next_pass(several *s, int64_t *readers, roofs_error *err)
{
    fit_session *shared = s->q->shared;
    const int can = s->q->settings.passes > 0 || fit_session_can_reread(shared);
    *readers = 0;
    for (int64_t k = 0; k < s->count; k++) {
        one_fit *f = &s->fits[k];
        f->reads = f->reads && can && roofs_wants_pass(f->session.estimator);
        *readers += f->reads;
    }
    if (*readers == 0)
        return ROOFS_OK;
    TRY(run_jobs(s, next_pass_job, err));
    source_close(shared->source);
    shared->source = NULL;
    s->bar.total += s->bar.total > 0 ? s->stream : 0;
    return fit_session_open(shared, s->q->y.n, &shared->source, err);
}

static roofs_status fit_passes(several *s, roofs_error *err)
{
    int64_t readers = s->count;
    TRY(create_fits(s, err));
    while (readers > 0) {
        TRY(read_pass(s, err));
        if (s->passes++ == 0) {
            s->stream = s->features;
            s->missing = source_missing(s->q->shared->source);
            s->variants = source_genotype_counts(s->q->shared->source);
            fit_session_print_notes(s->q->shared);
        }
        TRY(begin_next_pass(s, &readers, err));
    }
    return run_jobs(s, finish_job, err);
}

/* ---- models and summary ------------------------------------------------ */

static roofs_status write_models(several *s, roofs_error *err)
{
    source *stream = s->q->shared->source;
    for (int64_t k = 0; k < s->count; k++) {
        one_fit *f = &s->fits[k];
        f->session.source = stream;
        f->session.base = source_base(stream);
        f->session.genotypes.consumed = s->variants;
        roofs_status status = fit_session_create_model(&f->session, err);
        f->session.source = NULL;
        roofs_destroy(f->session.estimator);
        f->session.estimator = NULL;
        if (status == ROOFS_OK && f->path)
            status = roofs_model_write(f->session.model, f->path, err);
        TRY(status);
    }
    return ROOFS_OK;
}

static fit_facts facts_of(const several *s, const one_fit *f)
{
    return (fit_facts){.times = s->times,
                       .missing = s->missing,
                       .passes = f->session.passes_made,
                       .exchanged = exchanged_json(&f->session.exchanged),
                       .peak = fit_peak_bytes()};
}

static int print_as_json(const several *s)
{
    json_t *list = json_array();
    for (int64_t k = 0; k < s->count; k++) {
        const one_fit *f = &s->fits[k];
        const fit_facts facts = facts_of(s, f);
        roofs_result result;
        roofs_model_view(f->session.model, &result);
        json_t *object = json_fit(&result, &facts);
        json_object_set_new(object, "name", json_string(f->name));
        if (f->path)
            json_object_set_new(object, "model", json_string(f->path));
        json_object_del(object, "fit_seconds"); /* the fits share the time and the memory */
        json_object_del(object, "read_seconds");
        json_object_del(object, "peak_bytes");
        json_array_append_new(list, object);
    }
    return print_json(json_pack("{s:o, s:I, s:o, s:o, s:I}", "responses", list, "passes",
                                (json_int_t)s->passes, "fit_seconds", json_number(s->times.fitting),
                                "read_seconds", json_number(s->times.reading), "peak_bytes",
                                (json_int_t)fit_peak_bytes()));
}

static void print_line(const one_fit *f)
{
    roofs_result r;
    roofs_model_view(f->session.model, &r);
    print_clean(stderr, f->name, 24);
    fprintf(stderr, "%*s %9s %9s %9s %8s  ", (int)fmax(0, 24 - text_columns(f->name)), "",
            text_of_count(r.n).text, text_of_count(r.trusted).text,
            text_of_count(selected_features(&r)).text,
            r.groups_known ? text_of_count(groups_found(&r)).text : "-");
    print_clean(stderr, f->path ? f->path : "", 60);
    fputc('\n', stderr);
}

static void print_summary(const several *s)
{
    fprintf(stderr, "%-24s %9s %9s %9s %8s  %s\n", "response", "samples", "trusted", "selected",
            "groups", "model");
    for (int64_t k = 0; k < s->count; k++)
        print_line(&s->fits[k]);
    fprintf(stderr, "%s features read in %s pass%s for all responses: %s fitting, %s reading\n",
            text_of_count(s->stream).text, text_of_count(s->passes).text,
            s->passes == 1 ? "" : "es", text_of_seconds(s->times.fitting).text,
            text_of_seconds(s->times.reading).text);
}

/* Every warning once, with the first response that has it. */
static void print_warnings(const several *s)
{
    int64_t printed = 0;
    for (int64_t k = 0; k < s->count; k++) {
        roofs_result r;
        roofs_model_view(s->fits[k].session.model, &r);
        if (r.warnings & ~printed)
            complain(NULL, "of the response \"%.80s\":", s->fits[k].name);
        fit_print_warnings(r.warnings & ~printed);
        printed |= r.warnings;
    }
}

static roofs_status fit_and_write(several *s, roofs_error *err)
{
    const fit_session *shared = s->q->shared;
    const int64_t features = source_features(shared->source);
    TRY(prepare(s, err));
    if (s->q->explain) {
        explain(s);
        return ROOFS_OK;
    }
    TRY(limit_memory(s, err));
    progress_begin(&s->bar, "fit", features, shared->out.quiet);
    roofs_status status = fit_passes(s, err);
    progress_end(&s->bar);
    return status == ROOFS_OK ? write_models(s, err) : status;
}

int several_fit(const several_question *q, roofs_error *err)
{
    several s = {.q = q};
    int code = EXIT_FINE;
    roofs_status status = fit_and_write(&s, err);
    if (status != ROOFS_OK)
        code = fit_session_fail(q->shared, status, err);
    else if (!q->explain && q->shared->out.json)
        code = print_as_json(&s);
    else if (!q->explain && !q->shared->out.quiet)
        print_summary(&s);
    if (status == ROOFS_OK && !q->explain && !q->shared->out.quiet)
        print_warnings(&s);
    free_several(&s);
    return code;
}
