#include "cli/fit_report.h"

#include "base/memory.h"
#include "cli/print.h"
#include "cli/top.h"

#include <inttypes.h>
#include <string.h>
#include <sys/resource.h>

/* The kernel hands ru_maxrss of the parent on through exec: a program started
 * from a large one would claim its memory. VmHWM is our own. */
static int64_t peak_bytes(void)
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

int fit_print_json(const roofs_result *r, const fit_times *times, const missing_count *missing)
{
    return print_json(json_pack(
        "{s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:o, s:o, s:I, s:s}", "n", (json_int_t)r->n,
        "features_seen", (json_int_t)r->features_seen, "selected", (json_int_t)r->selected,
        "trusted", (json_int_t)r->trusted, "rounds", (json_int_t)r->rounds, "missing_values",
        (json_int_t)missing->values, "missing_features", (json_int_t)missing->features,
        "fit_seconds", json_number(times->fitting), "read_seconds", json_number(times->reading),
        "peak_bytes", (json_int_t)peak_bytes(), "stop", roofs_stop_text(r->stop)));
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
        fprintf(stderr, " %+.6g\n", f->coef);
    }
}

static const char *stop_words(roofs_stop stop)
{
    switch (stop) {
    case ROOFS_STOP_SETTLED:
        return "every batch settled";
    case ROOFS_STOP_MAX_ITER:
        return "at least one batch used all its rounds without settling (see --max-iter, --tol)";
    case ROOFS_STOP_EMPTY:
        return "no feature arrived that varies: the model is a constant";
    }
    return roofs_stop_text(stop);
}

/* Fewer than 60% trusted samples may be the wrong majority. */
static void warn_of_few(const roofs_result *r)
{
    if ((double)r->trusted < 0.6 * (double)r->n)
        fprintf(stderr,
                "warning    only %s of the samples are trusted. Either so many responses are "
                "corrupted, or what\n           they have in common is not what the features "
                "explain: look at 'roofs inspect'.\n",
                text_of_share((double)r->trusted, (double)r->n).text);
}

void fit_print_summary(const roofs_result *r, const fit_times *times, const missing_count *missing)
{
    fprintf(stderr, "samples    %s, %s trusted (%s)\n", text_of_count(r->n).text,
            text_of_count(r->trusted).text, text_of_share((double)r->trusted, (double)r->n).text);
    fprintf(stderr, "features   %s seen, %s selected", text_of_count(r->features_seen).text,
            text_of_count(r->selected).text);
    if (r->clean)
        fprintf(stderr, " (%s likely to matter)", text_of_count(likely_features(r)).text);
    if (r->constant > 0)
        fprintf(stderr, ", %s constant", text_of_count(r->constant).text);
    if (missing->values > 0)
        fprintf(stderr, "\nmissing    %s %s in %s %s", text_of_count(missing->values).text,
                missing->values == 1 ? "value" : "values", text_of_count(missing->features).text,
                missing->features == 1 ? "feature" : "features");
    fprintf(stderr, "\nrounds     %s in %s %s\n", text_of_count(r->rounds).text,
            text_of_count(r->batches).text, r->batches == 1 ? "batch" : "batches");
    fprintf(stderr, "time       %s fitting, %s reading\n", text_of_seconds(times->fitting).text,
            text_of_seconds(times->reading).text);
    print_largest(r);
    fprintf(stderr, "stop       %s\n", stop_words(r->stop));
    warn_of_few(r);
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
        printf("This fit would be refused with exit code 5.\n");
}

/* Bytes of one feature: in the fit, and in the buffer it is read into. */
typedef struct feature_bytes {
    char value[64], values[64]; /* texts: bytes of one value, values of a feature */
    int64_t stored, buffered;
} feature_bytes;

static feature_bytes bytes_of_feature(int64_t n, roofs_dtype storage, int64_t filled)
{
    const int64_t value = dtype_size(storage);
    const char *type = storage == ROOFS_F32 ? "f32" : "f64";
    feature_bytes b = {.stored = memory_bytes(n, value), .buffered = memory_bytes(n, value)};
    if (filled > 0) { /* samples are 32-bit in the fit and 64-bit in the buffer */
        b.stored = memory_bytes(filled, value + 4);
        b.buffered = memory_bytes(filled, value + 8);
        snprintf(b.value, sizeof b.value, "%" PRId64 " bytes (%s, sparse)", value + 4, type);
        snprintf(b.values, sizeof b.values, "%s values", text_of_count(filled).text);
    } else {
        snprintf(b.value, sizeof b.value, "%" PRId64 " bytes (%s)", value, type);
        snprintf(b.values, sizeof b.values, "n values");
    }
    return b;
}

