/* One or more files, read as one stream of features, in bounded memory, a block at a time. A
 * block may hold features of several files: the blocks do not depend on where files end. */
#ifndef STREAM_SOURCE_H
#define STREAM_SOURCE_H

#include "stream/genotypes.h"
#include "stream/table_options.h"
#include "table/missing.h"

#include <jansson.h>

typedef enum orientation {
    ORIENT_AUTO =
        0, /* text: features are columns; arrays: the axis of length n holds the samples */
    ORIENT_FEATURES = 1, /* one feature per row */
    ORIENT_SAMPLES = 2   /* one sample per row */
} orientation;

/* Where indices in sparse text begin. */
typedef enum index_base {
    INDEX_AUTO = 0, /* at 0 if an index 0 occurs, otherwise at 1 */
    INDEX_FROM_0 = 1,
    INDEX_FROM_1 = 2
} index_base;

/* Whether text tables hold names: in the first row, or at the start of each row of a feature. */
typedef enum header_choice { HEADER_AUTO = 0, HEADER_YES = 1, HEADER_NO = 2 } header_choice;

/* What the user says the stream holds; 0 = not stated. A stream that ends early is refused. */
typedef struct source_expectation {
    int64_t features, samples;
    int64_t values; /* lines of triplets */
} source_expectation;

/* What files that list features by name (triplets) held so far. */
typedef struct source_listed {
    int64_t values;
    int64_t samples; /* the last sample with a value, counted from 1 */
} source_listed;

/* The kind of blocks of a stream. */
typedef struct source_kind {
    int sparse;        /* every file is sparse */
    roofs_dtype dtype; /* F32 if every file holds 32-bit floats; a packed type if a file has one */
    int named;         /* any file has names */
} source_kind;

/* Features in memory that come before those of the files: covariates. They are blocks of their own.
 * Borrowed: they stay valid as long as the stream. */
typedef struct source_lead {
    int64_t count;
    const double *values; /* of all samples, one feature after the other */
    const struct names *names;
} source_lead;

typedef struct source_options {
    int64_t n;           /* samples of each feature; 0 = those of the first file */
    const char *n_owner; /* where n comes from, for messages; NULL = the response */
    int64_t features;    /* of the stream where known (predict), else 0; helps to find the axes */
    orientation orient;
    index_base base;
    const char *format;     /* the name of a format; NULL = detect it for each file */
    const char *dataset;    /* of HDF5 files; NULL = the only one in each */
    const char *names_path; /* names of all features, one per line; NULL = those in the files */
    header_choice header;
    int external; /* HDF5 files may read their values from other files */
    source_expectation expected;
    missing_policy missing;
    const table_options *table; /* NULL: text tables hold only numbers */
    struct levels *ids;         /* of the samples, from another table; NULL = of the first one */
    int (*is_stopped)(void);    /* ends reading with CANCELLED; NULL = nothing does */
    int64_t transpose_bytes;    /* memory for transposing row-wise files; 0 = the default */
    int64_t rank, ranks;        /* read only the shard of this rank; 0 ranks = all samples */
    const genotype_options *genotypes; /* NULL: all variants of all people */
    const source_lead *lead;           /* features before those of the files; NULL = none */
    int unpacked;                      /* read genotypes as 64-bit values, not in 2 bits */

    /* of a stream that is continued */
    int64_t before;             /* features before the first file */
    const char *const *earlier; /* the files of these features; their number */
    int64_t earlier_count;
    const source_kind *like; /* the kind of these features, kept where possible */
    int joined;              /* other files belong to the stream, too */
} source_options;

typedef struct source source;

/* Paths: files of any registered format, plain or compressed; "-" is standard input. Opens all
 * files and checks their headers. */
roofs_status source_open(source **out, const char *const *paths, int64_t count,
                         const source_options *options, roofs_error *err);
void source_close(source *s); /* accepts NULL */

int64_t source_samples(const source *s); /* of the files */

