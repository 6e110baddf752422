/* roofs evaluate: a model against the truth that `simulate` wrote. */
#include "base/memory.h"
#include "cli/folder.h"
#include "cli/inputs.h"
#include "cli/print.h"
#include "cli/verbs.h"
#include "stream/npy.h"

#include <inttypes.h>
#include <math.h>

static const option_row rows[] = {{0}};

static const example examples[] = {
    {"how good is the model?", "roofs evaluate model.json data"},
    {"only one of the numbers", "roofs evaluate model.json data | jq .feature_f1"},
    {0},
};

typedef struct truth {
    double *beta, *clean;
    int64_t p, n;
} truth;

static roofs_status read_one(const char *path, const char *name, double **values, int64_t *count,
                             roofs_error *err)
{
    char *full = NULL;
    TRY(folder_join(&full, path, name, err));
    roofs_status status = npy_read_all(full, values, count, err);
    memory_free(full);
    return status;
}

static roofs_status truth_read(truth *t, const char *path, const roofs_result *model,
                               roofs_error *err)
{
    TRY(read_one(path, "beta.npy", &t->beta, &t->p, err));
    TRY(read_one(path, "clean.npy", &t->clean, &t->n, err));
    if (t->p != model->features_seen)
        return fail(err, ROOFS_BAD_DATA, "%s has %" PRId64 " features, but the model saw %" PRId64,
                    path, t->p, model->features_seen);
    if (t->n != model->n)
        return fail(err, ROOFS_BAD_DATA, "%s has %" PRId64 " samples, but the model saw %" PRId64,
                    path, t->n, model->n);
    return ROOFS_OK;
}

/* Two empty sets are equal. */
static double f1(int64_t both, int64_t found, int64_t wanted)
{
    return found + wanted == 0 ? 1.0 : 2.0 * (double)both / (double)(found + wanted);
}

static double l2_error(const roofs_result *m, const truth *t)
{
    double sum = 0;
    int64_t next = 0; /* features of a model come by index */
    for (int64_t k = 0; k < t->p; k++) {
        int listed = next < m->selected && m->features[next].index == k;
        double difference = (listed ? m->features[next++].coef : 0.0) - t->beta[k];
        sum += difference * difference;
    }
    return sqrt(sum);
}

static double feature_f1(const roofs_result *m, const truth *t)
{
    int64_t wanted = 0, both = 0;
    for (int64_t k = 0; k < t->p; k++)
        wanted += t->beta[k] != 0;
    for (int64_t k = 0; k < m->selected; k++)
        both += t->beta[m->features[k].index] != 0;
    return f1(both, m->selected, wanted);
}

/* Of the samples that are `clean` (1) or corrupted (0). */
static double sample_f1(const roofs_result *m, const truth *t, int clean)
{
    int64_t found = 0, wanted = 0, both = 0;
    for (int64_t i = 0; i < t->n; i++) {
        int told = !m->trust[i] == !clean, is = (t->clean[i] == 0) == !clean;
        found += told;
        wanted += is;
        both += told && is;
    }
    return f1(both, found, wanted);
}

static int evaluate(const char *model_path, const char *data)
{
    roofs_error err = {0};
    roofs_model *model = NULL;
    roofs_result m = {0};
    truth t = {0};
    roofs_status status = inputs_read_model(&model, model_path, &err);
    if (status == ROOFS_OK) {
        roofs_model_view(model, &m);
        status = truth_read(&t, data, &m, &err);
    }
    int code = exit_after_input(status);
    if (status == ROOFS_OK)
        code = print_json(json_pack(
            "{s:o, s:o, s:o, s:o}", "l2_error", json_number(l2_error(&m, &t)), "feature_f1",
            json_number(feature_f1(&m, &t)), "clean_f1", json_number(sample_f1(&m, &t, 1)),
            "corrupted_f1", json_number(sample_f1(&m, &t, 0))));
    else
        complain("evaluate", "%s", err.text);
    memory_free(t.beta);
    memory_free(t.clean);
    roofs_model_destroy(model);
    return code;
}

static int evaluate_main(int argc, char **argv)
{
    operands rest;
    int none = 0;
    int code = options_parse(&evaluate_verb, &none, argc, argv, &rest);
    if (code != OPTIONS_FINE)
        return code;
    if (rest.count != 2)
        return usage_error("evaluate",
                           "a model and the folder of its data are needed, in this order");
    return evaluate(rest.values[0], rest.values[1]);
}

const verb evaluate_verb = {
    .name = "evaluate",
    .summary = "compare a model with the truth of simulated data",
    .usage = "model.json DIR",
    .about = "Prints a JSON object: l2_error (the length of the difference between fitted and true "
             "coefficients) and three F1 scores: feature_f1 of the selected features, clean_f1 of "
             "the trusted samples, corrupted_f1 of those not trusted.",
    .examples = examples,
    .rows = rows,
    .main = evaluate_main,
};
