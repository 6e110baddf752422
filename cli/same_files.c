#include "cli/same_files.h"

#include "base/digest.h"
#include "base/memory.h"
#include "cli/folder.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

/* A file of up to WHOLE_BLOCKS blocks is read completely. Many files share TOTAL_BLOCKS. */
enum { BLOCK = 4096, WHOLE_BLOCKS = 64, FEWEST_BLOCKS = 2, TOTAL_BLOCKS = 1 << 14 };

static int64_t blocks_per_file(int64_t files)
{
    const int64_t each = TOTAL_BLOCKS / (files > 0 ? files : 1);
    return each > WHOLE_BLOCKS ? WHOLE_BLOCKS : each < FEWEST_BLOCKS ? FEWEST_BLOCKS : each;
}

/* The digest of `blocks` blocks from the first to the last. */
static uint64_t digest_blocks(FILE *file, int64_t size, int64_t blocks)
{
    unsigned char bytes[BLOCK];
    const int64_t all = (size + BLOCK - 1) / BLOCK, count = all < blocks ? all : blocks;
    uint64_t digest = digest_of(&size, sizeof size, 0);
    for (int64_t k = 0; k < count; k++) {
        const int64_t block = count > 1 ? k * (all - 1) / (count - 1) : 0;
        if (fseeko(file, (off_t)(block * BLOCK), SEEK_SET) != 0)
            return 0;
        digest = digest_of(bytes, (int64_t)fread(bytes, 1, sizeof bytes, file), digest);
    }
    return digest;
}

/* 0 for what is not a regular file or cannot be read: the reader reports that. */
static uint64_t digest_file(const char *path, int64_t blocks)
{
    struct stat info;
    uint64_t digest = 0;
    if (path_is_standard(path) || stat(path, &info) != 0 || !S_ISREG(info.st_mode))
        return 0;
    FILE *file = fopen(path, "rb");
    if (file) {
        digest = digest_blocks(file, (int64_t)info.st_size, blocks);
        fclose(file);
    }
    return digest;
}

static const char *path_at(const source *s, const char *const *others, int64_t k)
{
    for (; *others && k > 0; k--)
        others++;
    return *others ? *others : s ? source_file_at(s, k) : NULL;
}

/* The first file that differs between rank 0 and another rank. */
static roofs_status find_difference(comm *c, const uint64_t *own, uint64_t *first, uint64_t *theirs,
                                    int64_t count, int64_t *rank, int64_t *file, roofs_error *err)
{
    const int64_t bytes = count * (int64_t)sizeof *own;
    *file = -1;
    comm_take_from(c, 0, own, bytes, first);
    for (*rank = 1; *rank < c->with.size; ++*rank) {
        comm_take_from(c, *rank, own, bytes, theirs);
        TRY(comm_status(c, err));
        for (int64_t k = 0; k < count; k++)
            if (first[k] != theirs[k]) {
                *file = k;
                return ROOFS_OK;
            }
    }
    return ROOFS_OK;
}

static roofs_status compare_digests(comm *c, const source *s, const char *const *others,
                                    uint64_t *digests, int64_t count, roofs_error *err)
{
    int64_t rank, file;
    for (int64_t k = 0; k < count; k++)
        digests[k] = digest_file(path_at(s, others, k), blocks_per_file(count));
    TRY(find_difference(c, digests, digests + count, digests + 2 * count, count, &rank, &file,
                        err));
    if (file < 0)
        return ROOFS_OK;
    c->agreed = 1;
    return fail(err, ROOFS_BAD_DATA,
                "%s is not the same file on rank 0 and on rank %" PRId64
                "; give all ranks the same files",
                path_at(s, others, file), rank);
}

roofs_status same_files(comm *c, const source *s, const char *const *others, roofs_error *err)
{
    uint64_t *digests = NULL;
    int64_t count = 0;
    if (comm_is_alone(c))
        return ROOFS_OK;
    while (path_at(s, others, count))
        count++;
    roofs_status own = memory_get(&digests, 3 * count, sizeof *digests, "a list of files", err);
    roofs_status status =
        comm_agree_at(c, (comm_point){.call = "the list of files", .count = count}, own, err);
    if (status == ROOFS_OK)
        status = compare_digests(c, s, others, digests, count, err);
    memory_free(digests);
    return status;
}