/* The number of samples in a block, and the index of the first of them in the files. */
int64_t source_own_samples(const source *s);
int64_t source_first_sample(const source *s);

/* The response in the rows of the file, if the stream is one such file and n was not given;
 * otherwise NULL. Valid until the first block is read. */
const double *source_labels(const source *s);

/* The response as a table has it, if the options name its column; NULL otherwise. Valid until the
 * first block is read. */
const double *source_response(const source *s);

/* The same for a special column. */
const double *source_special(const source *s, special_column which);

/* *count = the features of the columns that the option `always` of tables names: the first of the
 * stream. BAD_DATA if other files have such columns. */
roofs_status source_always(const source *s, int64_t *count, roofs_error *err);

/* The IDs of the samples, if the options name their column; code k is sample k. */
const struct levels *source_ids(const source *s);

/* True if a table has a column of this name; any table if `name` is NULL. */
int source_has_column(const source *s, const char *name);

/* The name of column k of all tables, one after the other; NULL past the last. */
const char *source_column_name(const source *s, int64_t k);

/* Refuses lists of the options with a name or glob that no column of the tables has. */
roofs_status source_check_columns(const source *s, roofs_error *err);

/* Refuses tables that do not have all columns of a fitted recipe. */
roofs_status source_check_fitted(const source *s, roofs_error *err);

/* The memory that the tables opened so far take, in bytes; estimated. 0 if there are none. */
int64_t source_table_bytes(const source *s);

/* Messages about tables so far: columns that are left out, words that a model does not have. */
const struct names *source_notes(const source *s);

/* A list of the recipes of all columns read so far, as JSON. The caller releases it. */
roofs_status source_recipes(const source *s, json_t **out, roofs_error *err);

/* Refuses a number of samples, or with `features_too` of features, that a small file only claims: a
 * sparse file of a few bytes can name sample 2,000,000,000. A number that was stated is accepted.
 * For verbs whose memory grows with it. */
roofs_status source_check_sizes(const source *s, int features_too, roofs_error *err);

int64_t source_features(const source *s); /* in all; 0 where that is known only at the end */
source_kind source_kind_of(const source *s);
int source_is_by_name(const source *s);   /* features that are not listed are zero (triplets) */
index_base source_base(const source *s);  /* of the indices read so far; AUTO if none */
int64_t source_position(const source *s); /* index in the stream of the next feature */

/* Reads the next features, at most `most` (fewer only at the end of the stream, and where genotypes
 * begin or end; 0 = end), as a view: sparse if all files are sparse, otherwise dense with
 * sample_stride 1. Genotypes are of type 2BIT. */
roofs_status source_next(source *s, int64_t most, roofs_block *block, roofs_error *err);

/* From now on the last block stays valid while the next is read. Doubles the memory. */
void source_keep_last(source *s);

/* Compares the stream with what is expected of it. Reads the rest of it first where that is needed,
 * and that of triplets always. */
roofs_status source_finish(source *s, roofs_error *err);

source_listed source_listed_so_far(const source *s);

/* Skips features, without reading them where the format allows. */
roofs_status source_skip(source *s, int64_t count, roofs_error *err);

/* Missing values read so far. */
missing_count source_missing(const source *s);

/* The genotypes read so far; all 0 without such files. */
genotype_counts source_genotype_counts(const source *s);

/* Describes the variants of the files that `wanted` names, in the order of the files, as JSON; see
 * bed_describe. Reads only these. Does not affect source_next. */
roofs_status source_describe_variants(const source *s, const struct levels *wanted, json_t *out,
                                      roofs_error *err);

/* The file of feature `index` of the stream, which must be in the last block, and its number. */
const char *source_file_of(const source *s, int64_t index);
int64_t source_file_number(const source *s, int64_t index);

/* Path of file k, with folders expanded; NULL past the last. Its number of features; -1 if known
 * only at its end. */
const char *source_file_at(const source *s, int64_t k);
int64_t source_file_features(const source *s, int64_t k);

#endif
