#include "cli/fit_report.h"

#include "base/memory.h"
#include "base/threads.h"
#include "cli/groups.h"
#include "cli/print.h"
#include "cli/top.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>
#include <sys/resource.h>

/* VmHWM is the peak of this program. ru_maxrss may be that of the program that started it: exec
 * passes it on. */
int64_t fit_peak_bytes(void)
{
    char line[256];
    long long kib = 0;
    FILE *status = fopen("/proc/self/status", "r");
    while (status && kib == 0 && fgets(line, sizeof line, status))
        sscanf(line, "VmHWM: %lld kB", &kib);
    if (status)
        fclose(status);
    struct rusage used;
    if (kib == 0 && getrusage(RUSAGE_SELF, &used) == 0)
        kib = used.ru_maxrss;
    return 1024 * (int64_t)kib;
}

json_t *json_warnings(int64_t flags)
{
    const char *word;
    json_t *list = json_array();
    for (int64_t k = 0; (word = roofs_warning_name(k)) != NULL; k++)
        if (flags & (int64_t)1 << k)
            json_array_append_new(list, json_string(word));
    return list;
}

void fit_print_warnings(int64_t flags)
{
    const char *text;
    for (int64_t k = 0; (text = roofs_warning_text(k)) != NULL; k++)
        if (flags & (int64_t)1 << k)
            complain(NULL, "warning: %s", text);
}

void fit_warn_if_nothing_matters(const roofs_result *r)
{
    if (r->features_seen > 0 && selected_features(r) == 0)
        complain(NULL,
                 "warning: no feature is likely to matter; predictions are little better than "
                 "a constant. See whether the response is the right column and its samples are "
                 "in the order of the features");
}

json_t *json_orders(const roofs_result *r)
{
    if (r->orders == 0)
        return NULL;
    return json_pack("{s:I, s:o, s:o}", "count", (json_int_t)r->orders, "jaccard",
                     json_number(r->jaccard), "change", json_number(r->change));
}

/* NULL if groups were not searched for. */
static json_t *json_if_known(const roofs_result *r, int64_t count)
{
    return r->groups_known ? json_integer(count) : NULL;
}

json_t *json_fit(const roofs_result *r, const fit_facts *facts)
{
    const missing_count *missing = &facts->missing;
    const char *chosen = r->hypotheses > 0 ? roofs_hypothesis_text(r->hypothesis) : NULL;
    return json_pack(
        "{s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:o, s:o, s:I, s:s, s:o, s:s*, s:o*, s:o*, "
        "s:o*, s:o*, s:o*}",
        "n", (json_int_t)r->n, "features_seen", (json_int_t)r->features_seen, "selected",
        (json_int_t)selected_features(r), "kept", (json_int_t)r->selected, "trusted",
        (json_int_t)r->trusted, "passes", (json_int_t)facts->passes, "rounds",
        (json_int_t)r->rounds, "missing_values", (json_int_t)missing->values, "missing_features",
        (json_int_t)missing->features, "fit_seconds", json_number(facts->times.fitting),
        "read_seconds", json_number(facts->times.reading), "peak_bytes", (json_int_t)facts->peak,
        "stop", roofs_stop_text(r->stop), "warnings", json_warnings(r->warnings), "hypothesis",
        chosen, "orders", json_orders(r), "groups_found", json_if_known(r, groups_found(r)),
        "groups_incomplete", json_if_known(r, groups_incomplete(r)), "profile", facts->profile,
        "exchanged", facts->exchanged);
}

int fit_print_json(const roofs_result *r, const fit_facts *facts)
{
    return print_json(json_fit(r, facts));
}

static void print_largest(const roofs_result *r)
{
    enum { SHOWN = 5 };
    int64_t top[SHOWN];
    int64_t count = top_features(r, SHOWN, top);
    for (int64_t k = 0; k < count; k++) {
        const roofs_feature *f = &r->features[top[k]];
        fputs(k == 0 ? "largest    " : "           ", stderr);
        print_feature(stderr, f, 24);
        fprintf(stderr, " %+.6g", f->coef);
        if (r->scale)
            fprintf(stderr, "  effect %s", text_of_real(feature_effect(r, top[k])).text);
        if (r->orders > 0)
            fprintf(stderr, "  in %s of the orders", text_of_share(r->frequency[top[k]], 1).text);
        fputc('\n', stderr);
    }
}

