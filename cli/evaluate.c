/* roofs evaluate: compares a model with the true values that `simulate` wrote. */
#include "cli/inputs.h"
#include "cli/print.h"
#include "cli/process_comm.h"
#include "cli/truth.h"
#include "cli/verbs.h"

static const option_row evaluate_rows[] = {{0}};

static const example evaluate_examples[] = {
    {"print all scores", "roofs evaluate model.json data"},
    {"print one score", "roofs evaluate model.json data | jq .feature_f1"},
    {0},
};

static int evaluate(const char *model_path, const char *data)
{
    roofs_error err = {0};
    roofs_model *model = NULL;
    roofs_result m = {0};
    truth_files t = {0};
    roofs_status status = inputs_read_model(&model, model_path, &err);
    if (status == ROOFS_OK) {
        roofs_model_view(model, &m);
        status = truth_read(&t, data, &m, &err);
    }
    int code = exit_after_input(status);
    if (status == ROOFS_OK)
        code = print_json(json_pack("{s:o, s:o, s:o, s:o}", "l2_error",
                                    json_number(score_l2_error(&m, &t.view)), "feature_f1",
                                    json_number(score_feature_f1(&m, &t.view)), "clean_f1",
                                    json_number(score_sample_f1(&m, &t.view, 1)), "corrupted_f1",
                                    json_number(score_sample_f1(&m, &t.view, 0))));
    else
        complain("evaluate", "%s", err.text);
    truth_destroy(&t);
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
