/* A roofs_comm on MPI.
 *
 * Sums are added in the order of the ranks; MPI_Allreduce does not promise any order. Short lists
 * are gathered on every rank, which adds them. Long lists are cut into one slice per rank: each
 * rank gets its slice from all others, adds it and sends the sum to all. So a rank sends each
 * number at most twice, for any number of ranks. */
#include "mpi/wait.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The largest count of numbers, of all ranks together, in a short sum. */
enum { SHORT_SUM = 4096 };

/* Seconds that a rank waits for the others. */
static const double STANDARD_LIMIT = 600;

struct roofs_mpi {
    MPI_Comm ranks;
    waiting wait;
    roofs_comm table;
    double *all; /* the numbers of the ranks, in the order of the ranks */
    int64_t capacity;
    int *counts, *offsets; /* one allocation */
    /* the sum in progress */
    double *values;
    int64_t count;
    MPI_Request request;
    roofs_mpi_traffic traffic;
};

static int64_t slice_length(const roofs_mpi *m, int64_t count)
{
    return (count + m->table.size - 1) / m->table.size;
}

static int is_short(const roofs_mpi *m, int64_t count)
{
    return count * m->table.size <= SHORT_SUM;
}

static int reserve_numbers(roofs_mpi *m, int64_t numbers)
{
    if (numbers <= m->capacity)
        return 0;
    double *all = realloc(m->all, (size_t)numbers * sizeof *all);
    if (!all) {
        snprintf(m->wait.reason, sizeof m->wait.reason, "no memory for %lld numbers of all ranks",
                 (long long)numbers);
        return 1;
    }
    m->all = all;
    m->capacity = numbers;
    return 0;
}

/* to = the sum of `ranks` lists of `count` numbers, in their order. List p begins at p * stride. */
static void add_in_order(const double *all, int64_t ranks, int64_t stride, int64_t count,
                         double *to)
{
    memcpy(to, all, (size_t)count * sizeof *to);
    for (int64_t p = 1; p < ranks; p++)
        for (int64_t k = 0; k < count; k++)
            to[k] += all[p * stride + k];
}

/* waiting_for tests all requests. NOLINTBEGIN(clang-analyzer-optin.mpi.MPI-Checker) */

/* ---- sums -------------------------------------------------------------- */

static int start_short(roofs_mpi *m)
{
    if (reserve_numbers(m, m->count * m->table.size))
        return 1;
    m->traffic.sum_bytes += (m->table.size - 1) * m->count * (int64_t)sizeof(double);
    return waiting_failed(&m->wait,
                          MPI_Iallgather(m->values, (int)m->count, MPI_DOUBLE, m->all,
                                         (int)m->count, MPI_DOUBLE, m->ranks, &m->request));
}

/* Layout of `all`: the numbers of this rank, padded to whole slices; the slice of this rank from
 * each rank; the sum of the slice. */
static int start_long(roofs_mpi *m)
{
    const int64_t slice = slice_length(m, m->count), padded = slice * m->table.size;
    if (slice > INT_MAX || reserve_numbers(m, 2 * padded + slice))
        return 1;
    memcpy(m->all, m->values, (size_t)m->count * sizeof *m->all);
    memset(m->all + m->count, 0, (size_t)(padded - m->count) * sizeof *m->all);
    m->traffic.sum_bytes += 2 * (m->table.size - 1) * slice * (int64_t)sizeof(double);
    return waiting_failed(&m->wait, MPI_Ialltoall(m->all, (int)slice, MPI_DOUBLE, m->all + padded,
                                                  (int)slice, MPI_DOUBLE, m->ranks, &m->request));
}

static int finish_long(roofs_mpi *m)
{
    const int64_t slice = slice_length(m, m->count), padded = slice * m->table.size;
    double *sum = m->all + 2 * padded;
    add_in_order(m->all + padded, m->table.size, slice, slice, sum);
    if (waiting_failed(&m->wait, MPI_Iallgather(sum, (int)slice, MPI_DOUBLE, m->all, (int)slice,
                                                MPI_DOUBLE, m->ranks, &m->request)) ||
        waiting_for(&m->wait, &m->request))
        return 1;
    memcpy(m->values, m->all, (size_t)m->count * sizeof *m->values);
    return 0;
}

static int start_sum(void *user, double *values, int64_t count)
{
    roofs_mpi *m = user;
    m->values = values;
    m->count = count;
    m->traffic.sums++;
    waiting_begin(&m->wait, "sum");
    return is_short(m, count) ? start_short(m) : start_long(m);
}

static int finish_sum(void *user)
{
    roofs_mpi *m = user;
    double begun = MPI_Wtime();
    int failed = waiting_for(&m->wait, &m->request);
    if (!failed && is_short(m, m->count))
        add_in_order(m->all, m->table.size, m->count, m->count, m->values);
    else if (!failed)
        failed = finish_long(m);
    m->traffic.seconds += MPI_Wtime() - begun;
    return failed;
}

/* ---- gathering --------------------------------------------------------- */

/* MPI counts are ints: longer data are sent one rank at a time, in pieces. */
static int gather_long(roofs_mpi *m, const char *mine, const int64_t *sizes, char *all)
{
    const int64_t piece = 1 << 30;
    MPI_Request request;
    for (int64_t p = 0; p < m->table.size; all += sizes[p++]) {
        if (p == m->table.rank)
            memcpy(all, mine, (size_t)sizes[p]);
        for (int64_t at = 0; at < sizes[p]; at += piece) {
            int64_t size = sizes[p] - at < piece ? sizes[p] - at : piece;
            if (waiting_failed(&m->wait, MPI_Ibcast(all + at, (int)size, MPI_BYTE, (int)p, m->ranks,
                                                    &request)) ||
                waiting_for(&m->wait, &request))
                return 1;
        }
    }
    return 0;
}

