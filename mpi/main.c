/* roofs-mpi VERB ...: the verbs of roofs that can split the samples over the ranks of mpirun. */
#include "base/memory.h"
#include "cli/descriptors.h"
#include "cli/print.h"
#include "cli/process_comm.h"
#include "cli/verbs.h"
#include "roofs/roofs_mpi.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* Set once, before the verb begins. */
static struct {
    const roofs_comm *comm;
    int standard_error; /* a copy, on ranks whose output is discarded; -1 on rank 0 */
} process;

const roofs_comm *process_comm(void)
{
    static const roofs_comm alone = {.size = 1};
    return process.comm ? process.comm : &alone;
}

/* Rank 0 prints for all ranks. */
static void discard_output(void)
{
    int null = open("/dev/null", O_WRONLY);
    process.standard_error = dup(STDERR_FILENO);
    if (null < 0)
        return;
    dup2(null, STDOUT_FILENO);
    dup2(null, STDERR_FILENO);
    close(null);
}

void process_abort(const char *who, const char *reason, int code)
{
    if (process_comm()->size == 1)
        return;
    if (process.standard_error >= 0)
        dup2(process.standard_error, STDERR_FILENO);
    complain(who, "rank %lld: %s", (long long)process_comm()->rank, reason);
    fflush(stderr);
    MPI_Abort(MPI_COMM_WORLD, code);
}

static const verb *find_mpi_verb(const char *word)
{
    static const verb *const known[] = {&fit_verb, &predict_verb, &resume_verb, &evaluate_verb,
                                        &simulate_verb};
    for (size_t k = 0; k < sizeof known / sizeof *known; k++)
        if (strcmp(known[k]->name, word) == 0)
            return known[k];
    return NULL;
}

/* Prints the traffic of this rank as a line of JSON. See docs/scaling.md. */
static void print_traffic(const roofs_mpi *ranks)
{
    roofs_mpi_traffic t;
    roofs_mpi_count(ranks, &t);
    fprintf(stderr,
            "{\"sums\": %lld, \"sum_bytes\": %lld, \"gathers\": %lld, \"gather_bytes\": %lld, "
            "\"wait_seconds\": %.6f}\n",
            (long long)t.sums, (long long)t.sum_bytes, (long long)t.gathers,
            (long long)t.gather_bytes, t.seconds);
}

static int run_mpi_verb(int argc, char **argv)
{
    const verb *v = argc > 1 ? find_mpi_verb(argv[1]) : NULL;
    if (argc > 1 && strcmp(argv[1], "--version") == 0) {
        printf("roofs-mpi %s\n", roofs_version());
        return EXIT_FINE;
    }
    if (v)
        return v->main(argc - 1, argv + 1);
    fprintf(stderr, "Usage: mpirun -n RANKS roofs-mpi [--traffic] "
                    "fit|predict|resume|evaluate|simulate ...\n"
                    "The options are those of roofs: see 'roofs VERB --help'. --traffic prints at "
                    "the end what rank 0 has sent, as JSON.\n");
    return argc > 1 && strcmp(argv[1], "--help") == 0 ? EXIT_FINE : EXIT_USAGE;
}

/* mpirun kills all ranks when one ends with an error. The barrier lets rank 0 print before that. */
static int leave_mpi(roofs_mpi *ranks, int code)
{
    fflush(NULL);
    MPI_Barrier(MPI_COMM_WORLD);
    roofs_mpi_leave(ranks);
    MPI_Finalize();
    return code;
}

int main(int argc, char **argv)
{
    int level = 0;
    roofs_mpi *ranks = NULL;
    roofs_error err = {0};
    if (secure_descriptors() != 0)
        return EXIT_FAILED;
    memory_return_freed();
    process.standard_error = -1;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_SERIALIZED, &level);
    if (level < MPI_THREAD_SERIALIZED || roofs_mpi_join(&ranks, MPI_COMM_WORLD, &err)) {
        fprintf(stderr, "roofs-mpi: %s\n",
                err.text[0] ? err.text : "this MPI does not support MPI_THREAD_SERIALIZED");
        MPI_Abort(MPI_COMM_WORLD, EXIT_FAILED);
    }
    process.comm = roofs_mpi_comm(ranks);
    if (process.comm->rank > 0)
        discard_output();
    int traffic = argc > 1 && strcmp(argv[1], "--traffic") == 0;
    int code = run_mpi_verb(argc - traffic, argv + traffic);
    if (traffic && code == EXIT_FINE)
        print_traffic(ranks);
    return leave_mpi(ranks, code);
}
