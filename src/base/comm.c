#include "base/comm.h"

#include "base/memory.h"
#include "base/sized.h"

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

roofs_status comm_join(comm *c, const roofs_comm *given, int64_t n, roofs_error *err)
{
    roofs_comm table;
    const roofs_comm *with = &table;
    TRY(comm_import(given, &table, err));
    TRY(comm_check_table(with, err));
    *c = comm_self(n);
    if (with->size == 1)
        return ROOFS_OK;
    c->with = table;
    c->gather_most = GATHER_MOST;
    TRY(memory_get(&c->shards, with->size, sizeof *c->shards, "the ranks", err));
    TRY(memory_get(&c->sizes, with->size, sizeof *c->sizes, "the ranks", err));
    TRY(memory_get(&c->each, with->size, sizeof *c->each, "the ranks", err));
    comm_gather(c, &n, sizeof n, c->shards);
    TRY(comm_status(c, err));
    c->total = 0;
    for (int64_t k = 0; k < with->size; k++) {
        int64_t own = c->shards[k];
        c->first += k < with->rank ? own : 0;
        c->total += own;
        if (own < 1)
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

/* ---- failures ---------------------------------------------------------- */

/* The first rank that failed, and how many did. */
static int64_t comm_first_failure(const comm *c, int64_t *failed)
{
    int64_t first = -1;
    *failed = 0;
    for (int64_t k = c->with.size - 1; k >= 0; k--)
        if (c->each[k] != 0) {
            first = k;
            ++*failed;
        }
    return first;
}

roofs_status comm_agree(comm *c, roofs_status own, roofs_error *err)
{
    double code = (double)own;
    roofs_error unused = {0}, reason = {0}, *mine = err ? err : &unused;
    int64_t failed;
    if (comm_is_alone(c))
        return own;
    comm_gather(c, &code, sizeof code, c->each);
    TRY(comm_status(c, err));
    int64_t first = comm_first_failure(c, &failed);
    if (first < 0)
        return ROOFS_OK;
    roofs_status status = (roofs_status)c->each[first];
    c->agreed = 1;
    comm_take_from(c, first, mine, sizeof reason, &reason);
    TRY(comm_status(c, err));
    if (failed == c->with.size)
        return blame(err, reason.feature, fail(err, status, "%s", reason.text));
    return blame(err, reason.feature,
                 fail(err, status, "rank %lld: %s", (long long)first, reason.text));
}

roofs_status comm_status(const comm *c, roofs_error *err)
{
    if (!c || !c->broken)
        return ROOFS_OK;
    return fail(err, ROOFS_FAILED, "rank %lld: the communication with the other ranks failed",
                (long long)c->with.rank);
}
