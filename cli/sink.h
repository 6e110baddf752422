/* The file `roofs convert` writes; the ending of its name gives the format. */
#ifndef CLI_SINK_H
#define CLI_SINK_H

#include "base/output.h"
#include "stream/names.h"
#include "stream/sparse.h"

typedef struct sink sink;

typedef struct sink_kind {
    const char *const *endings;                       /* NULL after the last */
    roofs_status (*begin)(sink *s, roofs_error *err); /* NULL: nothing to do */
    /* Writes the next features; their names are s->names from index s->count on. */
    roofs_status (*features)(sink *s, const sparse *some, roofs_error *err);
    roofs_status (*end)(sink *s, roofs_error *err);
    void (*drop)(sink *s); /* frees `state` */
} sink_kind;

struct sink {
    const sink_kind *kind;
    output out;
    int64_t n;     /* samples */
    int64_t count; /* features written so far */
    int named;
    names names;          /* of all features */
    const double *labels; /* n numbers, or NULL; borrowed */
    char separator;       /* of text tables */
    void *state;          /* of the kind */
};

/* Whether the ending of a file is that of a known format; the known endings. */
int sink_knows(const char *path);
const char *sink_endings(void);
int sink_has_labels(const char *path); /* a response can be written into it */

roofs_status sink_open(sink *s, const char *path, int64_t n, const double *labels,
                       roofs_error *err);

/* block->names may be NULL: then no feature has one. */
roofs_status sink_features(sink *s, const sparse *some, const char *const *feature_names,
                           roofs_error *err);
roofs_status sink_commit(sink *s, roofs_error *err);
void sink_abandon(sink *s); /* does nothing after a commit and on a zeroed sink */

/* The shortest text that reads back as the same number. */
enum { SINK_NUMBER = 32 };
void sink_number(double value, char text[SINK_NUMBER]);

/* A name, quoted where a text table needs that. */
void sink_put_name(const sink *s, const char *name);

roofs_status sink_failed(const sink *s, roofs_error *err); /* an error where writing failed */

extern const sink_kind sink_npy, sink_npz, sink_table, sink_libsvm, sink_triplets;

#endif
