#include "mpi/wait.h"

#include <sched.h>
#include <stdio.h>
#include <string.h>

/* A rank that has waited too long asks all others. Ranks that wait, too, answer. */
enum { NOTE_ASK = 1, NOTE_ANSWER = 2, NOTE_STOP = 3 };
enum { NOTE_TAG = 1, SPINS = 64 };

/* Seconds to wait for answers. */
static const double ANSWER_SECONDS = 1;

void waiting_begin(waiting *w, const char *name)
{
    w->call++;
    w->name = name;
}

int waiting_failed(waiting *w, int mpi_code)
{
    char text[MPI_MAX_ERROR_STRING + 1] = "";
    int length = 0;
    if (mpi_code == MPI_SUCCESS)
        return 0;
    if (w->reason[0] == '\0') {
        MPI_Error_string(mpi_code, text, &length);
        snprintf(w->reason, sizeof w->reason, "MPI cannot do %s %lld: %.200s", w->name,
                 (long long)w->call, text);
    }
    return 1;
}

/* ---- notes ------------------------------------------------------------- */

/* Notes are short: MPI copies them and does not wait for the receiver. */
static void send_note(waiting *w, int64_t rank, const note *what)
{
    MPI_Request request;
    if (MPI_Isend(what, (int)sizeof *what, MPI_BYTE, (int)rank, NOTE_TAG, w->ranks, &request) ==
        MPI_SUCCESS)
        MPI_Request_free(&request);
    /* MPI frees the request. NOLINTNEXTLINE(clang-analyzer-optin.mpi.MPI-Checker) */
}

static void send_note_to_all(waiting *w, const note *what)
{
    for (int64_t k = 0; k < w->size; k++)
        if (k != w->rank)
            send_note(w, k, what);
}

/* Takes the next note, if there is one. Returns the rank that sent it; -1 = there is none. */
static int64_t take_note(waiting *w, note *out)
{
    int there = 0;
    MPI_Status from;
    if (MPI_Iprobe(MPI_ANY_SOURCE, NOTE_TAG, w->ranks, &there, &from) != MPI_SUCCESS || !there)
        return -1;
    if (MPI_Recv(out, (int)sizeof *out, MPI_BYTE, from.MPI_SOURCE, NOTE_TAG, w->ranks,
                 MPI_STATUS_IGNORE) != MPI_SUCCESS)
        return -1;
    out->text[NOTE_TEXT - 1] = '\0';
    return from.MPI_SOURCE;
}

static void heed_note(waiting *w, int64_t from, const note *what)
{
    if (what->kind == NOTE_ASK) {
        w->answer = (note){.kind = NOTE_ANSWER, .call = w->call};
        send_note(w, from, &w->answer);
    } else if (what->kind == NOTE_STOP && w->stopped.kind == 0) {
        w->stopped = *what;
        w->stopped_rank = from;
    }
}

void waiting_stop(waiting *w, const char *why)
{
    if (w->farewell.kind != 0)
        return;
    w->farewell = (note){.kind = NOTE_STOP, .call = w->call};
    snprintf(w->farewell.text, sizeof w->farewell.text, "%s", why);
    send_note_to_all(w, &w->farewell);
}

void waiting_end(waiting *w)
{
    note unused;
    while (take_note(w, &unused) >= 0)
        continue;
}

/* ---- waiting ----------------------------------------------------------- */

/* True if a rank has stopped before the call in progress. */
static int is_deserted(waiting *w)
{
    note next;
    for (int64_t from; (from = take_note(w, &next)) >= 0;)
        heed_note(w, from, &next);
    if (w->stopped.kind == 0 || w->stopped.call >= w->call)
        return 0;
    snprintf(w->reason, sizeof w->reason, "rank %lld has ended: %s", (long long)w->stopped_rank,
             w->stopped.text);
    return 1;
}

/* The lowest rank that does not answer; -1 = all answered or the call ended meanwhile. */
static int64_t find_absent(waiting *w, MPI_Request *request, int *done)
{
    enum { MOST = 4096 }; /* of more ranks the answers of the first ones are counted */
    unsigned char here[MOST] = {0};
    const double begun = MPI_Wtime();
    w->ask = (note){.kind = NOTE_ASK, .call = w->call};
    send_note_to_all(w, &w->ask);
    while (MPI_Wtime() - begun < ANSWER_SECONDS && !*done) {
        note next;
        const int64_t from = take_note(w, &next);
        if (from >= 0 && from < MOST && next.kind == NOTE_ANSWER && next.call >= w->call)
            here[from] = 1;
        if (from >= 0)
            heed_note(w, from, &next);
        if (MPI_Test(request, done, MPI_STATUS_IGNORE) != MPI_SUCCESS)
            break;
        sched_yield();
    }
    for (int64_t k = 0; k < w->size && k < MOST && !*done; k++)
        if (k != w->rank && !here[k])
            return k;
    return -1;
}

/* True if the limit has passed and a rank is missing. */
static int is_late(waiting *w, double *begun, MPI_Request *request, int *done)
{
    if (w->limit <= 0 || MPI_Wtime() - *begun < w->limit)
        return 0;
    const int64_t absent = find_absent(w, request, done);
    *begun = MPI_Wtime(); /* if all ranks are here, the network is slow */
    if (absent < 0 || *done || is_deserted(w))
        return w->reason[0] != '\0';
    snprintf(w->reason, sizeof w->reason,
             "rank %lld did not arrive at %s %lld within %g seconds, and does not answer; it is "
             "stopped, lost, or slower than the limit allows",
             (long long)absent, w->name, (long long)w->call, w->limit);
    return 1;
}

int waiting_for(waiting *w, MPI_Request *request)
{
    double begun = MPI_Wtime();
    int done = 0;
    for (int64_t spins = 1; !done; spins++) {
        if (waiting_failed(w, MPI_Test(request, &done, MPI_STATUS_IGNORE)))
            return 1;
        if (done || spins % SPINS != 0)
            continue;
        if (is_deserted(w) || is_late(w, &begun, request, &done))
            return 1;
        sched_yield();
    }
    return 0;
}
