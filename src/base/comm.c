#include "base/comm.h"

#include "base/digest.h"
#include "base/memory.h"
#include "base/sized.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/* Every rank sorts this many numbers faster than the ranks exchange many short messages. */
enum { GATHER_MOST = 1 << 16 };

int64_t shard_begin(int64_t n, int64_t rank, int64_t ranks)
{
    return n / ranks * rank + n % ranks * rank / ranks;
}

comm comm_self(int64_t n)
{
    return (comm){.with = {.size = 1}, .n = n, .total = n, .gather_most = INT64_MAX};
}

static roofs_status comm_import(const roofs_comm *given, roofs_comm *own, roofs_error *err)
{
    static const sized_type type = {.name = "roofs_comm",
                                    .size = sizeof *own,
                                    .first = offsetof(roofs_comm, gather) + sizeof given->gather};
    *own = (roofs_comm){0};
    return sized_import(&type, own, given, given->struct_size ? given->struct_size : type.first,
                        err);
}

static roofs_status comm_check_table(const roofs_comm *with, roofs_error *err)
{
    if (with->size < 1 || with->rank < 0 || with->rank >= with->size)
        return fail(err, ROOFS_BAD_CALL, "rank %lld is not possible with %lld ranks",
                    (long long)with->rank, (long long)with->size);
    if (with->size > 1 && (!with->start || !with->finish || !with->gather))
        return fail(err, ROOFS_BAD_CALL, "a function of roofs_comm is NULL");
    return ROOFS_OK;
}

static roofs_status comm_allocate(comm *c, int64_t ranks, roofs_error *err)
{
    TRY(memory_get(&c->shards, ranks, sizeof *c->shards, "the ranks", err));
    TRY(memory_get(&c->sizes, ranks, sizeof *c->sizes, "the ranks", err));
    return memory_get(&c->each, ranks, sizeof *c->each, "the ranks", err);
}

roofs_status comm_join(comm *c, const roofs_comm *given, int64_t n, roofs_status own,
                       roofs_error *err)
{
    roofs_error unused = {0},
                *why = own == ROOFS_OK ? err : &unused; /* err holds the reason of `own` */
    roofs_comm table;
    const roofs_comm *with = &table;
    *c = comm_self(n);
    roofs_status status = comm_import(given, &table, why);
    if (status == ROOFS_OK)
        status = comm_check_table(with, why);
    if (status != ROOFS_OK || with->size == 1)
        return own == ROOFS_OK ? status : own;
    TRY(comm_allocate(c, with->size, why));
    c->with = table;
    c->gather_most = GATHER_MOST;
    TRY(comm_agree_at(c, (comm_point){.call = "the start of a fit"}, own, err));
    comm_gather(c, &n, sizeof n, c->shards);
    TRY(comm_status(c, err));
    c->total = 0;
    for (int64_t k = 0; k < with->size; k++) {
        c->first += k < with->rank ? c->shards[k] : 0;
        c->total += c->shards[k];
        if (c->shards[k] < 1)
            return fail(err, ROOFS_BAD_DATA, "rank %lld has no samples; use fewer ranks",
                        (long long)k);
    }
    return ROOFS_OK;
}

void comm_leave(comm *c)
{
    memory_free(c->shards);
    memory_free(c->sizes);
    memory_free(c->each);
    *c = (comm){0};
}

/* ---- sums -------------------------------------------------------------- */

void comm_start_sum(comm *c, double *values, int64_t count)
{
    if (!comm_is_alone(c) && !c->broken)
        c->broken = c->with.start(c->with.user, values, count) != 0;
}

void comm_finish_sum(comm *c)
{
    if (!comm_is_alone(c) && !c->broken)
        c->broken = c->with.finish(c->with.user) != 0;
}

void comm_sum(comm *c, double *values, int64_t count)
{
    comm_start_sum(c, values, count);
    comm_finish_sum(c);
}

double comm_sum_of(comm *c, double own)
{
    comm_sum(c, &own, 1);
    return own;
}

int64_t comm_count(comm *c, int64_t own)
{
    return comm_is_alone(c) ? own : (int64_t)comm_sum_of(c, (double)own);
}

