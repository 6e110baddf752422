/* The struct of source.h, for the files of this layer that implement it. */
#ifndef STREAM_SOURCE_STATE_H
#define STREAM_SOURCE_STATE_H

#include "stream/format.h"

typedef struct source_file {
    const char *path;   /* a view into source.paths */
    reader *reader;     /* NULL: not open */
    int64_t features;   /* -1: known at the end of the file */
    roofs_dtype packed; /* its packed type; F64 = none */
    int64_t first;      /* index in the stream of its first feature; set when the file is reached */
} source_file;

/* The memory of a block. */
typedef struct block_buffer {
    struct sparse entries;
    void *values;
    int64_t value_bytes;
    roofs_dtype packed; /* the packed type of the values; F64 = none */
    double *levels;     /* of 2BIT */
    int64_t level_capacity;
    names names;
    const char **name_views;
    int64_t view_capacity;
} block_buffer;

struct source {
    names paths;
    source_file *files;
    int64_t file_count;
    int64_t current;  /* the file being read */
    int64_t position; /* index in the stream of the next feature */
    source_options options;
    int64_t n;
    roofs_dtype dtype;
    int named;
    int orientable, has_datasets; /* of any file; see file_format */
    int by_name;                  /* of every file */
    int has_tables;               /* every file is a table */
    index_base base;
    names given; /* names of all features; empty = use those in the files */
    int sparse;  /* every file is sparse */
    missing_count missing;
    source_listed listed;    /* of the files that are closed again */
    block_buffer buffers[2]; /* the second is used only with source_keep_last */
    block_buffer *block;
    int keeps_last;

    /* tables */
    levels own_ids, *ids; /* of the samples; own_ids unless the options have some */
    int64_t joins;        /* tables opened and loaded so far */
    names notes;
    json_t *recipes; /* of the files that are closed again; NULL = none */

    /* genotypes */
    struct variant_ids *variant_ids; /* of all files; NULL = no file has any */
    genotype_counts genotypes;
    int64_t lead_at; /* the next feature of options.lead */
};

/* ---- source.c ---------------------------------------------------------- */

/* Opens file k for *out, as the stream does. */
roofs_status source_open_reader(const source *s, int64_t k, genotype_counts *counts, reader **out,
                                roofs_error *err);

/* ---- source_genotypes.c ------------------------------------------------ */

roofs_status source_begin_genotypes(source *s, roofs_error *err);
void source_end_genotypes(source *s);

/* Refuses a list of chromosomes that leaves no variant. */
roofs_status source_check_chromosomes(const source *s, roofs_error *err);

/* The next features of options.lead; *given = 0 if there are none left. */
roofs_status source_next_lead(source *s, int64_t most, roofs_block *block, int *given,
                              roofs_error *err);

/* Skips features of options.lead; returns how many. */
int64_t source_skip_lead(source *s, int64_t count);

/* Stores the levels of the last read, behind those of `before` features. */
roofs_status source_add_levels(source *s, const reader *r, int64_t before, int64_t count,
                               roofs_error *err);

/* ---- source_tables.c --------------------------------------------------- */

/* Before the first file is opened. */
void source_begin_tables(source *s);
void source_end_tables(source *s);

/* Loads a file that gives the response, and finds the number of samples where it is not known. */
roofs_status source_load_early(source *s, reader *r, roofs_error *err);

/* Refuses another number of samples than that of the stream. */
roofs_status source_check_samples(const source *s, int64_t k, roofs_error *err);

/* After all files are opened: loads those whose number of features is not known. */
roofs_status source_learn_last(source *s, roofs_error *err);

/* Before a file is closed. */
roofs_status source_keep_recipes(source *s, const reader *r, roofs_error *err);

#endif
