/* Finds features that are the response in disguise: equal to it, or a multiple plus a constant. */
#ifndef CLI_LEAK_H
#define CLI_LEAK_H

#include "roofs/roofs.h"

/* Prints a warning for every dense feature of the block that equals the response y, in any unit, at
 * most of the samples: corrupted responses may differ. `who`: the verb. */
void leak_report(const char *who, const roofs_block *block, const double *y);

#endif