/* ---- gathering --------------------------------------------------------- */

/* Gathers c->sizes[k] bytes of each rank k; a single rank copies its `bytes`. */
static void gather_sizes(comm *c, const void *mine, int64_t bytes, void *all)
{
    if (comm_is_alone(c))
        memcpy(all, mine, (size_t)bytes);
    else if (!c->broken)
        c->broken = c->with.gather(c->with.user, mine, c->sizes, all) != 0;
}

void comm_gather(comm *c, const void *mine, int64_t bytes, void *all)
{
    for (int64_t k = 0; !comm_is_alone(c) && k < c->with.size; k++)
        c->sizes[k] = bytes;
    gather_sizes(c, mine, bytes, all);
}

double comm_largest_of(comm *c, double own)
{
    if (comm_is_alone(c))
        return own;
    comm_gather(c, &own, sizeof own, c->each);
    for (int64_t k = 0; k < c->with.size; k++)
        own = c->each[k] > own ? c->each[k] : own;
    return own;
}

int64_t comm_shard(const comm *c, int64_t rank)
{
    return comm_is_alone(c) ? c->n : c->shards[rank];
}

void comm_take_from(comm *c, int64_t rank, const void *mine, int64_t bytes, void *theirs)
{
    for (int64_t k = 0; !comm_is_alone(c) && k < c->with.size; k++)
        c->sizes[k] = k == rank ? bytes : 0;
    gather_sizes(c, mine, bytes, theirs);
}

void comm_gather_samples(comm *c, int64_t n, const void *mine, int64_t bytes, void *all)
{
    for (int64_t k = 0; !comm_is_alone(c) && k < c->with.size; k++)
        c->sizes[k] = c->shards[k] * bytes;
    gather_sizes(c, mine, n * bytes, all);
}

/* Fills c->sizes with the bytes of each rank. Returns the number of numbers of all ranks. */
static int64_t exchange_sizes(comm *c, int64_t count)
{
    if (comm_is_alone(c))
        return count;
    const int64_t bytes = count * (int64_t)sizeof(double);
    int64_t number = 0;
    comm_gather(c, &bytes, sizeof bytes, c->each);
    memcpy(c->sizes, c->each, (size_t)c->with.size * sizeof *c->sizes);
    for (int64_t k = 0; k < c->with.size && !c->broken; k++)
        number += c->sizes[k] / (int64_t)sizeof(double);
    return number;
}

void comm_gather_some(comm *c, const double *mine, int64_t count, double *all)
{
    exchange_sizes(c, count);
    gather_sizes(c, mine, count * (int64_t)sizeof *all, all);
}

roofs_status comm_gather_all(comm *c, const double *mine, int64_t count, double **all,
                             int64_t *number, roofs_error *err)
{
    *all = NULL;
    *number = exchange_sizes(c, count);
    TRY(comm_status(c, err));
    TRY(memory_get(all, *number, sizeof **all, "numbers of all ranks", err));
    gather_sizes(c, mine, count * (int64_t)sizeof **all, *all);
    if (comm_status(c, err) == ROOFS_OK)
        return ROOFS_OK;
    memory_free(*all);
    *all = NULL;
    return ROOFS_FAILED;
}

/* ---- agreement --------------------------------------------------------- */

/* A word holds a mark, a digest of the point, and the status of the rank. The mark makes it
 * unlikely that the number of another call is taken for a word. */
enum { WORD_MARK = 0x5a, STATUS_BITS = 8, POINT_BITS = 48 };

static int64_t word_of(const comm_point *at, roofs_status own)
{
    const uint64_t numbers[] = {(uint64_t)at->count, at->digest};
    uint64_t all = digest_of(at->call, (int64_t)strlen(at->call), 0);
    all = digest_of(numbers, sizeof numbers, all) >> (64 - POINT_BITS);
    return (int64_t)WORD_MARK << (STATUS_BITS + POINT_BITS) |
           (int64_t)(all << STATUS_BITS | (uint64_t)own);
}