/* A GPU stores all features dense. */
static void explain_device(const roofs_settings *s, int64_t n, roofs_dtype storage,
                           int64_t on_device)
{
    const int64_t held = memory_bytes(roofs_features_held(s), memory_bytes(n, dtype_size(storage)));
    char formula[100];
    explain_line("features on the GPU",
                 s->reserve > 0 ? "mu (1 + reserve) * n values" : "mu * n values", (double)held);
    explain_line("the rest on the GPU", "batches on their way, vectors, lists",
                 (double)(on_device - held));
    snprintf(formula, sizeof formula, "%s bytes", text_of_count(on_device).text);
    explain_line("on the GPU in all", formula, (double)on_device);
}

static void explain_host(const roofs_settings *s, const feature_bytes *each, int64_t estimator)
{
    const int64_t features = memory_sum(roofs_features_held(s), s->batch);
    const int64_t held = memory_bytes(features, each->stored);
    char formula[100];
    snprintf(formula, sizeof formula, "(mu%s + batch) * %s", s->reserve > 0 ? " (1 + reserve)" : "",
             each->values);
    explain_line("kept and new features", formula, (double)held);
    explain_line("the rest of the fit", "vectors of length n, mu or batch",
                 (double)(estimator - held));
}

/* `left`: bytes free on the GPU; -1 = this machine has none. */
static void explain_device_limit(int64_t on_device, int64_t left)
{
    if (left < 0) {
        printf("%-22s %s\n", "free on the GPU", "there is none here that can be used");
        return;
    }
    explain_line("free on the GPU", "now", (double)left);
    if (on_device > left)
        printf("This fit would be refused with exit code 1: the GPU has no room for it.\n");
}

roofs_status fit_explain(const roofs_settings *s, int64_t n, roofs_dtype storage, int64_t filled,
                         int prefetch, roofs_error *err)
{
    int64_t estimator = 0, on_device = 0, left = 0;
    roofs_settings unlimited = *s;
    unlimited.max_memory = 0;
    TRY(roofs_memory_needed_sparse(&unlimited, n, storage, filled, &estimator, err));
    TRY(roofs_memory_on_device(&unlimited, n, storage, &on_device, &left, err));
    const feature_bytes each = bytes_of_feature(n, storage, filled);
    char formula[100];
    printf("n = %s samples, mu = %s, batch = %s, one value takes %s\n\n", text_of_count(n).text,
           text_of_count(s->mu).text, text_of_count(s->batch).text,
           on_device > 0 ? bytes_of_feature(n, storage, 0).value : each.value);
    if (on_device > 0) {
        explain_device(s, n, storage, on_device);
        explain_line("the rest of the fit", "a batch on its way, vectors, lists",
                     (double)(estimator - on_device));
    } else {
        explain_host(s, &each, estimator);
    }
    snprintf(formula, sizeof formula, "%s bytes", text_of_count(estimator).text);
    explain_line("the fit in all", formula, (double)estimator);
    const int64_t buffers = on_device > 0 || prefetch ? 2 : 1;
    snprintf(formula, sizeof formula, "%sbatch * %s", buffers == 2 ? "2 " : "", each.values);
    explain_line("buffer for reading", formula,
                 (double)memory_bytes(buffers * s->batch, each.buffered));
    explain_limit(s->max_memory, estimator);
    if (on_device > 0)
        explain_device_limit(on_device, left);
    printf("\nNone of it grows with the number of features in the stream, but for about 50 bytes "
           "per name\nand per batch.%s%s\n",
           filled > 0 && on_device == 0
               ? " An estimate, from the first batch: features that are kept may be fuller."
               : "",
           filled > 0 && on_device > 0 ? " Sparse features take the room of dense ones on the GPU."
                                       : "");
    return ROOFS_OK;
}
