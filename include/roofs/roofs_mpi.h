/* roofs on samples that are split over the ranks of an MPI communicator. Link libroofs_mpi and
 * libroofs.
 *
 *     MPI_Init_thread(&argc, &argv, MPI_THREAD_SERIALIZED, &got);
 *     roofs_mpi *mpi;
 *     roofs_mpi_join(&mpi, MPI_COMM_WORLD, &err);
 *     roofs_create_split(&e, &s, y_of_this_rank, n_of_this_rank, roofs_mpi_comm(mpi), &err);
 *     ... as with one rank: all ranks make all calls, with the values of their own samples ...
 *     roofs_destroy(e);
 *     roofs_mpi_leave(mpi);
 *
 * Sums are added in the order of the ranks: the same number of ranks gives the same bits. With more
 * than one thread per rank, another thread than the caller's may call MPI, one at a time. MPI must
 * then provide MPI_THREAD_SERIALIZED. */
#ifndef ROOFS_ROOFS_MPI_H
#define ROOFS_ROOFS_MPI_H

#include <mpi.h>
#include <roofs/roofs.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct roofs_mpi roofs_mpi;

/* All ranks make this call. The communicator is copied (MPI_Comm_dup): messages of roofs never mix
 * with those of the caller. On failure *out is NULL. */
ROOFS_CHECKED roofs_status roofs_mpi_join(roofs_mpi **out, MPI_Comm comm, roofs_error *err);

/* The table for roofs_create_split: a view, valid until roofs_mpi_leave. NULL if m is NULL. */
ROOFS_API const roofs_comm *roofs_mpi_comm(const roofs_mpi *m);

/* What this rank has sent so far. docs/scaling.md says how bytes are counted. */
typedef struct roofs_mpi_traffic {
    size_t struct_size;
    int64_t sums, sum_bytes;
    int64_t gathers, gather_bytes;
    double seconds; /* time spent waiting for other ranks */
} roofs_mpi_traffic;

ROOFS_API void roofs_mpi_count_sized(const roofs_mpi *m, roofs_mpi_traffic *out, size_t size);
static inline void roofs_mpi_count(const roofs_mpi *m, roofs_mpi_traffic *out)
{
    roofs_mpi_count_sized(m, out, sizeof *out);
}

/* All ranks make this call, after they have destroyed their estimators. */
ROOFS_API void roofs_mpi_leave(roofs_mpi *m);

#ifdef __cplusplus
}
#endif

#endif
