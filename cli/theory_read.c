/* The data of a fit, read again for roofs inspect --theory. */
#include "base/block.h"
#include "base/memory.h"
#include "cli/arithmetic.h"
#include "cli/interrupt.h"
#include "cli/theory.h"
#include "stream/response.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

const option_row theory_rows[] = {
    {TEXT(theory_args, y, "y", "FILE"),
     .help = "with --theory: the response of the fit; not needed for LIBSVM files"},
    {REAL(theory_args, corruption, "corruption", "SHARE", 0, 1),
     .help = "with --theory: largest share of corrupt samples; default: that of the samples which "
             "are not trusted"},
    {REAL(theory_args, noise, "noise", "SD", 0, 1e300),
     .help = "with --theory: standard deviation of the noise; default: estimated from the trusted "
             "samples"},
    {TEXT(theory_args, truth, "truth", "DIR"),
     .help = "with --theory: folder of 'roofs simulate'; prints the real error beside the bound"},
    {GROUP(theory_args, in, input_rows)},
    {0},
};

typedef struct theory_reader {
    theory *t;
    const theory_args *args;
    const roofs_model *model;
    const operands *files;
    source *source;
    double *values;                         /* n: one feature */
    int64_t next;                           /* kept feature that comes next */
    void (*other)(struct theory_reader *r); /* gets each feature that is not kept, in `values` */
} theory_reader;

/* ---- the stream -------------------------------------------------------- */

static roofs_status open_source(theory_reader *r, roofs_error *err)
{
    const roofs_result *m = r->t->model;
    source_options options =
        inputs_options(&r->args->in, r->t->response ? m->n : 0, m->features_seen);
    options.rank = options.ranks = 0; /* one rank reads all samples */
    const int32_t base = roofs_model_index_base(r->model);
    if (options.base == INDEX_AUTO && base >= 0)
        options.base = base ? INDEX_FROM_1 : INDEX_FROM_0;
    source_close(r->source);
    r->source = NULL;
    return source_open(&r->source, r->files->values, r->files->count, &options, err);
}

static roofs_status fill_values(theory_reader *r, const roofs_block *feature, int64_t at,
                                roofs_error *err)
{
    const block_range range = block_values(feature, 0);
    memset(r->values, 0, (size_t)r->t->model->n * sizeof *r->values);
    for (int64_t k = 0; k < range.count; k++) {
        const int64_t place = range.first + k * range.step;
        const double value = block_value(feature, place);
        if (!isfinite(value))
            return blame(err, at,
                         fail(err, ROOFS_BAD_DATA,
                              "feature %s: a value is not a finite "
                              "number; use --missing as in the fit",
                              block_label(feature, 0, at).text));
        r->values[block_sample_of(feature, place, k)] = value;
    }
    return ROOFS_OK;
}

static roofs_status check_name(const roofs_feature *kept, const roofs_block *feature, int64_t at,
                               roofs_error *err)
{
    if (!kept->name || !feature->names || strcmp(kept->name, feature->names[0]) == 0)
        return ROOFS_OK;
    return fail(err, ROOFS_BAD_DATA,
                "feature %s of the files is \"%.60s\" in the model; give the files of the fit, in "
                "the same order",
                block_label(feature, 0, at).text, kept->name);
}

/* The column of the intercept comes before those of the features. */
static double *kept_column(const theory *t, int64_t k)
{
    return t->columns + (k + (t->intercept ? 1 : 0)) * t->model->n;
}

static roofs_status take_feature(theory_reader *r, const roofs_block *feature, int64_t at,
                                 roofs_error *err)
{
    theory *t = r->t;
    const roofs_result *m = t->model;
    const int is_kept = r->next < m->selected && m->features[r->next].index == at;
    if (!is_kept && !r->other)
        return ROOFS_OK;
    if (is_kept && r->other) {
        r->next++;
        return ROOFS_OK;
    }
    TRY(fill_values(r, feature, at, err));
    if (!is_kept) {
        r->other(r);
        return ROOFS_OK;
    }
    TRY(check_name(&m->features[r->next], feature, at, err));
    memcpy(kept_column(t, r->next++), r->values, (size_t)m->n * sizeof *r->values);
    return ROOFS_OK;
}

/* Reads the whole stream, from its first feature. */
static roofs_status scan_features(theory_reader *r, roofs_error *err)
{
    enum { TOGETHER = 16 };
    int64_t at = 0;
    for (r->next = 0;;) {
        roofs_block block = {0};
        TRY(source_next(r->source, TOGETHER, &block, err));
        if (interrupt_signal())
            return fail(err, ROOFS_CANCELLED, "interrupted");
        if (block.count == 0)
            break;
        for (int64_t k = 0; k < block.count; k++, at++) {
            const roofs_block feature = block_feature(&block, k);
            TRY(take_feature(r, &feature, at, err));
        }
    }
    if (at == r->t->model->features_seen)
        return ROOFS_OK;
    return fail(err, ROOFS_BAD_DATA,
                "the files have %" PRId64 " features, but the model was fitted on %" PRId64
                "; give the files of the fit",
                at, r->t->model->features_seen);
}

/* ---- response and residual --------------------------------------------- */

