/* A first fit with roofs, start to end.
 *
 * 300 samples, 60 features that arrive 20 at a time, and somebody has spoiled
 * every tenth response. Three features matter. roofs has to find the features
 * and the spoiled samples, and never holds more than a few features at once.
 *
 * Build it with examples/c-pkgconfig or examples/c-cmake. */
#include <roofs/roofs.h>
#include <stdint.h>
#include <stdio.h>

enum { SAMPLES = 300, FEATURES = 60, BLOCK = 20 };

/* The truth that is to be found: y = 5 + 3 x4 - 2 x27 + 1.5 x51 + noise. */
static const double LEVEL = 5;

static double true_coef(int feature)
{
    return feature == 4 ? 3 : feature == 27 ? -2 : feature == 51 ? 1.5 : 0;
}

/* ---- data: in your program this is a file, a database, a network ------------ */

/* Roughly normal numbers from a tiny generator, the same on every machine. */
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
        y[i] = LEVEL + 0.1 * noise();
    for (int j = 0; j < FEATURES; j++)
        for (int i = 0; i < SAMPLES; i++) {
            x[j][i] = noise();
            y[i] += true_coef(j) * x[j][i];
        }
    for (int i = 0; i < SAMPLES; i += 10) /* the adversary */
        y[i] += 40 + 10 * noise();
}

/* ---- what came out ------------------------------------------------------------ */

static void print_result(const roofs_result *out)
{
    printf("%lld features seen, %lld selected, %lld of %lld samples trusted\n",
           (long long)out->features_seen, (long long)out->selected, (long long)out->trusted,
           (long long)out->n);
    printf("intercept %.2f (truth %.2f)\n", out->intercept, LEVEL);
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

/* Feeds the stream, block by block. Each block is only borrowed: its memory may
 * be used for the next one as soon as roofs_consume has returned. */
static roofs_status feed(roofs_estimator *e, double x[FEATURES][SAMPLES], roofs_error *err)
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
    settings.mu = 3;     /* keep at most three features: the one setting that is needed */
    settings.tol = 1e-6; /* and work on each block until hardly anything moves */

    /* Every call says whether it worked, and err.text says why it did not. */
    roofs_status status = roofs_create(&estimator, &settings, y, SAMPLES, &err);
    if (status == ROOFS_OK)
        status = feed(estimator, x, &err);
    if (status == ROOFS_OK)
        status = roofs_view(estimator, &out, &err);
    if (status == ROOFS_OK)
        print_result(&out);
    else
        fprintf(stderr, "roofs %s: %s\n", roofs_version(), err.text);
    roofs_destroy(estimator);
    return status == ROOFS_OK ? 0 : 1;
}
