/* Least squares on the true features and the clean samples of simulated data. With more features
 * than samples it is the shortest solution. */
#ifndef CLI_REPRODUCE_ORACLE_H
#define CLI_REPRODUCE_ORACLE_H

#include "stream/simulator.h"

typedef struct oracle {
    roofs_feature *features; /* mu, by index */
    double *residual;        /* n */
} oracle;

roofs_status oracle_solve(oracle *o, const simulator *s, roofs_error *err);
void oracle_destroy(oracle *o); /* also after a failure */

#endif
