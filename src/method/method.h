/* The contract of a method: how the coefficients and the trust set are changed
 * by a batch of features. A new method is one file and one line in registry.c. */
#ifndef METHOD_METHOD_H
#define METHOD_METHOD_H

#include "method/fit.h"

typedef struct method {
    const char *name;
    const char *summary; /* one line, for people */
    int wants_scale;     /* features of scale 1 and their flatness, standardised or not, and y in a
                          * unit in which its robust scale is 1 to 2 */
    int has_reserve;     /* keeps mu (1 + reserve) features until the end */
    int has_joint;       /* can fit a batch together with the kept features */
    int has_rounds;      /* has engines for devices other than the CPU, see device_ops.engine */
    int has_probability; /* of features and samples; f->trusted.mask holds the samples' */

    int splits; /* runs on samples that are split over ranks */

    /* Bytes of the method's own state, for n samples. */
    int64_t (*bytes)(const roofs_settings *set, int64_t n);

    roofs_status (*create)(void **state, fit *f, roofs_error *err);
    void (*destroy)(void *state);

    /* The batch has joined f->cols, with coefficient 0. Leaves at most fit_capacity. */
    roofs_status (*consume)(void *state, fit *f, roofs_error *err);

    /* The stream has ended. NULL for methods that have nothing left to do. */
    roofs_status (*finish)(void *state, fit *f, roofs_error *err);

    /* What the method must know from one batch to the next, beside the fit, and how many
     * bytes that is at most; NULL for methods that know nothing. */
    void (*transfer)(void *state, fit *f, archive *a);
    int64_t (*transfer_bytes)(const roofs_settings *set, int64_t n);
} method;

const method *method_at(int64_t k);           /* NULL past the last */
const method *method_named(const char *name); /* NULL where there is none */

/* BAD_SETTING unless m has the flag at offsetof(method, flag). The message says what m cannot do,
 * and names the methods that can. */
roofs_status method_require(const method *m, size_t flag, const char *cannot, roofs_error *err);

#endif