static const char *stop_words(roofs_stop stop)
{
    switch (stop) {
    case ROOFS_STOP_SETTLED:
        return "settled";
    case ROOFS_STOP_MAX_ITER:
        return "all rounds were used before the fit settled (see --max-iter, --tol)";
    case ROOFS_STOP_EMPTY:
        return "no feature varies: the model is a constant";
    }
    return roofs_stop_text(stop);
}

void fit_print_counts(FILE *file, const roofs_result *r)
{
    fprintf(file, "samples    %s, %s trusted (%s)\n", text_of_count(r->n).text,
            text_of_count(r->trusted).text, text_of_share((double)r->trusted, (double)r->n).text);
    fprintf(file, "features   %s seen, ", text_of_count(r->features_seen).text);
    if (r->fdr > 0)
        fprintf(file, "%s in the groups found, %s of them",
                text_of_count(features_in_groups(r)).text,
                text_of_count(selected_features(r)).text);
    else
        fprintf(file, "%s selected", text_of_count(selected_features(r)).text);
    if (r->by_probability)
        fprintf(file, r->fdr > 0 ? " among the %s kept" : " of %s kept",
                text_of_count(r->selected).text);
    else if (r->clean)
        fprintf(file, " (%s likely to matter)", text_of_count(likely_features(r)).text);
    if (r->constant > 0)
        fprintf(file, ", %s constant", text_of_count(r->constant).text);
}

void fit_print_hypothesis(FILE *file, const roofs_result *r)
{
    if (r->hypotheses > 1)
        fprintf(file, "start      %s, the best of %s hypotheses of the clean samples\n",
                roofs_hypothesis_text(r->hypothesis), text_of_count(r->hypotheses).text);
}

void fit_print_orders(FILE *file, const roofs_result *r)
{
    if (r->orders == 0)
        return;
    fprintf(file,
            "orders     %s compared: selections agree by %s (mean Jaccard), predictions change by "
            "at most %.3g of the noise\n",
            text_of_count(r->orders).text, text_of_share(r->jaccard, 1).text, r->change);
}

void fit_print_summary(const roofs_result *r, const fit_facts *facts)
{
    const missing_count *missing = &facts->missing;
    fit_print_counts(stderr, r);
    if (missing->values > 0)
        fprintf(stderr, "\nmissing    %s %s in %s %s", text_of_count(missing->values).text,
                missing->values == 1 ? "value" : "values", text_of_count(missing->features).text,
                missing->features == 1 ? "feature" : "features");
    fprintf(stderr, "\nrounds     %s in %s %s", text_of_count(r->rounds).text,
            text_of_count(r->batches).text, r->batches == 1 ? "batch" : "batches");
    if (facts->passes > 1)
        fprintf(stderr, " of %s passes", text_of_count(facts->passes).text);
    fputc('\n', stderr);
    fit_print_hypothesis(stderr, r);
    fprintf(stderr, "time       %s fitting, %s reading\n",
            text_of_seconds(facts->times.fitting).text, text_of_seconds(facts->times.reading).text);
    fit_print_orders(stderr, r);
    print_group_counts(stderr, r);
    print_largest(r);
    fprintf(stderr, "stop       %s\n", stop_words(r->stop));
}

/* ---- --explain --------------------------------------------------------- */

static void explain_line(const char *what, const char *formula, double bytes)
{
    printf("%-22s %-40s %12s\n", what, formula, text_of_bytes(bytes).text);
}

static void explain_limit(int64_t limit, int64_t need)
{
    if (limit == 0) {
        printf("%-22s %s\n", "allowed", "no limit is set (--max-memory)");
        return;
    }
    explain_line("allowed", "--max-memory", (double)limit);
    if (need > limit)
        printf("The fit would fail with exit code 5: it needs more memory than allowed.\n");
}

