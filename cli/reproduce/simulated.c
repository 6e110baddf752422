/* Simulated data: generates blocks, scores fits and reference answers with the true coefficients.
 */
#include "base/memory.h"
#include "base/order.h"
#include "cli/reproduce/oracle.h"
#include "cli/reproduce/trial_data.h"
#include "cli/score.h"
#include "stream/simulator.h"

#include <math.h>

typedef struct simulated {
    trial_data base;
    simulator *data;
    double *values; /* of the last block */
    int64_t capacity;
} simulated;

static truth truth_of(const simulated *s)
{
    return (truth){
        .beta = s->data->beta, .p = s->base.what.p, .clean = s->data->clean, .n = s->base.what.n};
}

static roofs_status simulated_block(trial_data *m, int64_t first, int64_t count, roofs_block *out,
                                    roofs_error *err)
{
    simulated *s = (simulated *)m;
    int64_t n = m->what.n;
    TRY(memory_grow(&s->values, &s->capacity, memory_bytes(count, n), sizeof *s->values, "a batch",
                    err));
    simulator_features(s->data, first, count, ROOFS_F64, 1, s->values);
    *out = (roofs_block){.count = count,
                         .n = n,
                         .dtype = ROOFS_F64,
                         .values = s->values,
                         .feature_stride = n,
                         .sample_stride = 1};
    return ROOFS_OK;
}

static roofs_status simulated_score(trial_data *m, const roofs_result *answer, double *scores,
                                    roofs_error *err)
{
    (void)err;
    const truth t = truth_of((simulated *)m);
    scores[MEASURE_L2_ERROR] = score_l2_error(answer, &t);
    scores[MEASURE_FEATURE_F1] = score_feature_f1(answer, &t);
    scores[MEASURE_CLEAN_F1] = score_sample_f1(answer, &t, 1);
    scores[MEASURE_CORRUPTED_F1] = score_sample_f1(answer, &t, 0);
    return ROOFS_OK;
}

/* Drawing the true number at random has an expected F1 equal to its share. */
static void score_guess(const setting *what, double *scores)
{
    scores[MEASURE_FEATURE_F1] = (double)what->mu / (double)what->p;
    scores[MEASURE_CLEAN_F1] = 1 - what->corruption;
    scores[MEASURE_CORRUPTED_F1] = what->corruption;
}

/* Scores an answer that trusts the samples with the smallest |residual|, in the true number. */
static roofs_status score_residual(trial_data *m, const double *residual, roofs_result *answer,
                                   double *scores, roofs_error *err)
{
    int64_t n = m->what.n, corrupted = (int64_t)round(m->what.corruption * (double)n);
    unsigned char *trust = NULL;
    order sorted = {0};
    roofs_status status = memory_get(&trust, n, sizeof *trust, "a reference", err);
    if (!status)
        status = order_create(&sorted, n, err);
    if (!status) {
        order_sort(&sorted, residual, n);
        for (int64_t k = 0; k < n - corrupted; k++)
            trust[sorted.items[k].place] = 1;
        answer->trust = trust;
        status = simulated_score(m, answer, scores, err);
    }
    order_destroy(&sorted);
    memory_free(trust);
    return status;
}

static roofs_status score_oracle(trial_data *m, double *scores, roofs_error *err)
{
    const simulated *s = (simulated *)m;
    oracle known;
    roofs_status status = oracle_solve(&known, s->data, err);
    if (!status) {
        roofs_result answer = {.selected = m->what.mu, .features = known.features};
        status = score_residual(m, known.residual, &answer, scores, err);
    }
    oracle_destroy(&known);
    return status;
}

static roofs_status simulated_reference(trial_data *m, answer_kind kind, double *scores,
                                        roofs_error *err)
{
    roofs_result nothing = {0};
    switch (kind) {
    case ANSWER_GUESS:
        score_guess(&m->what, scores);
        return ROOFS_OK;
    case ANSWER_NULL:
        return score_residual(m, m->y, &nothing, scores, err);
    case ANSWER_ORACLE:
        return score_oracle(m, scores, err);
    case ANSWER_FIRST:
    case ANSWER_FIT:
        break;
    }
    return fail(err, ROOFS_BAD_CALL, "not a reference row");
}

static void simulated_destroy(trial_data *m)
{
    simulated *s = (simulated *)m;
    simulator_destroy(s->data);
    memory_free(s->values);
    memory_free(s);
}

static const trial_data_kind simulated_kind = {.block = simulated_block,
                                               .score = simulated_score,
                                               .reference = simulated_reference,
                                               .destroy = simulated_destroy};

roofs_status trial_data_simulate(trial_data **out, const setting *what, arrival when, int64_t seed,
                                 roofs_error *err)
{
    const simulation wanted = {.n = what->n,
                               .p = what->p,
                               .mu = what->mu,
                               .corruption = what->corruption,
                               .noise_var = what->noise_var,
                               .random_order = when == ARRIVAL_RANDOM,
                               .seed = (uint64_t)seed};
    simulated *s = NULL;
    TRY(memory_get(&s, 1, sizeof *s, "a trial", err));
    s->base = (trial_data){.kind = &simulated_kind, .what = *what, .plain = 1};
    roofs_status status = simulator_create(&s->data, &wanted, 1, err);
    if (status) {
        simulated_destroy(&s->base);
        return status;
    }
    s->base.y = s->data->y;
    *out = &s->base;
    return ROOFS_OK;
}
