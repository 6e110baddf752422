#include "base/archive.h"

#include "base/memory.h"

#include <math.h>
#include <string.h>

enum { STEP = 8 }; /* bytes; keeps numbers aligned */

void archive_begin_saving(archive *a, roofs_error *err)
{
    a->loading = 0;
    a->size = a->at = 0;
    a->mark_count = 0;
    a->status = ROOFS_OK;
    a->err = err;
}

void archive_begin_loading(archive *a, roofs_error *err)
{
    a->loading = 1;
    a->version = ARCHIVE_VERSION;
    a->at = 0;
    a->status = ROOFS_OK;
    a->err = err;
}

roofs_status archive_reserve(archive *a, int64_t size, roofs_error *err)
{
    const int64_t wanted = memory_sum(size, size / 8);
    unsigned char *bigger = NULL;
    if (size <= a->capacity)
        return ROOFS_OK;
    TRY(memory_reserve(&bigger, wanted, 1, "the state of the fit", err));
    if (a->size > 0)
        memcpy(bigger, a->bytes, (size_t)a->size);
    memory_free(a->bytes);
    a->bytes = bigger;
    a->capacity = wanted;
    return ROOFS_OK;
}

roofs_status archive_end(archive *a)
{
    if (a->loading && a->status == ROOFS_OK && a->at != a->size)
        archive_refuse(a, "it has bytes after its end");
    return a->status;
}

void archive_free(archive *a)
{
    memory_free(a->bytes);
    memory_free(a->marks);
    *a = (archive){0};
}

void archive_mark(archive *a, int what)
{
    if (a->loading || a->status != ROOFS_OK)
        return;
    a->status = memory_grow(&a->marks, &a->mark_capacity, a->mark_count + 1, sizeof *a->marks,
                            "the state of the fit", a->err);
    if (a->status == ROOFS_OK)
        a->marks[a->mark_count++] = a->size * 2 + what; /* sizes are multiples of 8 */
}

void archive_refuse(archive *a, const char *what)
{
    if (a->status == ROOFS_OK)
        a->status = fail(a->err, ROOFS_BAD_DATA, "the checkpoint is damaged: %s", what);
}

void archive_check_samples(archive *a, const int32_t *samples, int64_t count, int64_t n)
{
    for (int64_t k = 0, before = -1; samples && k < count && a->status == ROOFS_OK; k++) {
        if (samples[k] <= before || samples[k] >= n)
            archive_refuse(a, "the samples of a feature do not ascend");
        before = samples[k];
    }
}

/* ---- bytes ------------------------------------------------------------- */

static int64_t archive_padded(int64_t size)
{
    return memory_sum(size, STEP - 1) / STEP * STEP;
}

void archive_put(archive *a, const void *bytes, int64_t size)
{
    int64_t bytes_needed = archive_padded(size);
    if (a->status != ROOFS_OK || size == 0)
        return;
    a->status = archive_reserve(a, memory_sum(a->size, bytes_needed), a->err);
    if (a->status != ROOFS_OK)
        return;
    memset(a->bytes + a->size, 0, (size_t)bytes_needed);
    memcpy(a->bytes + a->size, bytes, (size_t)size);
    a->size += bytes_needed;
}

const void *archive_view(archive *a, int64_t size)
{
    if (a->status == ROOFS_OK && (size < 0 || archive_padded(size) > a->size - a->at))
        archive_refuse(a, "it ends too early");
    if (a->status != ROOFS_OK)
        return NULL;
    const void *next = a->bytes + a->at;
    a->at += archive_padded(size);
    return next;
}

void archive_bytes(archive *a, void *bytes, int64_t size)
{
    if (!a->loading) {
        archive_put(a, bytes, size);
        return;
    }
    const void *next = archive_view(a, size);
    if (next && size > 0)
        memcpy(bytes, next, (size_t)size);
}

/* ---- numbers ----------------------------------------------------------- */

void archive_i64(archive *a, int64_t *number, int64_t low, int64_t high)
{
    archive_bytes(a, number, sizeof *number);
    if (!a->loading)
        return;
    if (a->status == ROOFS_OK && (*number < low || *number > high))
        archive_refuse(a, "a number is out of range");
    if (a->status != ROOFS_OK)
        *number = low;
}

void archive_int(archive *a, int *number, int low, int high)
{
    int64_t wide = *number;
    archive_i64(a, &wide, low, high);
    *number = (int)wide;
}

void archive_count(archive *a, int64_t *count, int64_t most, int64_t size)
{
    archive_i64(a, count, 0, most);
    if (a->loading && memory_bytes(*count, size) > a->size - a->at) {
        archive_refuse(a, "it ends too early");
        *count = 0;
    }
}

void archive_f64(archive *a, double *number)
{
    archive_bytes(a, number, sizeof *number);
}

void archive_doubles(archive *a, double *numbers, int64_t count)
{
    archive_bytes(a, numbers, memory_bytes(count, sizeof *numbers));
}

void archive_finite(archive *a, double *numbers, int64_t count)
{
    archive_doubles(a, numbers, count);
    for (int64_t k = 0; a->loading && a->status == ROOFS_OK && k < count; k++)
        if (!isfinite(numbers[k]))
            archive_refuse(a, "a number is not finite");
}

/* ---- text -------------------------------------------------------------- */

/* The length includes the final zero; it is 0 for NULL. */
void archive_text(archive *a, const char **text)
{
    int64_t length = !a->loading && *text ? (int64_t)strlen(*text) + 1 : 0;
    archive_count(a, &length, INT64_MAX, 1);
    if (!a->loading) {
        archive_put(a, *text, length);
        return;
    }
    const char *loaded = length > 0 ? archive_view(a, length) : NULL;
    if (loaded && memchr(loaded, '\0', (size_t)length) != loaded + length - 1) {
        archive_refuse(a, "a text has the wrong length");
        loaded = NULL;
    }
    *text = loaded;
}
