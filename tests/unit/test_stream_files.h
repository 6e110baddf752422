/* Small files in a temporary folder, and statuses with the reason for a failure. */
#ifndef TEST_STREAM_FILES_H
#define TEST_STREAM_FILES_H

#include "base/status.h" /* before cmocka, which has a `fail` of its own */

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Set-up and tear-down of a test or a group: the current folder is a fresh temporary one. */
static inline int enter_folder(void **state)
{
    char *path = strdup("/tmp/roofs-test-XXXXXX");
    *state = path;
    return mkdtemp(path) && chdir(path) == 0 ? 0 : -1;
}

static inline int leave_folder(void **state)
{
    char command[100];
    snprintf(command, sizeof command, "rm -rf '%s'", (char *)*state);
    free(*state);
    return chdir("/") == 0 && system(command) == 0 ? 0 : -1;
}

static inline void put_bytes(const char *path, const void *bytes, size_t size)
{
    FILE *file = fopen(path, "wb");
    assert_non_null(file);
    assert_int_equal(fwrite(bytes, 1, size, file), size);
    fclose(file);
}

static inline void put_text(const char *path, const char *text)
{
    put_bytes(path, text, strlen(text));
}

/* BAD_DATA (or another status) whose text holds every one of `words`, which end with NULL. */
#define assert_refused(call, wanted, ...)                                                          \
    do {                                                                                           \
        const char *const words_[] = {__VA_ARGS__, NULL};                                          \
        assert_int_equal((call), (wanted));                                                        \
        assert_int_equal(err.status, (wanted));                                                    \
        for (int w_ = 0; words_[w_]; w_++)                                                         \
            if (!strstr(err.text, words_[w_]))                                                     \
                fail_msg("'%s' is not in '%s'", words_[w_], err.text);                             \
    } while (0)

#define assert_fine(call)                                                                          \
    do {                                                                                           \
        if ((call) != ROOFS_OK)                                                                    \
            fail_msg("%s", err.text);                                                              \
    } while (0)

static inline void assert_same_doubles(const double *got, const double *wanted, int64_t count)
{
    assert_memory_equal(got, wanted, (size_t)count * sizeof *got);
}

#endif
