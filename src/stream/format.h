/* The contract of a file format. A format is a table of functions in a file of
 * its own and one line in registry.c. */
#ifndef STREAM_FORMAT_H
#define STREAM_FORMAT_H

#include "stream/bytes.h"
#include "stream/source.h"
#include "stream/sparse.h"

typedef struct reader reader;

/* What a format is told about the stream its file belongs to. */
typedef struct format_hints {
    int64_t n;           /* samples; 0 = not known yet */
    const char *n_owner; /* who says so, for messages: "the response" or a file */
    int64_t features;    /* of the whole stream; 0 = not known */
    int alone;           /* the file is the whole stream */
    orientation orient;
    index_base base;
    const char *format;  /* the name of the format; NULL = to be told from the file */
    const char *dataset; /* of an HDF5 file; NULL = the only one */
    int keep_missing;    /* missing values are read as NaN, not refused */
    int64_t turn_bytes;
} format_hints;

typedef struct file_format {
    const char *name;           /* for messages */
    const char *const *endings; /* ".npy", ...; NULL after the last */
    int labelled;               /* its rows carry a response */
    int turns;                  /* a row may be a feature or a sample: --orient counts */
    int has_datasets;           /* a file may hold several: --dataset counts */
    int by_name;                /* lists features by name; those it does not list are zero */

    /* Whether a file without a known ending, with these first bytes, is one. */
    int (*recognises)(const unsigned char *start, int64_t length);

    /* Reads the header from `input` (which the registry closes) and fills the
     * reader's fields. On failure *out is NULL. */
    roofs_status (*open)(reader **out, bytes *input, const format_hints *hints, roofs_error *err);

    /* What must be done once before the first read, such as turning rows into
     * columns; n must be known afterwards. NULL where there is nothing to do. */
    roofs_status (*load)(reader *r, roofs_error *err);

    /* The next features, one after the other, n values each. *got < count only
     * at the end of the file. F32 is asked for only where the reader's dtype is.
     * A sparse format has read_sparse instead, which appends them to `out`. */
    roofs_status (*read)(reader *r, int64_t count, roofs_dtype dtype, void *values, int64_t *got,
                         roofs_error *err);
    roofs_status (*read_sparse)(reader *r, int64_t count, sparse *out, int64_t *got,
                                roofs_error *err);

    /* Passes over features; may come before `load`. */
    roofs_status (*skip)(reader *r, int64_t count, int64_t *got, roofs_error *err);

    /* Name of feature k of the last read, valid until the next call; only where
     * the reader is named. "" = this feature has none. */
    const char *(*feature_name)(const reader *r, int64_t k);

    void (*close)(reader *r); /* what `open` made, the reader included */
} file_format;

/* First member of every format's own struct. */
struct reader {
    const file_format *format; /* set by the registry, as is `loaded` */
    int loaded;
    bytes *input;      /* what `open` was given; closed by the registry */
    int64_t n;         /* -1: known after `load` */
    int64_t features;  /* -1: known at the end */
    roofs_dtype dtype; /* the narrower type that holds every value */
    int named;
    int64_t position;     /* the next feature, for formats that use reader_pass */
    const double *labels; /* where rows carry a response: n numbers, after `load` */

    /* Where samples are split over ranks: only these are wanted. */
    int64_t part_first, part_count; /* count 0 = all samples */
    int cuts;        /* set by a format that reads no others; the registry cuts what others read */
    index_base base; /* how the indices of features are counted, after `load`; or AUTO */
};

/* Samples that a read gives. */
static inline int64_t reader_own(const reader *r)
{
    return r->part_count > 0 ? r->part_count : r->n;
}

/* To be called before the first read, and before `load`, so that it need not load the others. */
void reader_take_part(reader *r, int64_t first, int64_t count);

/* ---- the registry ------------------------------------------------------ */

/* Opens a file with the format that its ending (.gz and .xz stripped) or else its
 * first bytes tell. */
roofs_status reader_open(reader **out, const char *path, const format_hints *hints,
                         roofs_error *err);
roofs_status reader_load(reader *r, roofs_error *err); /* once; later calls do nothing */
void reader_close(reader *r);                          /* NULL is fine */

/* The next features in full, whether the format is sparse or not. */
roofs_status reader_read(reader *r, int64_t count, roofs_dtype dtype, void *values, int64_t *got,
                         roofs_error *err);
roofs_status reader_read_sparse(reader *r, int64_t count, sparse *out, int64_t *got,
                                roofs_error *err);
int reader_is_sparse(const reader *r);

/* Puts the file before the reason of bad data that was found without knowing it; returns
 * `status`. */
roofs_status reader_blame(const reader *r, roofs_status status, roofs_error *err);

/* The name of format k, counted from 0; NULL past the last. */
const char *format_name(int64_t k);

/* Passes over up to `count` of the features that are left; returns how many. */
int64_t reader_pass(reader *r, int64_t count);

/* Whether the ending of a file name is that of a registered format. */
int format_knows_ending(const char *name);

/* Whether a file may carry the response, as far as its name tells. */
int format_may_be_labelled(const char *name);

#endif
