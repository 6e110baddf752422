/* Hard thresholding, shared by torrent and rlhh: least squares on S, then S = the samples of
 * smallest residual, until S no longer changes. The user gives torrent the size of S; rlhh
 * estimates it. */
#ifndef BASELINE_TORRENT_H
#define BASELINE_TORRENT_H

#include "method/baseline/batchwise.h"

int64_t torrent_bytes(const roofs_settings *set, int64_t n);
roofs_status torrent_create_with(void **own, fit *f, const batch_solver *solver, roofs_error *err);
void torrent_destroy(void *own);
roofs_status torrent_solve(void *own, const batch_problem *p, roofs_error *err);

#endif
