/* Where columns are stored, and products with them. A device stores the features that a fit keeps
 * ("slots") and reads the features of the current batch ("borrowed") where the caller has them.
 * Methods never see a value, nor whether a column is dense or sparse: a list may hold both.
 *
 * A column is used standardised, z = (x - center) * factor, without being changed: the device
 * stores the values that arrived. */
#ifndef LINALG_DEVICE_H
#define LINALG_DEVICE_H

#include "base/status.h"

typedef struct device device;

typedef struct device_shape {
    int64_t n;         /* samples */
    int64_t slots;     /* features that can be stored */
    int64_t batch;     /* features that can be borrowed at once */
    roofs_dtype dtype; /* of the stored values */
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

/* What a survey of the borrowed features finds out. */
typedef struct survey_options {
    const double *weight; /* of each sample, not negative; NULL: only not_finite and largest */
    const double *weight_on_device; /* the same weights in the device's memory; NULL: it has none */
    double total;                   /* sum of the weights */
    int centred;                    /* moments about the mean; otherwise about zero */
    int flatness;                   /* find that too */
} survey_options;

/* The result of a survey. */
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

/* A stored column. */
typedef struct device_values {
    roofs_dtype dtype;
    int64_t count;          /* values; n for a dense column */
    const void *values;     /* of dtype */
    const int32_t *samples; /* of each value, ascending; NULL = dense */
} device_values;

/* Products of columns with vectors on the host. */
typedef struct product_ops {
    /* One read of every column: gradient[j] = unit_j z_j'r and
     * image = sum_j gradient[j] unit_j z_j. */
    void (*descend)(device *d, const device_column *columns, int64_t count, const double *r,
                    double *gradient, double *image);

    /* out[j] = z_j'r */
    void (*inner)(device *d, const device_column *columns, int64_t count, const double *r,
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
} product_ops;

/* Storage, which every device has. Entries marked optional may be NULL. */
typedef struct device_ops {
    const char *name;
    int64_t (*bytes)(const device_shape *shape); /* upper bound of the memory, host and device */
    int64_t (*taken)(const device *d);           /* bytes taken so far */

    /* Optional: how many of `bytes` are in the device's own memory, and how many bytes are free
     * there now; -1 where this machine has no such device. */
    int64_t (*bytes_on_device)(const device_shape *shape);
    int64_t (*free_on_device)(void);

    roofs_status (*create)(device **out, const device_shape *shape, roofs_error *err);
    void (*destroy)(device *d);

    /* Reads the features of a block until the next call of borrow; copies only values that are not
     * contiguous or of another type (sparse: of another type, or with 64-bit samples).
     * The pattern of a sparse block has been checked. */
    roofs_status (*borrow)(device *d, const roofs_block *block, roofs_error *err);

    /* Optional hint: these features will be borrowed next, `batch` at a time, and the device may
     * upload them while it works on the borrowed ones. NULL: no features; returns when no upload
     * reads a block any more. */
    void (*prefetch)(device *d, const roofs_block *rest);

    /* Optional: returns the first deferred error, of calls that have no status. */
    roofs_status (*deferred)(device *d, roofs_error *err);

    /* Optional: whether values are in the device's own memory, which the host cannot read. */
    int (*holds)(const void *values);

    /* facts[k] of each borrowed feature. */
    void (*survey)(device *d, const survey_options *how, device_facts *facts);

    /* Replaces borrowed feature k by itself times 2^-exponent (exact). */
    roofs_status (*rescale)(device *d, int64_t k, int exponent, roofs_error *err);

    /* Copies borrowed feature k into a slot, which is free; frees a slot. */
    roofs_status (*keep)(device *d, int64_t k, int64_t slot, roofs_error *err);
    void (*release)(device *d, int64_t slot);

    /* For checkpoints. fetch: the column of a slot, in main memory and valid until the next call.
     * put: stores a column, dense or sparse as given, in a slot, which is free. */
    roofs_status (*fetch)(device *d, int64_t slot, device_values *out, roofs_error *err);
    roofs_status (*put)(device *d, int64_t slot, const device_values *column, roofs_error *err);

    /* Optional: NULL where all work on the columns is done by engines. */
    const product_ops *products;

    /* Optional: the engine of a method on this device, a table that the method declares (for
     * example roofs_engine); NULL where the device has none for it. */
    const void *(*engine)(const char *method);
} device_ops;

extern const device_ops device_cpu;

/* The table that a plug-in (libroofs_cuda.so) exports: see registry.c. */
typedef struct device_plugin {
    int64_t version; /* DEVICE_PLUGIN_VERSION of the headers it was built with */
    const device_ops *ops;
    roofs_status (*ready)(roofs_error *err); /* BAD_SETTING where this machine has no such device */
} device_plugin;

enum { DEVICE_PLUGIN_VERSION = 3 };

/* The device named "cpu", "cuda", or "auto": cuda where this machine has it, else cpu. */
roofs_status device_find(const char *name, const device_ops **out, roofs_error *err);

/* The same, but cuda need not be in this machine: enough to ask how much memory a fit takes. */
roofs_status device_know(const char *name, const device_ops **out, roofs_error *err);

#endif
