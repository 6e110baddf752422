/* Loads a fit that several ranks saved, into any number of ranks. */
#include "api/checkpoint.h"
#include "api/join.h"
#include "base/comm.h"
#include "base/memory.h"

#include <inttypes.h>
#include <string.h>

typedef struct saved_ranks {
    roofs_read read;
    roofs_rewind rewind;
    void *const *files;
    int64_t count;
    join_shard *shards; /* `opened` of them, in memory that grows with the files that were read */
    int64_t opened, capacity;
    int64_t total; /* samples of all shards */
    join joint;    /* the samples of this rank */
} saved_ranks;

static void saved_ranks_free(saved_ranks *s)
{
    for (int64_t k = 0; k < s->opened; k++)
        join_shard_free(&s->shards[k]);
    memory_free(s->shards);
    s->shards = NULL;
    s->opened = s->capacity = 0;
    join_free(&s->joint);
    s->joint = (join){0};
}

static roofs_status open_saved_rank(saved_ranks *s, int64_t k, roofs_error *err)
{
    TRY(memory_grow(&s->shards, &s->capacity, k + 1, sizeof *s->shards, "a checkpoint", err));
    join_shard *shard = &s->shards[s->opened++];
    shard->from = (section_source){.read = s->read, .user = s->files[k]};
    if (s->rewind(s->files[k]) != 0)
        return fail(err, ROOFS_IO,
                    "the checkpoint of rank %" PRId64 " cannot be read again from its start", k);
    TRY(section_read_head(&shard->from, err));
    if (shard->from.version != s->shards[0].from.version)
        return fail(err, ROOFS_BAD_DATA,
                    "the checkpoint of rank %" PRId64 " has another version than that of rank 0",
                    k);
    return join_shard_open(shard, &s->total, err);
}

/* Reads the section SHARD of each file. Together the files must have every sample once. */
static roofs_status open_saved_ranks(saved_ranks *s, roofs_error *err)
{
    int64_t next = 0;
    for (int64_t k = 0; k < s->count; k++) {
        TRY(open_saved_rank(s, k, err));
        if (s->shards[k].first != next)
            return fail(err, ROOFS_BAD_DATA,
                        "the files of the ranks do not fit together: the samples of rank %" PRId64
                        " do not follow those before it",
                        k);
        next += s->shards[k].n;
    }
    if (next != s->total)
        return fail(err, ROOFS_BAD_DATA,
                    "the files of the ranks have %" PRId64 " of %" PRId64
                    " samples; give the files of all ranks",
                    next, s->total);
    return ROOFS_OK;
}

/* Finds the shards that have samples of this rank. */
static roofs_status choose_saved_ranks(saved_ranks *s, int64_t rank, int64_t ranks,
                                       roofs_error *err)
{
    join *j = &s->joint;
    int64_t first = 0, count = 0;
    TRY(open_saved_ranks(s, err));
    if (s->total < ranks)
        return fail(err, ROOFS_BAD_DATA,
                    "%" PRId64 " samples cannot be split over %" PRId64 " ranks; use fewer ranks",
                    s->total, ranks);
    j->first = shard_begin(s->total, rank, ranks);
    j->n = shard_begin(s->total, rank + 1, ranks) - j->first;
    while (first < s->opened && s->shards[first].first + s->shards[first].n <= j->first)
        first++;
    while (first + count < s->opened && s->shards[first + count].first < j->first + j->n)
        count++;
    j->shards = s->shards + first;
    j->count = count;
    return ROOFS_OK;
}

/* The reason why the files could not be joined, if there is one, instead of that of the reader. */
static roofs_status joined_status(const saved_ranks *s, roofs_status status, roofs_error *err)
{
    if (s->joint.why.status == ROOFS_OK)
        return status;
    if (err)
        *err = s->joint.why;
    return s->joint.why.status;
}

/* Reads all sections once before loading: the other ranks would wait forever for a rank that finds
 * damage while it loads. */
static roofs_status verify_saved_ranks(saved_ranks *s, int64_t rank, int64_t ranks,
                                       roofs_error *err)
{
    char name[SECTION_NAME + 1];
    archive a = {0};
    roofs_status status;
    TRY(choose_saved_ranks(s, rank, ranks, err));
    section_source from = join_source(&s->joint);
    do
        status = section_next(&from, name, &a, err);
    while (status == ROOFS_OK && strcmp(name, CHECKPOINT_END) != 0);
    archive_free(&a);
    return joined_status(s, status, err);
}

static roofs_status load_joined(saved_ranks *s, const roofs_settings *run, const roofs_comm *ranks,
                                roofs_estimator **out, roofs_error *err)
{
    section_source from = join_source(&s->joint);
    archive a = {0};
    roofs_status status = section_read(&from, CHECKPOINT_BEGIN, &a, err);
    if (status == ROOFS_OK)
        status = checkpoint_load(out, &a, &from, run, ranks, err);
    archive_free(&a);
    return status == ROOFS_OK ? status : joined_status(s, status, err);
}

static roofs_status check_load(const saved_ranks *s, roofs_error *err)
{
    const char *missing = !s->read ? "read" : !s->rewind ? "rewind" : !s->files ? "files" : NULL;
    if (missing)
        return fail(err, ROOFS_BAD_CALL, "roofs_load_split: %s must not be NULL", missing);
    if (s->count >= 1)
        return ROOFS_OK;
    return fail(err, ROOFS_BAD_CALL, "roofs_load_split: count must be at least 1");
}

roofs_status roofs_load_split(roofs_estimator **out, roofs_read read, roofs_rewind rewind,
                              void *const *files, int64_t count, const roofs_settings *run,
                              const roofs_comm *given, roofs_error *err)
{
    static const roofs_comm alone = {.size = 1};
    const roofs_comm *with = given ? given : &alone;
    saved_ranks s = {.read = read, .rewind = rewind, .files = files, .count = count};
    comm c = {0};
    REQUIRE(out);
    *out = NULL;
    roofs_status status = comm_join(&c, with, 1, check_load(&s, err), err);
    if (status == ROOFS_OK)
        status = comm_agree(&c, verify_saved_ranks(&s, with->rank, with->size, err), err);
    saved_ranks_free(&s);
    if (status == ROOFS_OK)
        status = comm_agree(&c, choose_saved_ranks(&s, with->rank, with->size, err), err);
    if (status == ROOFS_OK)
        status = load_joined(&s, run, given, out, err);
    saved_ranks_free(&s);
    comm_leave(&c);
    return status;
}