/* Bytes of one feature: in the fit, and in the buffer it is read into. */
typedef struct feature_bytes {
    char value[64], values[64]; /* texts: bytes of one value, values of a feature */
    int64_t stored, buffered;
} feature_bytes;

static feature_bytes bytes_of_feature(int64_t n, roofs_dtype storage, int64_t filled)
{
    static const char *const types[] = {"f64", "f32", "i8", "u8", "2 bits"};
    const char *type = types[storage];
    const int64_t value = dtype_size(storage);
    feature_bytes b = {.stored = dtype_bytes(storage, n), .buffered = dtype_bytes(storage, n)};
    if (filled > 0) { /* samples are 32-bit in the fit and 64-bit in the buffer */
        b.stored = memory_bytes(filled, value + 4);
        b.buffered = memory_bytes(filled, value + 8);
        snprintf(b.value, sizeof b.value, "%" PRId64 " bytes (%s, sparse)", value + 4, type);
        snprintf(b.values, sizeof b.values, "%s values", text_of_count(filled).text);
    } else {
        snprintf(b.value, sizeof b.value, "%" PRId64 " byte%s (%s)", value, value > 1 ? "s" : "",
                 type);
        snprintf(b.values, sizeof b.values, "n values");
    }
    if (storage == ROOFS_2BIT)
        snprintf(b.value, sizeof b.value, "%s", type);
    return b;
}

/* "4 * " for four hypotheses side by side, "" for one. */
static short_text text_of_hypotheses(int64_t hypotheses)
{
    short_text t = {""};
    if (hypotheses > 1)
        snprintf(t.text, sizeof t.text, "%" PRId64 " * ", hypotheses);
    return t;
}

/* The features that a fit holds between batches, as a formula: mu with the reserve, or the two
 * batches that several hypotheses hold at least. */
static const char *text_of_held(const roofs_settings *s)
{
    if (roofs_features_held(s) > llround((double)s->mu * (1 + s->reserve)))
        return "2 batch";
    return s->reserve > 0 ? "mu (1 + reserve)" : "mu";
}

/* A GPU stores all features dense. */
static void explain_device(const roofs_settings *s, int64_t n, roofs_dtype storage,
                           int64_t hypotheses, int64_t on_device)
{
    const int64_t each = memory_bytes(n, dtype_size(storage));
    const int64_t held = memory_bytes(memory_bytes(roofs_features_held(s), each), hypotheses);
    char formula[100];
    snprintf(formula, sizeof formula, "%s%s * n values", text_of_hypotheses(hypotheses).text,
             text_of_held(s));
    explain_line("features on the GPU", formula, (double)held);
    explain_line("other data on the GPU", "incoming batches, vectors, lists",
                 (double)(on_device - held));
    snprintf(formula, sizeof formula, "%s bytes", text_of_count(on_device).text);
    explain_line("total on the GPU", formula, (double)on_device);
}

static void explain_host(const roofs_settings *s, const feature_bytes *each, int64_t hypotheses,
                         int64_t estimator, int64_t groups)
{
    const int64_t features = memory_sum(roofs_features_held(s), s->batch);
    const int64_t held = memory_bytes(memory_bytes(features, each->stored), hypotheses);
    char formula[160];
    snprintf(formula, sizeof formula, "%s(%s + batch) * %s", text_of_hypotheses(hypotheses).text,
             text_of_held(s), each->values);
    explain_line("kept and new features", formula, (double)held);
    if (groups > 0)
        explain_line("groups", "pool * mu * n bytes, vectors", (double)groups);
    explain_line("other data", "vectors, joint solutions (roofs-bayes)",
                 (double)(estimator - held - groups));
}

/* `available`: free bytes on the GPU; -1 = this machine has no GPU. */
static void explain_device_limit(int64_t on_device, int64_t available)
{
    if (available < 0) {
        printf("%-22s %s\n", "free on the GPU", "this machine has no usable GPU");
        return;
    }
    explain_line("free on the GPU", "now", (double)available);
    if (on_device > available)
        printf("The fit would fail with exit code 1: the GPU has too little free memory.\n");
}

