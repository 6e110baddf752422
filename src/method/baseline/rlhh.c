/* RLHH (Zhang et al., IJCAI 2017): torrent, with the number of samples to trust
 * estimated by the rule of eq. (5) with tau' = floor(tau/2). */
#include "method/baseline/torrent.h"

static void threshold(fit *f)
{
    trust_update_rlhh(&f->trusted, f->residual, f->set.clean_ratio);
}

static roofs_status create(void **own, fit *f, roofs_error *err)
{
    static const batch_solver solver = {.solve = torrent_solve, .threshold = threshold};
    return torrent_create(own, f, &solver, err);
}

const method method_rlhh = {
    .name = "rlhh",
    .summary = "torrent with the number of clean samples estimated (Zhang 2017)",
    .has_joint = 1,
    .splits = 1,
    .bytes = torrent_bytes,
    .create = create,
    .destroy = torrent_destroy,
    .consume = torrent_consume,
    .finish = batchwise_finish,
};
