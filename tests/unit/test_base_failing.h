/* Memory that can fail. The linker replaces posix_memalign and free (tests/CMakeLists.txt):
 * allocations are counted, and one can fail, in any thread. */
#ifndef TEST_BASE_FAILING_H
#define TEST_BASE_FAILING_H

#include <errno.h>
#include <stdatomic.h>
#include <stddef.h>

int __real_posix_memalign(void **block, size_t alignment, size_t size);
int __wrap_posix_memalign(void **block, size_t alignment, size_t size);
void __real_free(void *block);
void __wrap_free(void *block);

static atomic_llong asked;       /* allocations so far */
static atomic_llong asked_bytes; /* of those that did not fail */
static atomic_llong failing;     /* the allocation that fails, from 1; 0 = none */
static atomic_llong held;        /* allocations that were not freed */

int __wrap_posix_memalign(void **block, size_t alignment, size_t size)
{
    if (++asked == failing)
        return ENOMEM;
    asked_bytes += (long long)size;
    held++;
    return __real_posix_memalign(block, alignment, size);
}

void __wrap_free(void *block)
{
    held -= block != NULL;
    __real_free(block);
}

#endif
