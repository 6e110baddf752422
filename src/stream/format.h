/* The contract of a file format. A format is a table of functions in a file of its own and a line
 * in registry.c. A reader lives through: open, [reader_set_shard], load, read or skip, close. */
#ifndef STREAM_FORMAT_H
#define STREAM_FORMAT_H

#include "stream/bytes.h"
#include "stream/genotypes.h"
#include "stream/source.h"
#include "stream/sparse.h"
#include "table/levels.h"
#include "table/names.h"
#include "table/recipe.h"

typedef struct reader reader;

typedef roofs_status (*recipe_visit)(void *user, const recipe_column *column, roofs_error *err);

/* Facts about the stream that a file belongs to. */
typedef struct format_hints {
    int64_t n;           /* samples; 0 = unknown */
    const char *n_owner; /* where n comes from, for messages: "the response" or a file */
    int64_t features;    /* of the whole stream; 0 = unknown */
    int alone;           /* the file is the whole stream */
    int64_t files;       /* of the stream */
    orientation orient;
    index_base base;
    const char *format;  /* the name of the format; NULL = detect it */
    const char *dataset; /* of an HDF5 file; NULL = the only one */
    header_choice header;
    int external;     /* values may be in other files, see source_options */
    int keep_missing; /* read missing values as NaN instead of refusing them */
    missing_policy missing;
    const table_options *table; /* NULL: tables hold only numbers */
    levels *ids;                /* of the samples, in their order; empty = no table gave them yet */
    int64_t *joins;             /* how many tables were loaded */
    names *notes;               /* messages about tables; or NULL */
    int64_t transpose_bytes;
    int (*is_stopped)(void); /* see source_options */

    /* genotypes */
    int64_t file;                      /* the number of the file in the stream */
    const genotype_options *genotypes; /* NULL: all variants of all people */
    struct variant_ids *variant_ids;   /* of all files of the stream; or NULL */
    genotype_counts *genotype_counts;  /* or NULL */
    int unpacked;                      /* read them as 64-bit values */
} format_hints;

enum { FORMAT_ENDINGS = 5 };

typedef struct file_format {
    const char *name;                    /* for messages */
    const char *endings[FORMAT_ENDINGS]; /* ".npy", ...; the last is NULL */
    size_t size;      /* of the format's own struct, which begins with a reader */
    int labelled;     /* rows carry a response */
    int orientable;   /* a row is a feature or a sample: --orient applies */
    int has_datasets; /* a file may hold several: --dataset applies */
    int by_name;      /* lists features by name; features that are not listed are zero */

    /* Required. True if a file without a known ending that begins with these bytes has this format;
     * 0 in doubt. The first format of the table that returns true reads the file. */
    int (*recognises)(const unsigned char *start, int64_t length);

    /* Reads the header from r->input and sets n, features, dtype and named. The registry has
     * zeroed the struct and set the rest; after a failure it calls `close`. */
    roofs_status (*open)(reader *r, roofs_error *err);

    /* Prepares the first read, for example by transposing rows. Must set n and, where it can,
     * features. NULL = nothing to prepare. */
    roofs_status (*load)(reader *r, roofs_error *err);

    /* Reads the next features, n values each, one after the other. *got < count only at the end
     * of the file. The caller asks for F32 or 2BIT only where the reader's dtype is the same. With
     * 2BIT the read sets r->levels, four for each feature. A sparse format has read_sparse instead,
     * which appends to `out`. */
    roofs_status (*read)(reader *r, int64_t count, roofs_dtype dtype, void *values, int64_t *got,
                         roofs_error *err);
    roofs_status (*read_sparse)(reader *r, int64_t count, sparse *out, int64_t *got,
                                roofs_error *err);

    /* Skips features; may be called before `load`. NULL = reader_advance is enough. */
    roofs_status (*skip)(reader *r, int64_t count, int64_t *got, roofs_error *err);

    /* Calls `visit` for every recipe that recipe_is_needed; NULL = the format has no recipes. */
    roofs_status (*visit_recipes)(const reader *r, recipe_visit visit, void *user,
                                  roofs_error *err);

    /* The name of column k of a table, before it is loaded; NULL past the last, and in files
     * without columns. */
    const char *(*column_name)(const reader *r, int64_t k);

    /* Frees what the format allocated, but not the reader. Must work after a failed `open`. */
    void (*close)(reader *r);
} file_format;

