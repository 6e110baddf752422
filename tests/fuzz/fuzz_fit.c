/* Fits of tiny problems made from the input, every method, dense and sparse: the answer is
 * finite and keeps its promises, and how the stream is cut into blocks does not change a bit
 * of it. That the answer is right is checked against the references (differential.py). */
#include "tests/fuzz/fuzz.h"

#include <math.h>

enum { MOST_SAMPLES = 12, MOST_FEATURES = 10 };

typedef struct problem {
    roofs_settings settings;
    int64_t n, p;
    int sparse;
    double y[MOST_SAMPLES], x[MOST_FEATURES][MOST_SAMPLES];
} problem;

/* Few different numbers, so that equal ones meet; now and then one of another size. */
static double number(input *in)
{
    static const double odd[] = {0, -0.0, 1e-310, 1e-160, 1e-30, 1e-9, 1e9, 1e30, 1e100, 1e150};
    unsigned byte = take(in);
    if (byte < 200)
        return ((double)byte - 100) / 8;
    return byte < 240 ? 0 : odd[(byte - 240) % 10];
}

static void make_problem(input *in, problem *p)
{
    unsigned kind = take(in), more = take(in);
    roofs_settings *s = &p->settings;
    int64_t methods = 0;
    while (roofs_method_name(methods))
        methods++;
    roofs_settings_init(s);
    p->n = 4 + take(in) % (MOST_SAMPLES - 3);
    p->p = 1 + take(in) % MOST_FEATURES;
    p->sparse = kind & 1;
    s->mu = 1 + (kind >> 1) % 5;
    s->method = roofs_method_name((int64_t)(kind >> 4) % methods);
    s->batch = 1 + take(in) % 5;
    s->intercept = more & 1;
    s->standardize = more >> 1 & 1;
    s->passes = 1 + (more >> 2 & 1);
    s->reading = more >> 3 & 1 ? ROOFS_READING_JOINT : ROOFS_READING_ALONE;
    s->storage = more >> 4 & 1 ? ROOFS_STORAGE_F32 : ROOFS_STORAGE_F64;
    s->clean_ratio = (more >> 5 & 3) * 0.3;
    s->reserve = more >> 7 & 1;
    s->threads = 1;
    for (int64_t i = 0; i < p->n; i++)
        p->y[i] = number(in);
    for (int64_t j = 0; j < p->p; j++)
        for (int64_t i = 0; i < p->n; i++)
            p->x[j][i] = number(in);
}

/* ---- one fit ----------------------------------------------------------- */

static roofs_status consume(roofs_estimator *e, const problem *p, int64_t first, int64_t count,
                            roofs_error *err)
{
    double values[MOST_FEATURES * MOST_SAMPLES];
    int64_t starts[MOST_FEATURES + 1] = {0}, samples[MOST_FEATURES * MOST_SAMPLES], at = 0;
    roofs_block block = {.count = count,
                         .n = p->n,
                         .values = p->x[first],
                         .feature_stride = MOST_SAMPLES,
                         .sample_stride = 1};
    for (int64_t k = 0; k < count; k++) {
        for (int64_t i = 0; i < p->n; i++)
            if (p->x[first + k][i] != 0) {
                samples[at] = i;
                values[at++] = p->x[first + k][i];
            }
        starts[k + 1] = at;
    }
    if (p->sparse) {
        block.values = values;
        block.starts = starts;
        block.samples = samples;
    }
    return roofs_consume(e, &block, err);
}

/* `together` features per block; a batch never straddles blocks where it is a multiple. */
static roofs_status fit(const problem *p, int64_t together, roofs_estimator **e, roofs_error *err)
{
    TRY(roofs_create(e, &p->settings, p->y, p->n, err));
    for (int64_t pass = 0; pass < p->settings.passes; pass++) {
        if (pass > 0)
            TRY(roofs_next_pass(*e, err));
        for (int64_t first = 0; first < p->p; first += together)
            TRY(consume(*e, p, first, first + together < p->p ? together : p->p - first, err));
    }
    return roofs_finish(*e, err);
}

static void check_result(const problem *p, const roofs_result *r)
{
    int64_t trusted = 0;
    MUST(r->selected <= p->settings.mu, "%lld features", (long long)r->selected);
    MUST(isfinite(r->intercept), "intercept %g", r->intercept);
    for (int64_t k = 0; k < r->selected; k++) {
        const roofs_feature *f = &r->features[k];
        MUST(isfinite(f->coef), "coefficient %g", f->coef);
        MUST(f->index >= 0 && f->index < p->p, "feature %lld", (long long)f->index);
        MUST(k == 0 || f->index > f[-1].index, "features out of order");
        MUST(isnan(f->probability) || (f->probability >= 0 && f->probability <= 1),
             "probability %g", f->probability);
    }
    for (int64_t i = 0; i < p->n; i++) {
        trusted += r->trust[i];
        MUST(isfinite(r->residual[i]), "residual %g", r->residual[i]);
        MUST(!r->clean || (r->clean[i] >= 0 && r->clean[i] <= 1), "clean %g", r->clean[i]);
    }
    MUST(trusted == r->trusted, "%lld trusted, not %lld", (long long)trusted,
         (long long)r->trusted);
}

static void must_be_same(const roofs_result *a, const roofs_result *b)
{
    MUST(a->selected == b->selected && a->trusted == b->trusted && a->rounds == b->rounds,
         "another answer");
    for (int64_t k = 0; k < a->selected; k++)
        MUST(a->features[k].index == b->features[k].index &&
                 memcmp(&a->features[k].coef, &b->features[k].coef, sizeof(double)) == 0,
             "coefficient %lld", (long long)k);
    MUST(memcmp(&a->intercept, &b->intercept, sizeof(double)) == 0, "intercept");
    MUST(memcmp(a->residual, b->residual, (size_t)a->n * sizeof(double)) == 0, "residuals");
    MUST(memcmp(a->trust, b->trust, (size_t)a->n) == 0, "trust");
}

int LLVMFuzzerTestOneInput(const unsigned char *data, size_t size)
{
    static problem p;
    input in = {data, data + size};
    roofs_error err = {0}, again = {0};
    roofs_estimator *one = NULL, *other = NULL;
    roofs_result a, b;
    make_problem(&in, &p);
    roofs_status status = fit(&p, p.settings.batch, &one, &err);
    roofs_status second = fit(&p, 2 * p.settings.batch, &other, &again);
    MUST(status == second, "'%s' and '%s'", err.text, again.text);
    MUST(!status || status == ROOFS_BAD_DATA || status == ROOFS_BAD_SETTING, "%s", err.text);
    MUST(!status || err.text[0], "no reason");
    if (!status && !roofs_view(one, &a, &err) && !roofs_view(other, &b, &err)) {
        check_result(&p, &a);
        must_be_same(&a, &b);
    }
    roofs_destroy(one);
    roofs_destroy(other);
    return 0;
}
