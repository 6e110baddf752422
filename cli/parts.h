/* The checkpoint of several ranks: each writes its part, F.S-K for rank K, then rank 0 replaces F,
 * which names the stamp S and so commits them all. Until then the parts of the last stamp count and
 * stay. All calls are made by all ranks. */
#ifndef CLI_PARTS_H
#define CLI_PARTS_H

#include "cli/checkpoint.h"

#define PARTS_MANIFEST "manifest"

/* Takes the lock, and finds out which parts are there. */
roofs_status parts_open(checkpoint *c, const char *path, roofs_error *err);

roofs_status parts_write(checkpoint *c, roofs_estimator *e, roofs_error *err);

/* This rank's part of the samples, from the parts of however many ranks there were. */
roofs_status parts_read(checkpoint *c, const char *path, const roofs_settings *run,
                        roofs_estimator **e, roofs_error *err);

/* Something else counts now. */
void parts_remove(checkpoint *c);

/* Whether FILE is the checkpoint of several ranks: how many, which stamp; 0 parts: it is not. */
roofs_status parts_look(const char *path, int64_t *parts, int64_t *stamp, roofs_error *err);

#endif
