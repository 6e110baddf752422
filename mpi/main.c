/* roofs-mpi VERB ...: the verbs of roofs that work on samples split over the ranks of mpirun. */
#include "base/memory.h"
#include "cli/print.h"
#include "cli/ranks.h"
#include "cli/verbs.h"
#include "roofs/roofs_mpi.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* What the verbs know of the other ranks: set once, before the verb begins. */
static struct {
    const roofs_comm *comm;
    int voice; /* where standard error really goes */
} here;

const roofs_comm *ranks_here(void)
{
    static const roofs_comm alone = {.size = 1};
    return here.comm ? here.comm : &alone;
}

/* Rank 0 speaks for all. */
static void fall_silent(void)
{
    int nowhere = open("/dev/null", O_WRONLY);
    here.voice = dup(STDERR_FILENO);
    if (nowhere < 0)
        return;
    dup2(nowhere, STDOUT_FILENO);
    dup2(nowhere, STDERR_FILENO);
    close(nowhere);
}

void ranks_abort(const char *who, const char *why, int code)
{
    if (ranks_here()->size == 1)
        return;
    if (here.voice >= 0)
        dup2(here.voice, STDERR_FILENO);
    complain(who, "rank %lld: %s", (long long)ranks_here()->rank, why);
    fflush(stderr);
    MPI_Abort(MPI_COMM_WORLD, code);
}

static const verb *find_verb(const char *word)
{
    static const verb *const known[] = {&fit_verb, &predict_verb, &resume_verb, &evaluate_verb,
                                        &simulate_verb};
    for (size_t k = 0; k < sizeof known / sizeof *known; k++)
        if (strcmp(known[k]->name, word) == 0)
            return known[k];
    return NULL;
}

/* What was sent, as one line of JSON on standard error: the numbers of docs/scaling.md. */
static void tell_traffic(const roofs_mpi *ranks)
{
    roofs_mpi_traffic t;
    roofs_mpi_count(ranks, &t);
    fprintf(stderr,
            "{\"sums\": %lld, \"sum_bytes\": %lld, \"gathers\": %lld, \"gather_bytes\": %lld, "
            "\"wait_seconds\": %.6f}\n",
            (long long)t.sums, (long long)t.sum_bytes, (long long)t.gathers,
            (long long)t.gather_bytes, t.seconds);
}

static int run(int argc, char **argv)
{
    const verb *v = argc > 1 ? find_verb(argv[1]) : NULL;
    if (argc > 1 && strcmp(argv[1], "--version") == 0) {
        printf("roofs-mpi %s\n", roofs_version());
        return EXIT_FINE;
    }
    if (v)
        return v->main(argc - 1, argv + 1);
    fprintf(stderr, "Usage: mpirun -n RANKS roofs-mpi [--traffic] "
                    "fit|predict|resume|evaluate|simulate ...\n"
                    "Options are those of roofs: see 'roofs VERB --help'. --traffic tells in the "
                    "end what rank 0 has sent.\n");
    return argc > 1 && strcmp(argv[1], "--help") == 0 ? EXIT_FINE : EXIT_USAGE;
}

/* mpirun ends the other ranks as soon as one has failed: what rank 0 says must be out by then. */
static int finish(roofs_mpi *ranks, int code)
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
    memory_return_freed();
    here.voice = -1;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_SERIALIZED, &level);
    if (level < MPI_THREAD_SERIALIZED || roofs_mpi_join(&ranks, MPI_COMM_WORLD, &err)) {
        fprintf(stderr, "roofs-mpi: %s\n",
                err.text[0] ? err.text : "this MPI does not know MPI_THREAD_SERIALIZED");
        MPI_Abort(MPI_COMM_WORLD, EXIT_FAILED);
    }
    here.comm = roofs_mpi_comm(ranks);
    if (here.comm->rank > 0)
        fall_silent();
    int traffic = argc > 1 && strcmp(argv[1], "--traffic") == 0;
    int code = run(argc - traffic, argv + traffic);
    if (traffic && code == EXIT_FINE)
        tell_traffic(ranks);
    return finish(ranks, code);
}
