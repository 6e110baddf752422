/* Numbers of the samples beside the response, as --weights and --offset give them: a file, a column
 * of the tables, or FILE:COLUMN. */
#ifndef CLI_GIVEN_NUMBERS_H
#define CLI_GIVEN_NUMBERS_H

#include "cli/given_response.h"

typedef struct given_numbers {
    special_column which;
    given_response at;
    const char *text; /* of the option; NULL = not given */
} given_numbers;

/* Before the stream is opened: a column of its tables goes to `table`. */
roofs_status given_numbers_parse(given_numbers *g, special_column which, const char *text,
                                 table_options *table, roofs_error *err);
void given_numbers_free(given_numbers *g);

/* The stream, the options that opened it, and its samples. */
typedef struct given_stream {
    const source *source;
    const input_args *in;
    struct levels *ids; /* of the samples, with --id; or NULL */
    int64_t n;          /* of all ranks */
    int64_t limit;      /* most bytes; 0 = no limit */
} given_stream;

/* The numbers of the samples of this process; *out is NULL if the option is not given. Call it
 * before the first block is read. */
roofs_status given_numbers_take(const given_numbers *g, const given_stream *s, double **out,
                                roofs_error *err);

#endif