static int gather_short(roofs_mpi *m, const void *mine, void *all)
{
    MPI_Request request; /* a sum may be in progress */
    return waiting_failed(&m->wait,
                          MPI_Iallgatherv(mine, m->counts[m->table.rank], MPI_BYTE, all, m->counts,
                                          m->offsets, MPI_BYTE, m->ranks, &request)) ||
           waiting_for(&m->wait, &request);
}

static int gather_bytes(void *user, const void *mine, const int64_t *sizes, void *all)
{
    roofs_mpi *m = user;
    int64_t total = 0;
    double begun = MPI_Wtime();
    int failed;
    for (int64_t p = 0; p < m->table.size; p++) {
        m->counts[p] = (int)sizes[p];
        m->offsets[p] = (int)total;
        total += sizes[p];
    }
    m->traffic.gathers++;
    m->traffic.gather_bytes += (m->table.size - 1) * sizes[m->table.rank];
    waiting_begin(&m->wait, "gather");
    failed = total > INT_MAX ? gather_long(m, mine, sizes, all) : gather_short(m, mine, all);
    m->traffic.seconds += MPI_Wtime() - begun;
    return failed;
}

/* NOLINTEND(clang-analyzer-optin.mpi.MPI-Checker) */

/* ---- joining and leaving ----------------------------------------------- */

static roofs_status refuse(roofs_error *err, roofs_status status, const char *why)
{
    if (err) {
        err->status = status;
        err->feature = -1;
        memset(err->reserved, 0, sizeof err->reserved);
        snprintf(err->text, sizeof err->text, "%s", why);
    }
    return status;
}

static const char *reason_of(void *user)
{
    const roofs_mpi *m = user;
    return m->wait.reason[0] != '\0' ? m->wait.reason : NULL;
}

void roofs_mpi_set_limit(roofs_mpi *m, double seconds)
{
    if (m)
        m->wait.limit = seconds > 0 ? seconds : 0;
}

void roofs_mpi_stop(roofs_mpi *m, const char *reason)
{
    if (m)
        waiting_stop(&m->wait, reason && reason[0] ? reason : "it gave no reason");
}

void roofs_mpi_leave(roofs_mpi *m)
{
    if (!m || m->wait.reason[0] != '\0') /* MPI may still write to the memory of a failed call */
        return;
    if (m->ranks != MPI_COMM_NULL) {
        waiting_end(&m->wait);
        MPI_Comm_free(&m->ranks);
    }
    free(m->all);
    free(m->counts);
    free(m);
}

roofs_status roofs_mpi_join(roofs_mpi **out, MPI_Comm comm, roofs_error *err)
{
    int rank = 0, size = 0;
    if (!out)
        return refuse(err, ROOFS_BAD_CALL, "roofs_mpi_join: out must not be NULL");
    *out = NULL;
    if (comm == MPI_COMM_NULL)
        return refuse(err, ROOFS_BAD_CALL, "roofs_mpi_join: comm must not be MPI_COMM_NULL");
    roofs_mpi *m = calloc(1, sizeof *m);
    if (!m)
        return refuse(err, ROOFS_NO_MEMORY, "no memory for the ranks");
    m->ranks = MPI_COMM_NULL;
    if (MPI_Comm_dup(comm, &m->ranks) != MPI_SUCCESS ||
        MPI_Comm_rank(m->ranks, &rank) != MPI_SUCCESS ||
        MPI_Comm_size(m->ranks, &size) != MPI_SUCCESS) {
        roofs_mpi_leave(m);
        return refuse(err, ROOFS_FAILED, "MPI cannot copy the communicator");
    }
    MPI_Comm_set_errhandler(m->ranks, MPI_ERRORS_RETURN);
    m->wait = (waiting){.ranks = m->ranks, .rank = rank, .size = size, .limit = STANDARD_LIMIT};
    m->table = (roofs_comm){.struct_size = sizeof m->table,
                            .rank = rank,
                            .size = size,
                            .user = m,
                            .start = start_sum,
                            .finish = finish_sum,
                            .gather = gather_bytes,
                            .reason = reason_of};
    m->counts = calloc(2 * (size_t)size, sizeof *m->counts);
    if (!m->counts) {
        roofs_mpi_leave(m);
        return refuse(err, ROOFS_NO_MEMORY, "no memory for the ranks");
    }
    m->offsets = m->counts + size;
    *out = m;
    return ROOFS_OK;
}

const roofs_comm *roofs_mpi_comm(const roofs_mpi *m)
{
    return m ? &m->table : NULL;
}

/* The same as sized_export of base/sized.h: this library does not link base. */
void roofs_mpi_count_sized(const roofs_mpi *m, roofs_mpi_traffic *out, size_t size)
{
    const size_t known = size < sizeof *out ? size : sizeof *out;
    roofs_mpi_traffic now = m ? m->traffic : (roofs_mpi_traffic){0};
    if (!out || size < sizeof known)
        return;
    now.struct_size = known;
    memset(out, 0, size);
    memcpy(out, &now, known);
}
