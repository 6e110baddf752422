/* Where features come from: one or more files, read as one stream, in bounded
 * memory, a block at a time. A block holds features of several files where
 * they meet: how a stream is split over files does not change what is read. */
#ifndef STREAM_SOURCE_H
#define STREAM_SOURCE_H

#include "stream/missing.h"

typedef enum orientation {
    ORIENT_AUTO = 0,     /* text: features are columns; arrays: told by the axis of length n */
    ORIENT_FEATURES = 1, /* one feature per row */
    ORIENT_SAMPLES = 2   /* one sample per row */
} orientation;

/* How the indices in sparse text are counted. */
typedef enum index_base {
    INDEX_AUTO = 0, /* an index 0 anywhere means from 0, otherwise from 1 */
    INDEX_FROM_0 = 1,
    INDEX_FROM_1 = 2
} index_base;

/* What the blocks of a stream are like. */
typedef struct source_kind {
    int sparse;        /* only where every file is */
    roofs_dtype dtype; /* F32 only where every file holds 32-bit floats */
    int named;         /* where any file has names */
} source_kind;

typedef struct source_options {
    int64_t n;           /* samples each feature must have; 0 = as the first file says */
    const char *n_owner; /* who says so, for messages; NULL = the response */
    int64_t features;    /* features in all, where known (predict), else 0: helps to tell axes */
    orientation orient;
    index_base base;
    const char *format;     /* the name of a format; NULL = told by each file */
    const char *dataset;    /* of HDF5 files; NULL = the only one in each */
    const char *names_path; /* names of all features, one per line; NULL = those in the files */
    missing_policy missing;
    int64_t turn_bytes;  /* memory for turning row-wise files into columns; 0 = the default */
    int64_t rank, ranks; /* of the samples this rank's part is read; 0 ranks = all */

    /* of a stream that goes on */
    int64_t before;          /* features that came before the first file */
    const source_kind *like; /* what they were like: so are these, as far as they can be */
    int joined;              /* other files belong to the stream, too */
} source_options;

typedef struct source source;

/* Paths: files of any registered format, plain or compressed; "-" is standard
 * input. All files are opened, and their headers checked, at once. */
roofs_status source_open(source **out, const char *const *paths, int64_t count,
                         const source_options *options, roofs_error *err);
void source_close(source *s); /* NULL is fine */

int64_t source_samples(const source *s); /* of the files */

/* The samples of the blocks, and which of those of the files is the first of them. */
int64_t source_own_samples(const source *s);
int64_t source_first_sample(const source *s);

/* The response of the samples, where the stream is one file whose rows carry it and
 * whose n was not given; NULL otherwise. Valid until the first block is read. */
const double *source_labels(const source *s);

int64_t source_features(const source *s); /* in all; 0 where that is known only at the end */
source_kind source_kind_of(const source *s);
int source_is_by_name(const source *s);  /* features that are not listed are zero: triplets */
index_base source_base(const source *s); /* of the indices read so far; AUTO where there are none */
int64_t source_position(const source *s); /* the place in the stream of the next feature */

/* The next features, `most` at the most (fewer only at the end of the stream;
 * count 0 = no more), as a view: sparse where all files are, otherwise dense with
 * sample_stride 1. */
roofs_status source_next(source *s, int64_t most, roofs_block *block, roofs_error *err);

/* From now on the last block stays while the next is read: twice the room. */
void source_keep_last(source *s);

/* Passes over features, without reading them where the format allows. */
roofs_status source_skip(source *s, int64_t count, roofs_error *err);

/* Missing values met so far. */
missing_count source_missing(const source *s);

/* The file that feature `index` of the stream (one of the last block) is from, and its number. */
const char *source_file_of(const source *s, int64_t index);
int64_t source_file_number(const source *s, int64_t index);

/* File k, folders opened up; NULL past the last. How many features it has; -1 where that is
 * known only at its end. */
const char *source_file_at(const source *s, int64_t k);
int64_t source_file_features(const source *s, int64_t k);

#endif
