#include "base/memory.h"

#include <stdlib.h>
#include <string.h>

enum { ALIGNMENT = 64 }; /* one cache line, one AVX-512 register */

int64_t memory_bytes(int64_t count, int64_t size)
{
    int64_t bytes = 0;
    if (count < 0 || size < 0 || __builtin_mul_overflow(count, size, &bytes))
        return INT64_MAX;
    return bytes;
}

static roofs_status no_memory(int64_t bytes, const char *what, roofs_error *err)
{
    return fail(err, ROOFS_NO_MEMORY, "no memory for %s (%.1f MiB)", what,
                (double)bytes / (1024.0 * 1024.0));
}

roofs_status memory_get(void *out, int64_t count, size_t size, const char *what, roofs_error *err)
{
    void **block = out;
    *block = NULL;
    int64_t bytes = memory_bytes(count, (int64_t)size);
    if (bytes > INT64_MAX - 2 * ALIGNMENT)
        return no_memory(bytes, what, err);
    size_t rounded = ((size_t)bytes / ALIGNMENT + 1) * ALIGNMENT;
    *block = aligned_alloc(ALIGNMENT, rounded);
    if (!*block)
        return no_memory(bytes, what, err);
    memset(*block, 0, rounded);
    return ROOFS_OK;
}

roofs_status memory_grow(void *block, int64_t *capacity, int64_t need, size_t size,
                         const char *what, roofs_error *err)
{
    void **old = block;
    if (need <= *capacity)
        return ROOFS_OK;
    int64_t wanted = *capacity > INT64_MAX / 2 ? need : 2 * *capacity;
    if (wanted < need)
        wanted = need;
    if (wanted < 16)
        wanted = 16;
    void *bigger = NULL;
    TRY(memory_get(&bigger, wanted, size, what, err));
    if (*old)
        memcpy(bigger, *old, (size_t)*capacity * size);
    memory_free(*old);
    *old = bigger;
    *capacity = wanted;
    return ROOFS_OK;
}

roofs_status memory_copy_text(char **out, const char *text, roofs_error *err)
{
    size_t length = strlen(text) + 1;
    TRY(memory_get(out, (int64_t)length, 1, "a name", err));
    memcpy(*out, text, length);
    return ROOFS_OK;
}

void memory_free(void *block)
{
    free(block);
}
