/* roofs on samples that are split over the ranks of an MPI communicator. Link libroofs_mpi and
 * libroofs. roofs.h explains the words borrowed, copied and view.
 *
 *     MPI_Init_thread(&argc, &argv, MPI_THREAD_SERIALIZED, &got);
 *     roofs_mpi *mpi;
 *     if (roofs_mpi_join(&mpi, MPI_COMM_WORLD, &err)) goto fail;
 *     if (roofs_create_split(&e, &s, y_of_this_rank, n_of_this_rank, roofs_mpi_comm(mpi), &err))
 *         goto fail;
 *     ... as with one rank: all ranks make all calls, with the values of their own samples ...
 *     roofs_destroy(e);
 *     roofs_mpi_leave(mpi);
 *
 * Sums are added in the order of the ranks: the same number of ranks gives the same bits. If the
 * setting threads is not 1, the library may call MPI from another thread than the caller's, one
 * call at a time. MPI must then provide MPI_THREAD_SERIALIZED. */
#ifndef ROOFS_ROOFS_MPI_H
#define ROOFS_ROOFS_MPI_H

#include <mpi.h>
#include <roofs/roofs.h>

#ifdef __cplusplus
extern "C" {
#endif

/* A connection to the other ranks. */
typedef struct roofs_mpi roofs_mpi;

/* Creates the connection. All ranks make this call. The communicator is copied (MPI_Comm_dup):
 * messages of roofs never mix with those of the caller. Close *out with roofs_mpi_leave. On failure
 * *out is NULL; BAD_CALL if comm is MPI_COMM_NULL, FAILED if MPI returns an error. */
ROOFS_CHECKED roofs_status roofs_mpi_join(roofs_mpi **out, MPI_Comm comm, roofs_error *err);

/* The table for roofs_create_split: a view, valid until roofs_mpi_leave. NULL if m is NULL. */
ROOFS_API const roofs_comm *roofs_mpi_comm(const roofs_mpi *m);

/* The most seconds that a call waits for other ranks; 600 unless set, 0 = no limit. Beyond it the
 * ranks that wait ask the others. If one does not answer, the call fails with FAILED, and the text
 * names that rank and the call. A rank does not answer while it computes or reads: the limit must
 * exceed the longest time between two calls of MPI. Does nothing if m is NULL. Since 0.3.0. */
ROOFS_API void roofs_mpi_set_limit(roofs_mpi *m, double seconds);

/* Ends the fit of the other ranks, after a failure of this rank alone (roofs_failure_is_shared).
 * Calls of theirs that need this rank return FAILED, with the reason in the text. Returns at once.
 * Then call MPI_Abort on every rank: MPI_Finalize may wait for ever. `reason` is copied and may be
 * NULL. Does nothing if m is NULL. Since 0.3.0. */
ROOFS_API void roofs_mpi_stop(roofs_mpi *m, const char *reason);

/* The communication of this rank so far. docs/scaling.md explains how bytes are counted. */
typedef struct roofs_mpi_traffic {
    size_t struct_size;
    int64_t sums, sum_bytes;       /* number of sums, bytes that this rank sent for them */
    int64_t gathers, gather_bytes; /* the same for gathers */
    double seconds;                /* time spent waiting for other ranks */
} roofs_mpi_traffic;

/* Fills *out; with zeros if m is NULL. Does nothing if out is NULL. */
ROOFS_API void roofs_mpi_count_sized(const roofs_mpi *m, roofs_mpi_traffic *out, size_t size);
static inline void roofs_mpi_count(const roofs_mpi *m, roofs_mpi_traffic *out)
{
    roofs_mpi_count_sized(m, out, sizeof *out);
}

/* Closes the connection and frees m. All ranks make this call, after roofs_destroy and before
 * MPI_Finalize. After a failed communication it does nothing: MPI may still use the memory. */
ROOFS_API void roofs_mpi_leave(roofs_mpi *m);

#ifdef __cplusplus
}
#endif

#endif
