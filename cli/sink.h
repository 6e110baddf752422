/* The output file of `roofs convert`; the ending of its name gives the format. */
#ifndef CLI_SINK_H
#define CLI_SINK_H

#include "base/nameset.h"
#include "base/output.h"
#include "stream/sparse.h"
#include "table/names.h"

typedef struct sink sink;

typedef struct sink_kind {
    const char *const *endings; /* NULL after the last */
    int is_text;                /* keeps names as text: control characters cannot be read back */
    int names_differ;           /* features are identified by name */
    roofs_status (*begin)(sink *s, roofs_error *err); /* NULL: nothing to do */
    /* Writes the next features; their names are s->names from index s->count on. */
    roofs_status (*features)(sink *s, const sparse *block, roofs_error *err);
    roofs_status (*end)(sink *s, roofs_error *err);
    void (*destroy)(void *state); /* NULL: memory_free; accepts NULL */
} sink_kind;

struct sink {
    const sink_kind *kind;
    output out;
    int64_t n;     /* samples */
    int64_t count; /* features written so far */
    int named;
    names names;          /* of all features */
    nameset seen;         /* of a kind with names_differ */
    int last_is_zero;     /* the last feature written has only zeros */
    const double *labels; /* n numbers, or NULL; borrowed */
    char separator;       /* of text tables */
    void *state;          /* of the kind */
};

/* True if the ending of the path is one of sink_endings. */
int sink_supports(const char *path);
const char *sink_endings(void);
int sink_has_labels(const char *path); /* the format contains the response */

roofs_status sink_open(sink *s, const char *path, int64_t n, const double *labels,
                       roofs_error *err);

/* feature_names is NULL if the features have no names. */
roofs_status sink_features(sink *s, const sparse *block, const char *const *feature_names,
                           roofs_error *err);

/* sink_end writes what follows the last feature; it can take long. sink_commit then gives the file
 * its name. */
roofs_status sink_end(sink *s, roofs_error *err);
roofs_status sink_commit(sink *s, roofs_error *err);
void sink_abandon(sink *s); /* does nothing after a commit and on a zeroed sink */

/* The shortest text that reads back as the same number. */
enum { SINK_NUMBER = 32 };
void sink_number(double value, char text[SINK_NUMBER]);

/* Writes a name; in quotes if `quoted`, or if a text table needs them. */
void sink_put_name(const sink *s, const char *name, int quoted);

roofs_status sink_failed(const sink *s, roofs_error *err); /* the error of a failed write */

extern const sink_kind sink_npy, sink_npz, sink_table, sink_libsvm, sink_triplets;

#endif
