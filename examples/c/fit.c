/* A complete fit with roofs.
 *
 * The data has 300 samples and 60 features, which arrive 20 at a time. Three features have an
 * effect. Every tenth response is corrupted. roofs finds the features and the corrupted samples.
 *
 * Build it with examples/c-pkgconfig or examples/c-cmake. */
#include <roofs/roofs.h>
#include <stdint.h>
#include <stdio.h>

enum { SAMPLES = 300, FEATURES = 60, BLOCK = 20 };

/* The truth: y = 5 + 3 x4 - 2 x27 + 1.5 x51 + noise. */
static const double INTERCEPT = 5;

static double true_coef(int feature)
{
    return feature == 4 ? 3 : feature == 27 ? -2 : feature == 51 ? 1.5 : 0;
}

/* ---- data: from a file, a database or a network in your program ------------ */

/* Roughly normal numbers, the same on every machine. */
static double noise(void)
{
    static uint64_t state = 2024;
    double sum = -6;
    for (int k = 0; k < 12; k++) {
        state = state * 6364136223846793005u + 1442695040888963407u;
        sum += (double)(state >> 11) * 0x1p-53;
    }
    return sum;
}

static void make_data(double x[FEATURES][SAMPLES], double y[SAMPLES])
{
    for (int i = 0; i < SAMPLES; i++)
        y[i] = INTERCEPT + 0.1 * noise();
    for (int j = 0; j < FEATURES; j++)
        for (int i = 0; i < SAMPLES; i++) {
            x[j][i] = noise();
            y[i] += true_coef(j) * x[j][i];
        }
    for (int i = 0; i < SAMPLES; i += 10) /* the adversary */
        y[i] += 40 + 10 * noise();
}

/* ---- the result --------------------------------------------------------------- */

static void print_result(const roofs_result *out)
{
    printf("%lld features seen, %lld selected, %lld of %lld samples trusted\n",
           (long long)out->features_seen, (long long)out->selected, (long long)out->trusted,
           (long long)out->n);
    printf("intercept %.2f (truth %.2f)\n", out->intercept, INTERCEPT);
    for (int64_t k = 0; k < out->selected; k++)
        printf("feature %lld: %.2f (truth %.2f)\n", (long long)out->features[k].index,
               out->features[k].coef, true_coef((int)out->features[k].index));
    printf("not trusted:");
    for (int64_t i = 0; i < out->n; i++)
        if (!out->trust[i])
            printf(" %lld", (long long)i);
    printf("\n");
}

/* ---- the fit ---------------------------------------------------------------------- */

/* Passes the stream block by block. The library borrows a block: its memory can be reused after
 * roofs_consume returns. */
static roofs_status consume_all(roofs_estimator *e, double x[FEATURES][SAMPLES], roofs_error *err)
{
    for (int first = 0; first < FEATURES; first += BLOCK) {
        roofs_block block = {
            .count = BLOCK,
            .n = SAMPLES,
            .dtype = ROOFS_F64,
            .values = x[first],
            .feature_stride = SAMPLES, /* from one feature to the next */
            .sample_stride = 1,        /* from one sample to the next */
        };
        roofs_status status = roofs_consume(e, &block, err);
        if (status != ROOFS_OK)
            return status;
    }
    return roofs_finish(e, err);
}

int main(void)
{
    static double x[FEATURES][SAMPLES], y[SAMPLES];
    roofs_settings settings;
    roofs_estimator *estimator = NULL;
    roofs_result out;
    roofs_error err;

    make_data(x, y);
    roofs_settings_init(&settings);
    settings.mu = 3;     /* keep at most three features; the only setting without a default */
    settings.tol = 1e-6; /* more rounds per block, for precise coefficients */

    /* Calls that can fail return a status. err.text has the reason of a failure. */
    roofs_status status = roofs_create(&estimator, &settings, y, SAMPLES, &err);
    if (status == ROOFS_OK)
        status = consume_all(estimator, x, &err);
    if (status == ROOFS_OK)
        status = roofs_view(estimator, &out, &err);
    if (status == ROOFS_OK)
        print_result(&out);
    else
        fprintf(stderr, "roofs %s: %s\n", roofs_version(), err.text);
    roofs_destroy(estimator);
    return status == ROOFS_OK ? 0 : 1;
}