/* Files that a stream loads before it gives the first feature. */
typedef enum early_load {
    EARLY_NOT = 0,
    EARLY_FEATURES, /* to find out how many features the file has */
    EARLY_RESPONSE  /* the file has the response, which comes before everything else */
} early_load;

/* First member of every format's own struct. */
struct reader {
    const file_format *format;
    bytes *input;
    format_hints hints;
    int loaded;
    int64_t n;            /* -1: known after `load` */
    int64_t features;     /* -1: known after `load` or at the end of the file */
    roofs_dtype dtype;    /* the narrower type that holds every value; F64 unless `open` sets it */
    int named;            /* the features have names; "" = this one has none */
    names names;          /* either of all features: filled in `open` or `load`, and `read` calls
                           * reader_advance; or of the last read: each `read` replaces them */
    int64_t position;     /* the next feature, see reader_advance */
    int64_t last_count;   /* features of the last reader_advance */
    const double *labels; /* where rows carry a response: n numbers, after `load` */
    const double *levels; /* of the last read of 2BIT */
    const double *special[SPECIALS]; /* the same for special columns of a table */

    /* Where samples are split over ranks: the samples of this rank. */
    int64_t shard_first, shard_count; /* count 0 = all samples */
    int reads_shard; /* the format reads only these; otherwise the registry removes the others */
    index_base base; /* of the indices of features, after `load`; or AUTO */
    source_listed listed; /* kept by formats that list features by name */

    /* tables */
    early_load loads_early; /* load when the stream is opened */
    int64_t table_bytes;    /* most memory that loading took; estimated */
    missing_count missing;  /* values that the last reads replaced; the source takes them */
    int64_t always;         /* features of the columns that come first; -1: known after `load` */
};

/* Number of samples that a read returns. */
static inline int64_t reader_own_samples(const reader *r)
{
    return r->shard_count > 0 ? r->shard_count : r->n;
}

/* Number of samples that the format itself reads. */
static inline int64_t reader_stored_samples(const reader *r)
{
    return r->reads_shard ? r->shard_count : r->n;
}

/* Must be called before `load` and the first read. */
void reader_set_shard(reader *r, int64_t first, int64_t count);

/* ---- the registry ------------------------------------------------------ */

/* Opens a file. Its ending (without .gz and .xz) or else its first bytes decide the format. */
roofs_status reader_open(reader **out, const char *path, const format_hints *hints,
                         roofs_error *err);
roofs_status reader_load(reader *r, roofs_error *err); /* later calls do nothing */
void reader_close(reader *r);                          /* accepts NULL */

/* Reads the next features as dense values, from dense and sparse formats. */
roofs_status reader_read(reader *r, int64_t count, roofs_dtype dtype, void *values, int64_t *got,
                         roofs_error *err);
roofs_status reader_read_sparse(reader *r, int64_t count, sparse *out, int64_t *got,
                                roofs_error *err);
int reader_is_sparse(const reader *r);
roofs_status reader_skip(reader *r, int64_t count, int64_t *got, roofs_error *err);

/* Name of feature k of the last read; a view, valid until the next read. */
const char *reader_feature_name(const reader *r, int64_t k);

/* Moves `position` by up to `count` features and returns by how many. */
int64_t reader_advance(reader *r, int64_t count);

/* Puts the file name before the text of a BAD_DATA error. Returns `status`. */
roofs_status reader_blame(const reader *r, roofs_status status, roofs_error *err);

/* Calls `visit` for every column of a table that needs a recipe. Does nothing with other files, and
 * before `load`. */
roofs_status reader_visit_recipes(const reader *r, recipe_visit visit, void *user,
                                  roofs_error *err);

/* Name and endings (the last is NULL) of format k, counted from 0; NULL past the last. */
const char *format_name(int64_t k);
const char *const *format_endings(int64_t k);

/* True if a registered format has the ending of this file name. */
int format_matches_name(const char *name);

/* True if the file name does not rule out a response in the file. */
int format_may_be_labelled(const char *name);

#endif
