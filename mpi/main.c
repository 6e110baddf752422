/* roofs-mpi VERB ...: the verbs of roofs that can split the samples over the ranks of mpirun. */
#include "base/memory.h"
#include "base/number.h"
#include "cli/descriptors.h"
#include "cli/options.h"
#include "cli/print.h"
#include "cli/process_comm.h"
#include "cli/verbs.h"
#include "roofs/roofs_mpi.h"

#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* Set by main before the verb begins, and by process_stop_others. */
static struct {
    roofs_mpi *ranks;
    int standard_error; /* a copy, on ranks other than 0; -1 on rank 0 */
    FILE *printed;      /* what such a rank has printed; NULL on rank 0 */
    int failed_alone;
} process;

const roofs_comm *process_comm(void)
{
    static const roofs_comm alone = {.size = 1};
    return process.ranks ? roofs_mpi_comm(process.ranks) : &alone;
}

/* ---- what is printed --------------------------------------------------- */

/* Rank 0 prints for all ranks. */
static void keep_output(void)
{
    process.standard_error = dup(STDERR_FILENO);
    process.printed = tmpfile();
    FILE *null = fopen("/dev/null", "w");
    if (null)
        dup2(fileno(null), STDOUT_FILENO);
    if (null || process.printed)
        dup2(fileno(process.printed ? process.printed : null), STDERR_FILENO);
    if (null)
        fclose(null);
}

/* The end of what this rank has printed, without the last newline. */
static void read_printed(char *text, size_t size)
{
    text[0] = '\0';
    fflush(stderr);
    if (!process.printed || fseek(process.printed, 0, SEEK_END) != 0)
        return;
    const long length = ftell(process.printed), most = (long)size - 1;
    if (fseek(process.printed, length > most ? length - most : 0, SEEK_SET) != 0)
        return;
    text[fread(text, 1, size - 1, process.printed)] = '\0';
    size_t used = strlen(text);
    if (used > 0 && text[used - 1] == '\n')
        text[used - 1] = '\0';
}

/* Prints what was kept, for a rank whose rank 0 does not print. */
static void print_kept(void)
{
    enum { MOST = 2000 };
    char text[MOST];
    if (process.standard_error < 0)
        return;
    read_printed(text, sizeof text);
    dup2(process.standard_error, STDERR_FILENO);
    fprintf(stderr, "roofs-mpi: rank %lld: %s\n", (long long)process_comm()->rank, text);
    fflush(stderr);
}

/* ---- agreement --------------------------------------------------------- */

typedef struct report {
    int code;
    char text[500];
} report;

/* reports[k] = the report of rank k. Returns 1 on failure. */
static int gather_reports(const report *own, report *reports)
{
    const roofs_comm *with = process_comm();
    int64_t *sizes = NULL;
    if (memory_get(&sizes, with->size, sizeof *sizes, "the ranks", NULL) != ROOFS_OK)
        return 1;
    for (int64_t k = 0; k < with->size; k++)
        sizes[k] = sizeof *own;
    const int failed = with->gather(with->user, own, sizes, reports);
    memory_free(sizes);
    return failed;
}

/* Why the communication failed; NULL = it did not. */
static const char *reason_of_failure(void)
{
    const roofs_comm *with = process_comm();
    return with->reason ? with->reason(with->user) : NULL;
}

static int explain_failure(void)
{
    const char *reason = reason_of_failure();
    fprintf(stderr, "roofs-mpi: %s\n", reason ? reason : "no memory for the ranks");
    process_stop_others("it cannot reach the other ranks", EXIT_FAILED);
    return EXIT_FAILED;
}

/* The code of all ranks. If they differ, that of the first rank that ends, and rank 0 prints why.
 */
static int compare_reports(const report *all, int64_t count)
{
    int64_t first = 0, alike = 0;
    for (int64_t k = 0; k < count; k++)
        alike += all[k].code == all[0].code;
    if (alike == count)
        return all[0].code;
    while (all[first].code == OPTIONS_FINE)
        first++;
    if (process_comm()->rank == 0)
        fprintf(stderr, "roofs-mpi: rank %lld ends alone; give all ranks the same arguments\n%s%s",
                (long long)first, all[first].text, all[first].text[0] ? "\n" : "");
    return all[first].code == EXIT_FINE ? EXIT_USAGE : all[first].code;
}

int process_agree(int code)
{
    report own = {.code = code}, *all = NULL;
    const roofs_comm *with = process_comm();
    if (with->size == 1)
        return code;
    read_printed(own.text, sizeof own.text);
    if (memory_get(&all, with->size, sizeof *all, "the ranks", NULL) != ROOFS_OK ||
        gather_reports(&own, all)) {
        memory_free(all);
        return explain_failure();
    }
    code = compare_reports(all, with->size);
    memory_free(all);
    return code;
}

void process_stop_others(const char *reason, int code)
{
    (void)code;
    if (process_comm()->size == 1)
        return;
    process.failed_alone = 1;
    roofs_mpi_stop(process.ranks, reason);
}

/* ---- the verb ---------------------------------------------------------- */

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

/* The options before the verb. */
typedef struct mpi_options {
    int traffic;
    double limit; /* seconds; below 0: not given */
    int used;     /* words of the command line */
    int wrong;
} mpi_options;

