/* Where columns live and how products on them are done. A device owns room for
 * the features that are kept ("slots") and sees the features of the current
 * batch ("borrowed") where they lie. Methods never see a value, nor whether a
 * column is dense or sparse: a list may hold both.
 *
 * A column is used standardised, z = (x - center) * factor, without being
 * changed: what is stored is what arrived. */
#ifndef LINALG_DEVICE_H
#define LINALG_DEVICE_H

#include "base/status.h"

typedef struct device device;

typedef struct device_shape {
    int64_t n;         /* samples */
    int64_t slots;     /* features that can be kept */
    int64_t batch;     /* features that can be borrowed at once */
    roofs_dtype dtype; /* of what is kept */
    int64_t filled;    /* values of a sparse feature, for a bound on memory; 0 = dense */
    int64_t threads;   /* 0 = one per core */
    int64_t limit;     /* bytes the fit may take; 0 = no limit */
    int64_t besides;   /* bytes of the fit that are not the device's */
} device_shape;

/* Place of a column: slot k is k, borrowed feature k is -1 - k. */
typedef int64_t device_place;

typedef struct device_column {
    device_place place;
    double center;
    double factor;
    double unit; /* weight of this column's own unit in a gradient step; 1 but for extreme values */
} device_column;

/* How to look at borrowed features. */
typedef struct device_look {
    const double *weight; /* of each sample, not negative; NULL: only not_finite and largest */
    double total;         /* sum of the weights */
    int centred;          /* moments about the mean; otherwise about zero */
    int flatness;         /* find that too */
} device_look;

/* What one look tells. */
typedef struct device_facts {
    int64_t not_finite; /* first sample whose value is not finite, or -1 */
    double largest;     /* largest magnitude */
    double mean, scale; /* weighted; scale is the root mean square (deviation) */
    double flatness;    /* (mean square)^2 / mean fourth power: 1/3 for a normal column */
    int constant;       /* all values with a weight are equal */
} device_facts;

/* Decides, for one block of columns after the other, how far their coefficients
 * move: slope[q] = z_q'Wr, gram[q][s] = z_q'W z_s. Sets delta[q] and spread[q]. */
enum { DEVICE_BLOCK = 4 };
typedef void (*device_update)(void *user, int64_t first, int64_t count,
                              const double slope[DEVICE_BLOCK],
                              const double gram[DEVICE_BLOCK][DEVICE_BLOCK],
                              double delta[DEVICE_BLOCK], double spread[DEVICE_BLOCK]);

typedef struct device_sweep {
    const double *weight; /* W, per sample */
    double *r;            /* r -= sum_q delta[q] z_q, before the next block's slopes */
    double *variance;     /* += sum_q spread[q] z_q^2 */
    device_update update;
    void *user;
} device_sweep;

/* A kept column as it is stored. */
typedef struct device_values {
    roofs_dtype dtype;
    int64_t count;          /* values; n for a dense column */
    const void *values;     /* of dtype */
    const int32_t *samples; /* of each value, ascending; NULL = dense */
} device_values;

typedef struct device_ops {
    const char *name;
    int64_t (*bytes)(const device_shape *shape); /* at most, however full the columns are */
    int64_t (*taken)(const device *d);           /* so far */

    /* Optional: how many of `bytes` lie in the device's own memory, and how many are free there
     * now; -1 where no such device is in this machine. */
    int64_t (*bytes_there)(const device_shape *shape);
    int64_t (*free_there)(void);

    roofs_status (*create)(device **out, const device_shape *shape, roofs_error *err);
    void (*destroy)(device *d);

    /* Sees the features of a block until the next call; copies only what is not
     * contiguous or of another type (sparse: of another type, or with 64-bit samples).
     * The pattern of a sparse block has been checked. */
    roofs_status (*borrow)(device *d, const roofs_block *block, roofs_error *err);

    /* Optional: these features will be borrowed next, `batch` at a time, and may begin to travel
     * while those that are borrowed are worked on. NULL: none will, and what has begun comes to an
     * end. */
    void (*expect)(device *d, const roofs_block *rest);

    /* Optional: calls below cannot say that they failed; this one says it for them. */
    roofs_status (*check)(device *d, roofs_error *err);

    /* Optional: whether values lie in the device's own memory, which others cannot read. */
    int (*holds)(const void *values);

    /* facts[k] of each borrowed feature. */
    void (*survey)(device *d, const device_look *look, device_facts *facts);

    /* Replaces borrowed feature k by itself times 2^-exponent (exact). */
    roofs_status (*rescale)(device *d, int64_t k, int exponent, roofs_error *err);

    /* Copies borrowed feature k into a slot, which is free; frees a slot. */
    roofs_status (*keep)(device *d, int64_t k, int64_t slot, roofs_error *err);
    void (*release)(device *d, int64_t slot);

    /* For checkpoints: what lies in a slot, in main memory and valid until the next call;
     * and puts a column, dense or sparse as given, into a slot, which is free. */
    roofs_status (*fetch)(device *d, int64_t slot, device_values *out, roofs_error *err);
    roofs_status (*put)(device *d, int64_t slot, const device_values *column, roofs_error *err);

    /* One read of every column: gradient[j] = unit_j z_j'r and
     * image = sum_j gradient[j] unit_j z_j. */
    void (*descend)(device *d, const device_column *columns, int64_t count, const double *r,
                    double *gradient, double *image);

    /* out[j] = z_j'r */
    void (*products)(device *d, const device_column *columns, int64_t count, const double *r,
                     double *out);

    /* gram[j * count + k] = z_j'W z_k, W = diag(weight): the whole symmetric matrix. */
    void (*gram)(device *d, const device_column *columns, int64_t count, const double *weight,
                 double *gram);

    /* out[j] = z_j of one sample. */
    void (*sample)(device *d, const device_column *columns, int64_t count, int64_t sample,
                   double *out);

    /* out += sum_j weight[j] z_j */
    void (*add)(device *d, const device_column *columns, int64_t count, const double *weight,
                double *out);

    /* out += sum_j weight[j] z_j^2 */
    void (*add_squares)(device *d, const device_column *columns, int64_t count,
                        const double *weight, double *out);

    /* Coordinate updates over all columns in order, each column read once. */
    void (*sweep)(device *d, const device_column *columns, int64_t count, const device_sweep *how);

    /* Optional: whole rounds of methods, see method/rounds.h. */
    const struct rounds *rounds;
} device_ops;

extern const device_ops device_cpu;

/* What a part that is loaded when it is needed (libroofs_cuda) gives: see src/linalg/registry.c. */
typedef struct device_part {
    int64_t version; /* DEVICE_PART_VERSION of the headers it was built with */
    const device_ops *ops;
    roofs_status (*ready)(roofs_error *err); /* is there such a device in this machine? */
} device_part;

enum { DEVICE_PART_VERSION = 2 };

/* The device named "cpu", "cuda", or "auto": cuda where there is one, else cpu. */
roofs_status device_find(const char *name, const device_ops **out, roofs_error *err);

/* The same, but cuda need not be in this machine: enough to ask what a fit would take there. */
roofs_status device_know(const char *name, const device_ops **out, roofs_error *err);

#endif
