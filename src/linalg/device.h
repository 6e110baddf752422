/* A device stores columns and computes products with them. It copies the features that a fit keeps
 * into slots, and borrows the features of the current batch: it reads them in the caller's block.
 * A list of columns may hold dense and sparse ones; methods do not distinguish them.
 *
 * Products use the standardised column z = (x - center) * factor. Stored values are not changed. */
#ifndef LINALG_DEVICE_H
#define LINALG_DEVICE_H

#include "base/block.h"

typedef struct device device;

typedef struct device_shape {
    int64_t n;            /* samples */
    int64_t slots;        /* features that can be stored */
    int64_t batch;        /* features that can be borrowed at once */
    roofs_dtype dtype;    /* of the stored values; bytes: of packed columns, if it is packed */
    int keeps_packed;     /* columns of packed types stay so, if the device can store them */
    int64_t filled;       /* stored values of a sparse feature, for the memory bound; 0 = dense */
    int64_t threads;      /* 0 = one per core */
    int64_t limit;        /* bytes the fit may take; 0 = no limit */
    int64_t besides;      /* bytes that the fit takes outside the device */
    int64_t side_by_side; /* fits of this size that share the limit; 0 = one */
    struct workers *workers; /* borrowed; NULL: the device creates its own threads */
} device_shape;

/* Place of a column: k for slot k, -1 - k for borrowed feature k. */
typedef int64_t device_place;

typedef struct device_column {
    device_place place;
    double center;
    double factor;
    double unit; /* factor of a gradient step, see set_units in columns.c; 1 except for extremes */
} device_column;

/* What a survey of the borrowed features computes. */
typedef struct survey_options {
    const double *weight; /* of each sample, not negative; NULL: only not_finite and largest */
    const double *weight_on_device; /* the same weights in the device's memory, or NULL */
    double total;                   /* sum of the weights */
    int centred;                    /* moments about the mean; otherwise about zero */
    int flatness;                   /* compute the flatness too */
} survey_options;

/* The result of a survey. */
typedef struct device_facts {
    int64_t not_finite; /* first sample whose value is not finite, or -1 */
    double largest;     /* largest magnitude */
    double mean, scale; /* weighted; scale is the root mean square (deviation) */
    double flatness;    /* (mean square)^2 / mean fourth power: 1/3 for a normal column */
    int constant;       /* all values with a weight are equal */
} device_facts;

/* Computes the coordinate updates of one block of columns: sets delta[q] and spread[q] from
 * slope[q] = z_q'Wr and gram[q][s] = z_q'W z_s. */
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
    const double *levels;   /* ROOFS_2BIT: of its codes */
} device_values;

static inline double device_value(const device_values *v, int64_t k)
{
    const roofs_block all = {
        .count = 1, .values = v->values, .dtype = v->dtype, .levels = v->levels};
    return block_value(&all, k);
}

/* Products of columns with vectors in main memory. */
typedef struct product_ops {
    /* gradient[j] = unit_j z_j'r and image = sum_j gradient[j] unit_j z_j; reads columns once. */
    void (*descend)(device *d, const device_column *columns, int64_t count, const double *r,
                    double *gradient, double *image);

    /* out[j] = z_j'r */
    void (*inner)(device *d, const device_column *columns, int64_t count, const double *r,
                  double *out);

    /* gram[j * count + k] = z_j'W z_k, W = diag(weight); both triangles. */
    void (*gram)(device *d, const device_column *columns, int64_t count, const double *weight,
                 double *gram);

    /* out[j] = entry `sample` of z_j */
    void (*sample)(device *d, const device_column *columns, int64_t count, int64_t sample,
                   double *out);

    /* out[k] = entry first + k stride of z, k < count */
    void (*take)(device *d, const device_column *column, int64_t first, int64_t stride,
                 int64_t count, float *out);

    /* out += sum_j weight[j] z_j */
    void (*add)(device *d, const device_column *columns, int64_t count, const double *weight,
                double *out);

    /* out += sum_j weight[j] z_j^2 */
    void (*add_squares)(device *d, const device_column *columns, int64_t count,
                        const double *weight, double *out);

    /* Coordinate updates over all columns in order; reads each column once. */
    void (*sweep)(device *d, const device_column *columns, int64_t count, const device_sweep *how);
} product_ops;