static int64_t word_at(const comm *c, int64_t rank)
{
    int64_t word;
    memcpy(&word, &c->each[rank], sizeof word);
    return word;
}

static int word_is_marked(int64_t word)
{
    return word >> (STATUS_BITS + POINT_BITS) == WORD_MARK;
}

static roofs_status status_in(int64_t word)
{
    return word_is_marked(word) ? (roofs_status)(word & ((1 << STATUS_BITS) - 1)) : ROOFS_OK;
}

/* The first rank that failed, and how many did. */
static int64_t comm_first_failure(const comm *c, int64_t *failed)
{
    int64_t first = -1;
    *failed = 0;
    for (int64_t k = c->with.size - 1; k >= 0; k--)
        if (status_in(word_at(c, k)) != ROOFS_OK) {
            first = k;
            ++*failed;
        }
    return first;
}

/* A point that can be sent. */
typedef struct sent_point {
    char call[40];
    int64_t count;
} sent_point;

static sent_point point_of(comm *c, int64_t rank, const comm_point *at)
{
    sent_point own = {.count = at->count}, theirs = {0};
    snprintf(own.call, sizeof own.call, "%s", at->call);
    comm_take_from(c, rank, &own, sizeof own, &theirs);
    return theirs;
}

static roofs_status refuse_points(comm *c, int64_t other, const comm_point *at, roofs_error *err)
{
    const sent_point first = point_of(c, 0, at), second = point_of(c, other, at);
    TRY(comm_status(c, err));
    if (strcmp(first.call, second.call) != 0)
        return fail(err, ROOFS_BAD_CALL,
                    "the ranks differ: rank 0 is at %s, rank %" PRId64 " at %s", first.call, other,
                    second.call);
    if (first.count != second.count)
        return fail(err, ROOFS_BAD_DATA,
                    "the ranks differ in %s: %" PRId64 " on rank 0, %" PRId64 " on rank %" PRId64
                    "; give all ranks the same files and options",
                    first.call, first.count, second.count, other);
    return fail(err, ROOFS_BAD_DATA,
                "the ranks differ in %s: rank %" PRId64
                " is not as rank 0; give all ranks the same files and options",
                first.call, other);
}

/* OK if all ranks sent the same word. */
static roofs_status compare_points(comm *c, const comm_point *at, roofs_error *err)
{
    for (int64_t k = 1; k < c->with.size; k++)
        if (word_at(c, k) != word_at(c, 0)) {
            c->agreed = 1;
            return refuse_points(c, k, at, err);
        }
    return ROOFS_OK;
}

roofs_status comm_agree_at(comm *c, comm_point at, roofs_status own, roofs_error *err)
{
    roofs_error unused = {0}, reason = {0}, *mine = err ? err : &unused;
    int64_t failed;
    if (comm_is_alone(c))
        return own;
    const int64_t word = word_of(&at, own);
    comm_gather(c, &word, sizeof word, c->each);
    TRY(comm_status(c, err));
    int64_t first = comm_first_failure(c, &failed);
    if (first < 0)
        return compare_points(c, &at, err);
    roofs_status status = status_in(word_at(c, first));
    c->agreed = 1;
    comm_take_from(c, first, mine, sizeof reason, &reason);
    TRY(comm_status(c, err));
    reason.text[sizeof reason.text - 1] = '\0';
    if (failed == c->with.size)
        return blame(err, reason.feature, fail(err, status, "%s", reason.text));
    return blame(err, reason.feature,
                 fail(err, status, "rank %lld: %s", (long long)first, reason.text));
}

roofs_status comm_agree(comm *c, roofs_status own, roofs_error *err)
{
    return comm_agree_at(c, (comm_point){.call = "a check"}, own, err);
}

/* ---- failures ---------------------------------------------------------- */

roofs_status comm_status(const comm *c, roofs_error *err)
{
    if (!c || !c->broken)
        return ROOFS_OK;
    const char *reason = c->with.reason ? c->with.reason(c->with.user) : NULL;
    return fail(err, ROOFS_FAILED, "rank %lld: the communication with the other ranks failed%s%s",
                (long long)c->with.rank, reason ? ": " : "", reason ? reason : "");
}
