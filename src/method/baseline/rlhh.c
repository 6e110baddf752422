/* Method rlhh (Zhang et al., IJCAI 2017): torrent with an estimated number of trusted samples, by
 * the rule of eq. (5) with tau' = floor(tau/2). */
#include "method/baseline/torrent.h"

static void rlhh_threshold(fit *f)
{
    trust_update_rlhh(&f->trusted, f->residual, f->set.clean_ratio);
}

static roofs_status rlhh_create(void **own, fit *f, roofs_error *err)
{
    static const batch_solver solver = {.solve = torrent_solve, .threshold = rlhh_threshold};
    return torrent_create_with(own, f, &solver, err);
}

const method method_rlhh = {
    .name = "rlhh",
    .summary = "torrent with the number of clean samples estimated (Zhang 2017)",
    .has_joint = 1,
    .splits = 1,
    .has_forced = 1,
    .bytes = torrent_bytes,
    .create = rlhh_create,
    .destroy = torrent_destroy,
    .consume = batchwise_consume,
};