/* The operations of a device. Entries marked optional may be NULL. */
typedef struct device_ops {
    const char *name;
    int packs;                                   /* can store columns of packed types as they are */
    int64_t (*bytes)(const device_shape *shape); /* upper bound of host and device memory */
    int64_t (*taken)(const device *d);           /* bytes allocated so far */

    /* Optional: the bytes of `bytes` in the device's own memory, and the bytes that are free in it
     * now; -1 if this machine has no such device. */
    int64_t (*bytes_on_device)(const device_shape *shape);
    int64_t (*free_on_device)(void);

    roofs_status (*create)(device **out, const device_shape *shape, roofs_error *err);
    void (*destroy)(device *d);

    /* Borrows the features of a block until the next call. Copies values that are not contiguous or
     * have another type (sparse: another type or 64-bit samples). The caller has checked the
     * pattern of a sparse block. */
    roofs_status (*borrow)(device *d, const roofs_block *block, roofs_error *err);

    /* Optional: borrows a block that `other`, a device of the same shape, has borrowed. Shares the
     * copies of `other`, which must not borrow again before this device does. */
    roofs_status (*borrow_shared)(device *d, const device *other, const roofs_block *block,
                                  roofs_error *err);

    /* Optional hint: the caller will borrow these features next, `batch` at a time. The device may
     * upload them while it works on the borrowed ones. NULL cancels: waits until no upload reads
     * a block any more. */
    void (*prefetch)(device *d, const roofs_block *next);

    /* Optional: returns the first deferred error, of calls that have no status. */
    roofs_status (*deferred)(device *d, roofs_error *err);

    /* Optional: true if the values are in the device's own memory. */
    int (*holds)(const void *values);

    /* Computes facts[k] of each borrowed feature k. */
    void (*survey)(device *d, const survey_options *how, device_facts *facts);

    /* Multiplies borrowed feature k by 2^-exponent, which is exact. */
    roofs_status (*rescale)(device *d, int64_t k, int exponent, roofs_error *err);

    /* keep: copies borrowed feature k into a free slot. complete (optional): after one or more
     * calls of keep and before any other use of the slots; keep may leave the copying to it.
     * release: frees a slot. */
    roofs_status (*keep)(device *d, int64_t k, int64_t slot, roofs_error *err);
    void (*complete)(device *d);
    void (*release)(device *d, int64_t slot);

    /* For checkpoints. fetch: the column of a slot, in main memory, valid until the next call.
     * put: stores a dense or sparse column in a free slot. */
    roofs_status (*fetch)(device *d, int64_t slot, device_values *out, roofs_error *err);
    roofs_status (*put)(device *d, int64_t slot, const device_values *column, roofs_error *err);

    /* Optional: NULL if engines compute all products. */
    const product_ops *products;

    /* Optional: the engine of a method on this device (a table that the method declares, for
     * example roofs_engine), or NULL. */
    const void *(*engine)(const char *method);
} device_ops;

extern const device_ops device_cpu;

/* The table that a plug-in (libroofs_cuda.so) exports: see registry.c. */
typedef struct device_plugin {
    int64_t version;     /* DEVICE_PLUGIN_VERSION at the time of its build */
    const char *library; /* version of the library it was built with: they share private structs */
    const device_ops *ops;
    roofs_status (*ready)(roofs_error *err); /* BAD_SETTING if this machine has no such device */
} device_plugin;

enum { DEVICE_PLUGIN_VERSION = 6 };

/* The device named "cpu", "cuda", or "auto" (cuda if this machine has a GPU, otherwise cpu). */
roofs_status device_find(const char *name, const device_ops **out, roofs_error *err);

/* The same, but "cuda" needs no GPU in this machine: for memory bounds. */
roofs_status device_lookup(const char *name, const device_ops **out, roofs_error *err);

#endif
