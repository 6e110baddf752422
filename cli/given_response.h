/* The response as --y gives it: a file, a column of the tables, or FILE:COLUMN. */
#ifndef CLI_GIVEN_RESPONSE_H
#define CLI_GIVEN_RESPONSE_H

#include "cli/tables.h"

typedef struct given_response {
    const char *path;   /* NULL: a column of the files of features */
    const char *column; /* NULL: the file holds nothing else */
    char *own;          /* memory of the path before a colon */
    const char *option; /* for messages: --y, ... */
} given_response;

/* A file of this name comes first; then FILE:COLUMN, if there is such a file; then a column. */
roofs_status given_response_parse(given_response *g, const char *text, roofs_error *err);
void given_response_free(given_response *g);

/* Reads the shard of this process from a file, and with --id the IDs of all samples. */
roofs_status given_response_read(const given_response *g, const input_args *in, int64_t limit,
                                 double **y, int64_t *n, levels *ids, roofs_error *err);

/* Takes the shard of this process from a stream that was opened with the column as its response. */
roofs_status given_response_take(const given_response *g, const source *s, double **y, int64_t *n,
                                 roofs_error *err);

/* Copies the shard of this process from the numbers of all n samples; `what` is for messages. */
roofs_status given_take_shard(const double *all, int64_t n, double **out, const char *what,
                              roofs_error *err);

/* BAD_DATA: there is no such column. Lists those of the stream. */
roofs_status given_response_not_found(const given_response *g, const source *s, roofs_error *err);

#endif
