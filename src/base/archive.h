/* Saves state to bytes and loads it again. One function per struct (x_transfer) does both, so
 * that the two cannot differ. After the first failure all calls do nothing; the caller checks
 * `status` at the end.
 *
 * Loaded bytes are not trusted: sizes and indices are checked against bounds and are within them
 * even after a failure. Every item takes a multiple of eight bytes. */
#ifndef BASE_ARCHIVE_H
#define BASE_ARCHIVE_H

#include "base/status.h"

enum { ARCHIVE_VERSION = 3 }; /* written; all versions up to it can be read */

/* Upper bound of any stored count. */
#define ARCHIVE_MOST ((int64_t)1 << 60)

typedef struct archive {
    int loading;
    int undo; /* loads into the object it was saved from: columns stay in their slots */
    unsigned char *bytes;
    int64_t size, capacity;
    int64_t at;     /* loading: the next byte */
    int version;    /* loading: version of the format */
    int64_t *marks; /* saving: items that belong to the samples of this rank, see archive_mark */
    int64_t mark_count, mark_capacity;
    roofs_status status;
    roofs_error *err;
} archive;

/* Starts saving, which discards the old bytes, or loading the bytes it holds. */
void archive_begin_saving(archive *a, roofs_error *err);
void archive_begin_loading(archive *a, roofs_error *err);

/* Reserves `size` bytes and at most an eighth more. */
roofs_status archive_reserve(archive *a, int64_t size, roofs_error *err);

/* Returns the status. When loading, all bytes must have been read. */
roofs_status archive_end(archive *a);
void archive_free(archive *a);

/* Fails with "damaged: `what`", for checks that bounds do not cover. */
void archive_refuse(archive *a, const char *what);

/* Refuses the samples of a sparse column unless they ascend within 0..n - 1. NULL is a dense
 * column. */
void archive_check_samples(archive *a, const int32_t *samples, int64_t count, int64_t n);

/* Marks the next item as different on every rank: 8 bytes for each of its samples, or their
 * number. With the marks the shards of several ranks can be joined and split again. */
enum { ARCHIVE_SAMPLES = 0, ARCHIVE_COUNT = 1 };
void archive_mark(archive *a, int what);

void archive_int(archive *a, int *number, int low, int high);
void archive_i64(archive *a, int64_t *number, int64_t low, int64_t high);

/* The number of items of `size` bytes that follow: at most `most`, and not more than the bytes
 * that are left can hold. */
void archive_count(archive *a, int64_t *count, int64_t most, int64_t size);

void archive_f64(archive *a, double *number);
void archive_doubles(archive *a, double *numbers, int64_t count);
void archive_finite(archive *a, double *numbers, int64_t count); /* refuses infinities and NaN */
void archive_bytes(archive *a, void *bytes, int64_t size);
void archive_put(archive *a, const void *bytes, int64_t size); /* saving only */

/* Loading: a view of the next `size` bytes; NULL if there are fewer. */
const void *archive_view(archive *a, int64_t size);

/* Text or NULL. Loaded text is a view into the archive. */
void archive_text(archive *a, const char **text);

#endif
