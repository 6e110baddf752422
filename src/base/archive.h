/* State on its way to bytes and back. One function per struct describes it for both ways
 * (x_transfer), so that saving and loading cannot drift apart. The first failure stays and
 * everything after it does nothing; who began the archive looks at `status` in the end.
 *
 * Bytes that are loaded may come from anyone: numbers that become sizes or places are given
 * their bounds here and are within them whatever happens. Every item takes a multiple of
 * eight bytes. */
#ifndef BASE_ARCHIVE_H
#define BASE_ARCHIVE_H

#include "base/status.h"

enum { ARCHIVE_VERSION = 1 }; /* what is written; all up to it can be read */

/* What is counted can be counted on. */
#define ARCHIVE_MOST ((int64_t)1 << 60)

typedef struct archive {
    int loading;
    int undo; /* to be loaded into what it was saved from: what lies in slots stays there */
    unsigned char *bytes;
    int64_t size, capacity;
    int64_t at;     /* loading: the next byte */
    int version;    /* loading: of the format; what a later one added is not there */
    int64_t *marks; /* saving: what is of this rank's samples, see archive_mark */
    int64_t mark_count, mark_capacity;
    roofs_status status;
    roofs_error *err;
} archive;

/* Begins to save (what it held is forgotten), and to load what it holds. */
void archive_begin_saving(archive *a, roofs_error *err);
void archive_begin_loading(archive *a, roofs_error *err);

/* Room for so many bytes: what it takes is within an eighth of what was needed. */
roofs_status archive_reserve(archive *a, int64_t size, roofs_error *err);

/* What it comes to; when loading, all of it must have been taken. */
roofs_status archive_end(archive *a);
void archive_free(archive *a);

/* "damaged": says what is wrong, for checks that bounds do not cover. */
void archive_refuse(archive *a, const char *what);

/* What comes next is not the same on all ranks: a number (of 8 bytes) for each of its samples, or
 * how many there are. So the parts of several ranks can be joined and cut anew. */
enum { ARCHIVE_SAMPLES = 0, ARCHIVE_COUNT = 1 };
void archive_mark(archive *a, int what);

void archive_int(archive *a, int *number, int low, int high);
void archive_i64(archive *a, int64_t *number, int64_t low, int64_t high);

/* How many items of `size` bytes follow; `most` at the most, and not more than there is room
 * for in what is left. */
void archive_count(archive *a, int64_t *count, int64_t most, int64_t size);

void archive_f64(archive *a, double *number);
void archive_doubles(archive *a, double *numbers, int64_t count);
void archive_finite(archive *a, double *numbers, int64_t count); /* refuses others */
void archive_bytes(archive *a, void *bytes, int64_t size);
void archive_put(archive *a, const void *bytes, int64_t size); /* saving only */

/* `size` bytes where they lie, when loading: a view. NULL where there are not so many. */
const void *archive_view(archive *a, int64_t size);

/* Text or NULL. Loaded, it is a view into the archive. */
void archive_text(archive *a, const char **text);

#endif