static roofs_status read_response(theory_reader *r, roofs_error *err)
{
    int64_t n = 0;
    if (r->args->y) {
        TRY(response_read(r->args->y, &r->t->response, &n, err));
        TRY(n == r->t->model->n ? open_source(r, err) : ROOFS_OK);
    } else {
        TRY(open_source(r, err));
        const double *labels = source_labels(r->source);
        if (!labels)
            return fail(err, ROOFS_BAD_DATA, "the files have no response; give it with --y");
        n = source_samples(r->source);
        TRY(memory_get(&r->t->response, n, sizeof(double), "the response", err));
        memcpy(r->t->response, labels, (size_t)n * sizeof(double));
    }
    if (n == r->t->model->n)
        return ROOFS_OK;
    return fail(err, ROOFS_BAD_DATA,
                "the response has %" PRId64 " samples, but the model was fitted on %" PRId64
                "; give the response of the fit",
                n, r->t->model->n);
}

static roofs_status find_residual(theory *t, roofs_error *err)
{
    const double tolerance = 1e-3; /* the fit may have stored the features as 32-bit floats */
    const roofs_result *m = t->model;
    double cut = 0, size = 0;
    for (int64_t i = 0; i < m->n; i++)
        t->residual[i] = t->response[i] - m->intercept;
    for (int64_t k = 0; k < m->selected; k++)
        for (int64_t i = 0; i < m->n; i++)
            t->residual[i] -= m->features[k].coef * kept_column(t, k)[i];
    for (int64_t i = 0; i < m->n; i++)
        if (m->trust[i]) {
            cut = fmax(cut, fabs(t->residual[i]));
            size = fmax(size, fabs(t->response[i] - m->intercept));
        }
    if (fabs(cut - m->cut) <= tolerance * fmax(size, m->cut))
        return ROOFS_OK;
    return fail(err, ROOFS_BAD_DATA,
                "the largest residual of the trusted samples is %.6g, but the model has %.6g; give "
                "the features and the response of the fit",
                cut, m->cut);
}

/* ---- the gradient of other features ------------------------------------ */

/* The feature minus its mean, on the trusted samples; 0 elsewhere. */
static void centre_values(const theory *t, double *x)
{
    const roofs_result *m = t->model;
    double mean = 0;
    for (int64_t i = 0; i < m->n; i++)
        if (m->trust[i])
            mean += x[i] / (double)m->trusted;
    for (int64_t i = 0; i < m->n; i++)
        x[i] = m->trust[i] ? x[i] - (t->intercept ? mean : 0) : 0;
}

static int varies(const theory *t, const double *x)
{
    const roofs_result *m = t->model;
    int64_t first = 0;
    while (first < m->n && !m->trust[first])
        first++;
    for (int64_t i = first; i < m->n; i++)
        if (m->trust[i] && x[i] != x[first])
            return 1;
    return 0;
}

static void record_gradient(theory_reader *r)
{
    theory *t = r->t;
    const int64_t n = t->model->n;
    if ((t->intercept || t->standardize) && !varies(t, r->values))
        return; /* the fit leaves constant features out */
    centre_values(t, r->values);
    double gradient = fabs(dot_product(r->values, t->residual, n));
    if (t->standardize)
        gradient /= sqrt(dot_product(r->values, r->values, n) / (double)t->model->trusted);
    t->other_gradient = fmax(t->other_gradient, gradient);
}

/* ---- all --------------------------------------------------------------- */

static int setting_flag(const roofs_model *model, const char *name)
{
    char text[40];
    const char *value = roofs_model_setting(model, name, text, sizeof text);
    return !value || atoi(value) != 0;
}

static roofs_status read_all(theory_reader *r, roofs_error *err)
{
    theory *t = r->t;
    const roofs_result *m = t->model;
    TRY(read_response(r, err));
    TRY(memory_get(&t->residual, m->n, sizeof *t->residual, "the residuals", err));
    TRY(memory_get(&r->values, m->n, sizeof *r->values, "a feature", err));
    TRY(memory_get(&t->columns, memory_bytes(m->selected + 1, m->n), sizeof *t->columns,
                   "the kept features", err));
    TRY(scan_features(r, err));
    TRY(find_residual(t, err));
    if (strcmp(m->method, "roofs") != 0)
        return ROOFS_OK; /* only the theorem for this method needs the other features */
    r->other = record_gradient;
    TRY(open_source(r, err));
    return scan_features(r, err);
}

roofs_status theory_read(theory *t, const theory_args *args, const roofs_model *model,
                         const operands *files, roofs_error *err)
{
    const roofs_result *m = t->model;
    theory_reader r = {.t = t, .args = args, .model = model, .files = files};
    t->intercept = setting_flag(model, "intercept");
    t->standardize = setting_flag(model, "standardize");
    t->corrupt_is_given = args->corruption >= 0;
    t->sigma_is_given = args->noise >= 0;
    t->corrupt = t->corrupt_is_given ? (int64_t)ceil(args->corruption * (double)m->n - 1e-9)
                                     : m->n - m->trusted;
    t->sigma = args->noise;
    roofs_status status = read_all(&r, err);
    if (status == ROOFS_OK && args->truth)
        status = truth_read(&t->truth, args->truth, m, err);
    if (status != ROOFS_OK && r.source && err->feature >= 0) {
        roofs_error reason = *err;
        fail(err, status, "%s: %s", source_file_of(r.source, reason.feature), reason.text);
    }
    source_close(r.source);
    memory_free(r.values);
    return status;
}