static mpi_options read_options(int argc, char **argv)
{
    mpi_options o = {.limit = -1};
    for (; 1 + o.used < argc; o.used++) {
        const char *word = argv[1 + o.used];
        if (strcmp(word, "--traffic") == 0) {
            o.traffic = 1;
        } else if (strcmp(word, "--wait-limit") == 0) {
            const char *seconds = 2 + o.used < argc ? argv[2 + o.used++] : "";
            o.wrong |= number_read(seconds, seconds + strlen(seconds), &o.limit) != NUMBER_FINE ||
                       o.limit < 0;
        } else {
            break;
        }
    }
    return o;
}

static int print_usage(int code)
{
    fprintf(stderr,
            "Usage: mpirun -n RANKS roofs-mpi [--traffic] [--wait-limit SECONDS] "
            "fit|predict|resume|evaluate|simulate ...\n"
            "The options are those of roofs: see 'roofs VERB --help'. --traffic prints at the end "
            "what rank 0 has sent, as JSON. --wait-limit ends the job if a rank waits longer than "
            "this for another one (600 seconds; 0 = no limit).\n");
    return code;
}

/* OPTIONS_FINE if there is a verb to run. */
static int check_words(int argc, char **argv, const mpi_options *o)
{
    if (o->wrong)
        return print_usage(EXIT_USAGE);
    if (argc > 1 && strcmp(argv[1], "--version") == 0) {
        printf("roofs-mpi %s\n", roofs_version());
        return EXIT_FINE;
    }
    if (argc > 1 && find_mpi_verb(argv[1]))
        return OPTIONS_FINE;
    return print_usage(argc > 1 && strcmp(argv[1], "--help") == 0 ? EXIT_FINE : EXIT_USAGE);
}

/* All ranks must have the same verb. */
static int compare_verbs(const char *word)
{
    comm c = {0};
    roofs_error err = {0};
    char words[80];
    snprintf(words, sizeof words, "'roofs-mpi %s'", word);
    roofs_status status = comm_join(&c, process_comm(), 1, ROOFS_OK, &err);
    if (status == ROOFS_OK)
        status = comm_agree_at(&c, (comm_point){.call = words}, ROOFS_OK, &err);
    comm_leave(&c);
    if (status == ROOFS_OK)
        return OPTIONS_FINE;
    fprintf(stderr, "roofs-mpi: %s\n", err.text);
    return EXIT_USAGE;
}

static int run_mpi_verb(int argc, char **argv)
{
    const mpi_options o = read_options(argc, argv);
    argc -= o.used;
    argv += o.used;
    if (o.limit >= 0 && !o.wrong)
        roofs_mpi_set_limit(process.ranks, o.limit);
    int code = check_words(argc, argv, &o), all = process_agree(code);
    if (all != OPTIONS_FINE)
        return all;
    code = compare_verbs(argv[1]);
    if (code == OPTIONS_FINE)
        code = find_mpi_verb(argv[1])->main(argc - 1, argv + 1);
    if (o.traffic && code == EXIT_FINE)
        print_traffic(process.ranks);
    return code;
}

/* ---- the end ----------------------------------------------------------- */

/* mpirun kills all ranks when one ends with an error: all wait here, so that rank 0 can print
 * before that. Returns 0 if a rank does not come within `seconds`; then rank 0, or else another
 * rank, prints and ends the job. */
static int wait_for_all(double seconds)
{
    MPI_Request request;
    int done = 0;
    const double begun = MPI_Wtime();
    if (MPI_Ibarrier(MPI_COMM_WORLD, &request) != MPI_SUCCESS)
        return 0;
    while (!done && (seconds <= 0 || MPI_Wtime() - begun < seconds)) {
        MPI_Test(&request, &done, MPI_STATUS_IGNORE);
        sched_yield();
    }
    return done;
}

static int leave_mpi(int code)
{
    const double patience = 5; /* after a failure; rank 0 has the first turn to end the job */
    const int is_broken = reason_of_failure() != NULL;
    const int is_over = is_broken || process.failed_alone;
    report last = {.code = code};
    read_printed(last.text, sizeof last.text);
    if (code != EXIT_FINE)
        roofs_mpi_stop(process.ranks, last.text[0] ? last.text : "see its message");
    fflush(NULL);
    const int all = wait_for_all(is_over ? patience + (process_comm()->rank > 0) : 0);
    if (!all)
        print_kept();
    if (!all || is_broken)
        MPI_Abort(MPI_COMM_WORLD, code == EXIT_FINE ? EXIT_FAILED : code);
    roofs_mpi_leave(process.ranks);
    MPI_Finalize();
    return code;
}

int main(int argc, char **argv)
{
    int level = 0;
    roofs_error err = {0};
    if (secure_descriptors() != 0)
        return EXIT_FAILED;
    memory_return_freed();
    process.standard_error = -1;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_SERIALIZED, &level);
    if (level < MPI_THREAD_SERIALIZED || roofs_mpi_join(&process.ranks, MPI_COMM_WORLD, &err)) {
        fprintf(stderr, "roofs-mpi: %s\n",
                err.text[0] ? err.text : "this MPI does not support MPI_THREAD_SERIALIZED");
        MPI_Abort(MPI_COMM_WORLD, EXIT_FAILED);
    }
    if (process_comm()->rank > 0)
        keep_output();
    return leave_mpi(run_mpi_verb(argc, argv));
}
