/* roofs on samples that are split over the ranks of an MPI communicator: link libroofs_mpi beside
 * libroofs.
 *
 *     MPI_Init_thread(&argc, &argv, MPI_THREAD_SERIALIZED, &got);
 *     roofs_mpi *ranks;
 *     roofs_mpi_join(&ranks, MPI_COMM_WORLD, &err);
 *     roofs_create_split(&e, &s, y_here, n_here, roofs_mpi_comm(ranks), &err);
 *     ... as ever, by all ranks, each block with the values of this rank's samples ...
 *     roofs_destroy(e);
 *     roofs_mpi_leave(ranks);
 *
 * Sums are made in the order of the ranks, so that the same number of ranks always gives the same
 * bits. With more than one thread per rank a sum may be asked for by another thread than the one
 * that calls roofs, one at a time: MPI_THREAD_SERIALIZED is then needed. */
#ifndef ROOFS_ROOFS_MPI_H
#define ROOFS_ROOFS_MPI_H

#include <mpi.h>
#include <roofs/roofs.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct roofs_mpi roofs_mpi;

/* The communicator is duplicated: messages of the caller are never mixed with those of roofs. */
ROOFS_CHECKED roofs_status roofs_mpi_join(roofs_mpi **out, MPI_Comm ranks, roofs_error *err);

/* For roofs_create_split; valid until roofs_mpi_leave. */
ROOFS_API const roofs_comm *roofs_mpi_comm(const roofs_mpi *m);

/* What has been sent so far by this rank: messages of sums and gathers, and their bytes as
 * docs/scaling.md counts them. */
typedef struct roofs_mpi_traffic {
    int64_t sums, sum_bytes;
    int64_t gathers, gather_bytes;
    double seconds; /* spent waiting for others */
} roofs_mpi_traffic;

ROOFS_API void roofs_mpi_count(const roofs_mpi *m, roofs_mpi_traffic *out);

ROOFS_API void roofs_mpi_leave(roofs_mpi *m); /* by all ranks; NULL is fine */

#ifdef __cplusplus
}
#endif

#endif
