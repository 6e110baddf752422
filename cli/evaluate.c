/* roofs evaluate: compares a model with the true values that `simulate` wrote. */
#include "base/memory.h"
#include "cli/folder.h"
#include "cli/inputs.h"
#include "cli/print.h"
#include "cli/process_comm.h"
#include "cli/score.h"
#include "cli/verbs.h"
#include "stream/npy.h"

#include <inttypes.h>

static const option_row evaluate_rows[] = {{0}};

static const example evaluate_examples[] = {
    {"print all scores", "roofs evaluate model.json data"},
    {"print one score", "roofs evaluate model.json data | jq .feature_f1"},
    {0},
};

/* beta.npy and clean.npy of `roofs simulate`. */
typedef struct files {
    double *beta, *flags;
    unsigned char *clean;
    int64_t p, n;
} files;

static roofs_status read_one(const char *path, const char *name, double **values, int64_t *count,
                             roofs_error *err)
{
    char *full = NULL;
    TRY(folder_join(&full, path, name, err));
    roofs_status status = npy_read_all(full, values, count, err);
    memory_free(full);
    return status;
}

static roofs_status files_read(files *t, const char *path, const roofs_result *model,
                               roofs_error *err)
{
    TRY(read_one(path, "beta.npy", &t->beta, &t->p, err));
    TRY(read_one(path, "clean.npy", &t->flags, &t->n, err));
    if (t->p != model->features_seen)
        return fail(err, ROOFS_BAD_DATA,
                    "%s/beta.npy has %" PRId64 " features, but the model was fitted on %" PRId64
                    "; give the folder of its data",
                    path, t->p, model->features_seen);
    if (t->n != model->n)
        return fail(err, ROOFS_BAD_DATA,
                    "%s/clean.npy has %" PRId64 " samples, but the model was fitted on %" PRId64
                    "; give the folder of its data",
                    path, t->n, model->n);
    TRY(memory_get(&t->clean, t->n, sizeof *t->clean, "the truth", err));
    for (int64_t i = 0; i < t->n; i++)
        t->clean[i] = t->flags[i] != 0;
    return ROOFS_OK;
}

static int evaluate(const char *model_path, const char *data)
{
    roofs_error err = {0};
    roofs_model *model = NULL;
    roofs_result m = {0};
    files f = {0};
    roofs_status status = inputs_read_model(&model, model_path, &err);
    if (status == ROOFS_OK) {
        roofs_model_view(model, &m);
        status = files_read(&f, data, &m, &err);
    }
    int code = exit_after_input(status);
    const truth t = {.beta = f.beta, .p = f.p, .clean = f.clean, .n = f.n};
    if (status == ROOFS_OK)
        code = print_json(json_pack("{s:o, s:o, s:o, s:o}", "l2_error",
                                    json_number(score_l2_error(&m, &t)), "feature_f1",
                                    json_number(score_feature_f1(&m, &t)), "clean_f1",
                                    json_number(score_sample_f1(&m, &t, 1)), "corrupted_f1",
                                    json_number(score_sample_f1(&m, &t, 0))));
    else
        complain("evaluate", "%s", err.text);
    memory_free(f.beta);
    memory_free(f.flags);
    memory_free(f.clean);
    roofs_model_destroy(model);
    return code;
}

static int evaluate_main(int argc, char **argv)
{
    operands rest;
    int none = 0;
    int code = options_parse(&evaluate_verb, &none, argc, argv, &rest);
    if (code == OPTIONS_FINE && rest.count != 2)
        code = usage_error("evaluate", "give a model and the folder of its data, in this order");
    code = process_agree(code);
    if (code != OPTIONS_FINE)
        return code;
    if (process_comm()->rank > 0)
        return EXIT_FINE; /* one rank is enough */
    return evaluate(rest.values[0], rest.values[1]);
}

const verb evaluate_verb = {
    .name = "evaluate",
    .summary = "compare a model with the truth of simulated data",
    .usage = "model.json DIR",
    .about = "Prints a JSON object: l2_error (the length of the difference between fitted and true "
             "coefficients) and three F1 scores: feature_f1 of the selected features, clean_f1 of "
             "the trusted samples, corrupted_f1 of the samples that are not trusted.",
    .examples = evaluate_examples,
    .rows = evaluate_rows,
    .main = evaluate_main,
};