/* *bytes = what the groups add to the memory of the fit. */
static roofs_status bytes_of_groups(const roofs_settings *s, int64_t n, roofs_dtype storage,
                                    int64_t filled, int64_t with, int64_t *bytes, roofs_error *err)
{
    roofs_settings without = *s;
    without.groups = ROOFS_GROUPS_OFF;
    without.fdr = 0;
    TRY(roofs_memory_needed_sparse(&without, n, storage, filled, bytes, err));
    *bytes = with > *bytes ? with - *bytes : 0;
    return ROOFS_OK;
}

static void explain_threads(int64_t given)
{
    const threads_choice c = threads_choose(given);
    char why[120] = "one per core";
    if (c.reason == THREADS_GIVEN)
        snprintf(why, sizeof why, "--threads");
    if (c.reason == THREADS_AFFINITY)
        snprintf(why, sizeof why, "cores on which the program may run, of %" PRId64, c.cores);
    if (c.reason == THREADS_QUOTA)
        snprintf(why, sizeof why, "CPU quota of the control group: %.2g cores", c.quota);
    if (c.reason == THREADS_OPENMP)
        snprintf(why, sizeof why, "OMP_NUM_THREADS, or another limit of OpenMP");
    printf("%-22s %-46s %6" PRId64 "\n", "threads", why, c.count);
}

roofs_status fit_explain(const roofs_settings *s, int64_t n, roofs_dtype storage, int64_t filled,
                         int prefetch, int64_t tables, roofs_error *err)
{
    int64_t estimator = 0, on_device = 0, available = 0, groups = 0;
    roofs_settings unlimited = *s;
    unlimited.max_memory = 0;
    TRY(roofs_memory_needed_sparse(&unlimited, n, storage, filled, &estimator, err));
    TRY(bytes_of_groups(&unlimited, n, storage, filled, estimator, &groups, err));
    TRY(roofs_memory_on_device(&unlimited, n, storage, &on_device, &available, err));
    if (on_device > 0 && dtype_is_packed(storage)) /* a GPU stores them in 64 bits */
        storage = ROOFS_F64;
    const feature_bytes each = bytes_of_feature(n, storage, filled);
    const int64_t hypotheses = roofs_hypotheses_followed(s);
    char formula[100];
    printf("n = %s samples, mu = %s, batch = %s, one value takes %s\n\n", text_of_count(n).text,
           text_of_count(s->mu).text, text_of_count(s->batch).text,
           on_device > 0 ? bytes_of_feature(n, storage, 0).value : each.value);
    if (on_device > 0) {
        explain_device(s, n, storage, hypotheses, on_device);
        explain_line("on the host", "an incoming batch, vectors, lists",
                     (double)(estimator - on_device));
    } else {
        explain_host(s, &each, hypotheses, estimator, groups);
    }
    snprintf(formula, sizeof formula, "%s bytes", text_of_count(estimator).text);
    explain_line("total of the fit", formula, (double)estimator);
    const int64_t buffers = on_device > 0 || prefetch ? 2 : 1;
    snprintf(formula, sizeof formula, "%sbatch * %s", buffers == 2 ? "2 " : "", each.values);
    explain_line("buffer for reading", formula,
                 (double)memory_bytes(buffers * s->batch, each.buffered));
    if (tables > 0)
        explain_line("tables", "values, IDs; at most 256 MiB of values", (double)tables);
    explain_limit(s->max_memory, estimator);
    if (on_device > 0)
        explain_device_limit(on_device, available);
    explain_threads(s->threads);
    printf("\nThe memory does not grow with the number of features in the stream, except by about "
           "50 bytes\nper name and per batch.%s\n",
           filled == 0     ? ""
           : on_device > 0 ? " The GPU stores sparse features as dense ones."
                           : " This is an estimate from the first batch: kept features may have "
                             "more values.");
    return ROOFS_OK;
}
