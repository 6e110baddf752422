#include "base/memory.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#ifdef __linux__
#include <malloc.h> /* mallopt */
#endif

enum { ALIGNMENT = 64 };                 /* one cache line, one AVX-512 register */
static const size_t HUGE_PAGE = 1 << 21; /* used for blocks of at least four of these */

int64_t memory_bytes(int64_t count, int64_t size)
{
    int64_t bytes = 0;
    if (count < 0 || size < 0 || __builtin_mul_overflow(count, size, &bytes))
        return INT64_MAX;
    return bytes;
}

int64_t memory_sum(int64_t a, int64_t b)
{
    int64_t sum = 0;
    return __builtin_add_overflow(a, b, &sum) ? INT64_MAX : sum;
}

roofs_status memory_within(int64_t needed, int64_t limit, roofs_error *err)
{
    const double mib = 1024.0 * 1024.0;
    if (limit == 0 || needed <= limit)
        return ROOFS_OK;
    return fail(err, ROOFS_OVER_LIMIT,
                "the fit needs %lld bytes (%.1f MiB), more than the limit of %lld (%.1f MiB); "
                "lower mu, batch or hypotheses, store features as f32, or raise the limit",
                (long long)needed, (double)needed / mib, (long long)limit, (double)limit / mib);
}

/* Does not round the size up, unlike aligned_alloc, so that sanitizers detect any overrun. */
static void *allocate_aligned(size_t bytes, size_t alignment)
{
    void *block;
    return posix_memalign(&block, alignment, bytes > 0 ? bytes : 1) == 0 ? block : NULL;
}

/* Asks for huge pages: with small ones reading columns loses a fifth of the bandwidth. The system
 * may ignore the request. */
static void *allocate_huge(size_t bytes)
{
    void *block = allocate_aligned(bytes, HUGE_PAGE);
#ifdef MADV_HUGEPAGE
    if (block)
        madvise(block, bytes, MADV_HUGEPAGE);
#endif
    return block;
}

void *memory_raw(int64_t count, size_t size, const char *what, roofs_error *err)
{
    int64_t bytes = memory_bytes(count, (int64_t)size);
    void *block = NULL;
    if (bytes < INT64_MAX - 2 * (int64_t)HUGE_PAGE)
        block = (size_t)bytes >= 4 * HUGE_PAGE ? allocate_huge((size_t)bytes)
                                               : allocate_aligned((size_t)bytes, ALIGNMENT);
    if (!block)
        fail(err, ROOFS_NO_MEMORY, "no memory for %s (%.3g GiB)", what,
             (double)bytes / (1024.0 * 1024.0 * 1024.0));
    return block;
}

void *memory_zeroed(int64_t count, size_t size, const char *what, roofs_error *err)
{
    void *block = memory_raw(count, size, what, err);
    if (block)
        memset(block, 0, (size_t)count * size);
    return block;
}

void *memory_grown(void *old, int64_t *capacity, int64_t need, size_t size, int zero,
                   const char *what, roofs_error *err)
{
    if (need <= *capacity)
        return old;
    int64_t wanted = *capacity > INT64_MAX / 2 ? need : 2 * *capacity;
    if (wanted < need)
        wanted = need;
    if (wanted < 16)
        wanted = 16;
    void *bigger = (zero ? memory_zeroed : memory_raw)(wanted, size, what, err);
    if (!bigger)
        return old;
    if (old)
        memcpy(bigger, old, (size_t)*capacity * size);
    memory_free(old);
    *capacity = wanted;
    return bigger;
}

/* ---- many ones --------------------------------------------------------- */

static const int64_t ONES_MAPPED = 1 << 24; /* from here on, one small file is mapped often */
static const int64_t ONES_FILE = 1 << 21;

/* A temporary file of ONES_FILE ones; NULL = it cannot be written. */
static FILE *open_ones(void)
{
    unsigned char page[4096];
    FILE *file = tmpfile();
    memset(page, 1, sizeof page);
    for (int64_t done = 0; file && done < ONES_FILE; done += (int64_t)sizeof page)
        fwrite(page, 1, sizeof page, file);
    if (file && fflush(file) != 0) {
        fclose(file);
        return NULL;
    }
    return file;
}

static int64_t round_up(int64_t count)
{
    return (count + ONES_FILE - 1) / ONES_FILE * ONES_FILE;
}

/* Maps the file again and again over the same range of addresses. */
static unsigned char *map_ones(int fd, int64_t count)
{
    const size_t size = (size_t)round_up(count);
    unsigned char *ones =
        mmap(NULL, size, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (ones == MAP_FAILED)
        return NULL;
    for (size_t at = 0; at < size; at += (size_t)ONES_FILE)
        if (mmap(ones + at, (size_t)ONES_FILE, PROT_READ | PROT_WRITE,
                 MAP_PRIVATE | MAP_FIXED | MAP_NORESERVE, fd, 0) == MAP_FAILED) {
            munmap(ones, size);
            return NULL;
        }
    return ones;
}

unsigned char *memory_ones(int64_t count, const char *what, roofs_error *err)
{
    unsigned char *ones = NULL;
    if (count < ONES_MAPPED) {
        ones = memory_raw(count, 1, what, err);
        if (ones)
            memset(ones, 1, (size_t)count);
        return ones;
    }
    FILE *file = open_ones();
    if (file) {
        ones = map_ones(fileno(file), count);
        fclose(file);
    }
    if (!ones)
        fail(err, ROOFS_NO_MEMORY, "no memory or no temporary file for %s", what);
    return ones;
}

void memory_free_ones(unsigned char *ones, int64_t count)
{
    if (count < ONES_MAPPED)
        memory_free(ones);
    else if (ones)
        munmap(ones, (size_t)round_up(count));
}

/* ------------------------------------------------------------------------ */

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

void memory_return_freed(void)
{
#ifdef M_MMAP_THRESHOLD
    mallopt(M_MMAP_THRESHOLD, 1 << 17);
#endif
}
