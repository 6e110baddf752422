/* Besides running jobs, this file decides how many threads run them. Where other programs need the
 * cores, threads wait for each other longer than they work, and fewer threads, or one, end sooner.
 * The time of the jobs shows which number is best:
 *
 * Jobs run with all threads as long as the first thread has its core nearly all the time. If it has
 * not, the next jobs run with half as many threads for a while, and the number that handled more
 * values per second stays. Trials are repeated, ever more rarely while they change nothing, because
 * the load of a machine changes. */
#include "linalg/workers.h"

#include "base/memory.h"
#include "linalg/counters.h"
#include "linalg/helpers.h"

#include <time.h>

/* Below this number of values one thread is faster than several. (The build with the thread
 * sanitizer sets a small number, so that small tests use threads.) */
enum { WORTH_WORKERS = ROOFS_WORTH_THREADS / 8 };

/* The jobs of one number of threads, since a point in time. */
typedef struct period {
    double seconds, own, values; /* time, processor time of the first thread, values handled */
} period;

struct workers {
    sleepers waiting; /* within a job */
    helpers *others;  /* threads - 1 */
    helpers *second;  /* for workers_pair */
    counter *reached; /* one per thread, and one more: see workers_open */
    int threads;      /* at most */
    int now;          /* at present */
    int limit;        /* while others work side by side */
    int before;       /* threads before the trial */
    int left;         /* the first thread goes on alone */
    int wants_more;   /* the next trial is of more threads, if both are possible */
    period seen;      /* with `now` threads */
    double rate;      /* values per second before the trial; 0 = no trial */
    double rest;      /* seconds of jobs since the last trial */
    double patience;  /* seconds between two trials */
    double begun;     /* processor time of the first thread when the job began */
    double waited;    /* seconds that it has slept in the job */
    double strikes;   /* jobs of late in which it went on alone */
};

static const double PERIOD = 0.05;   /* seconds of jobs that are compared */
static const double PATIENCE = 0.25; /* seconds after a trial in vain; thrice that after the next */
static const double PATIENCE_MOST = 30;
static const double WAITED_MOST = 1e-2; /* seconds that the first thread waits in vain */
static const double STRIKES = 0.5;      /* of so many, the next jobs get one thread */
static const double UNDISTURBED = 0.5;  /* share of its core that the first thread has at least */
static const double BETTER = 1.05;      /* another number of threads must be faster by this */

int64_t workers_bytes(int64_t threads)
{
    return memory_sum(memory_sum(sizeof(workers), memory_bytes(threads + 1, sizeof(counter))),
                      memory_sum(helpers_bytes(threads - 1), helpers_bytes(1)));
}

roofs_status workers_create(workers **out, int64_t threads, roofs_error *err)
{
    workers *w = NULL;
    TRY(memory_get(&w, 1, sizeof *w, "the threads", err));
    w->threads = w->now = w->limit = (int)threads;
    sleepers_create(&w->waiting);
    *out = w;
    TRY(helpers_create(&w->others, threads - 1, err));
    TRY(helpers_create(&w->second, 1, err));
    return memory_get(&w->reached, threads + 1, sizeof *w->reached, "the threads", err);
}

void workers_destroy(workers *w)
{
    if (!w)
        return;
    helpers_destroy(w->others);
    helpers_destroy(w->second);
    sleepers_destroy(&w->waiting);
    memory_free(w->reached);
    memory_free(w);
}

void workers_limit(workers *w, int64_t threads)
{
    w->limit = threads < w->threads ? (int)threads : w->threads;
}

/* ---- waiting ----------------------------------------------------------- */

enum { SPINS = 1000 }; /* before a thread sleeps */

void workers_reach(workers *w, int me, int64_t step)
{
    counter_raise(&w->reached[me], step, &w->waiting);
}

void workers_open(workers *w, int64_t step)
{
    counter_raise(&w->reached[w->threads], step, &w->waiting);
}

void workers_wait_open(workers *w, int64_t step)
{
    counter_wait(&w->reached[w->threads], step, SPINS, &w->waiting);
}

/* Reads all counters before it compares, so that the processor waits for their cache lines side by
 * side. */
static int all_reached(const workers *w, int count, int64_t step)
{
    int64_t least = step;
    for (int k = 0; k < count; k++) {
        const int64_t at = atomic_load_explicit(&w->reached[k].value, memory_order_acquire);
        least = at < least ? at : least;
    }
    return least >= step;
}

void workers_wait_all(workers *w, int count, int64_t step)
{
    for (int spin = 0; spin < SPINS; spin++) {
        if (all_reached(w, count, step))
            return;
        SPIN_PAUSE();
    }
    for (int k = 0; k < count; k++)
        counter_wait(&w->reached[k], step, SPINS, &w->waiting);
}

static double seconds_of(clockid_t clock)
{
    struct timespec now;
    clock_gettime(clock, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

/* True if a thread has waited so much longer than it has worked that others have its core, or those
 * of the threads that it waits for. */
static int is_in_vain(double waited, double worked)
{
    return waited > WAITED_MOST && waited > 4 * worked;
}

int workers_wait_or_leave(workers *w, int count, int64_t step)
{
    for (int spin = 0; spin < SPINS; spin++) {
        if (all_reached(w, count, step))
            return 0;
        SPIN_PAUSE();
    }
    const double begin = seconds_of(CLOCK_MONOTONIC);
    workers_wait_all(w, count, step);
    w->waited += seconds_of(CLOCK_MONOTONIC) - begin;
    const double worked = seconds_of(CLOCK_THREAD_CPUTIME_ID) - w->begun;
    w->left |= is_in_vain(w->waited, worked);
    return w->left;
}

/* ---- how many ---------------------------------------------------------- */

static void begin_period(workers *w, int threads)
{
    w->now = threads;
    w->seen = (period){0};
}

static void wait_longer(workers *w)
{
    w->patience = w->patience > 0 ? 3 * w->patience : PATIENCE;
    w->patience = w->patience < PATIENCE_MOST ? w->patience : PATIENCE_MOST;
}

/* A trial that was right leads to the next one at once; one in vain makes the next one rarer, and
 * goes the other way then. */
static void end_trial(workers *w, double rate)
{
    const int is_better = rate > w->rate * BETTER;
    if (is_better) {
        w->patience = 0;
    } else {
        wait_longer(w);
        w->wants_more = !w->wants_more;
    }
    w->rate = w->rest = 0;
    begin_period(w, is_better ? w->now : w->before);
}

/* The next number of threads to try; the present one if there is none. */
static int next_trial(const workers *w)
{
    const int disturbed = w->seen.own < UNDISTURBED * w->seen.seconds;
    const int can_add = w->now<w->threads, can_spare = w->now> 1 && disturbed;
    if (w->rest < w->patience)
        return w->now;
    if (can_add && (w->wants_more || !can_spare))
        return 2 * w->now < w->threads ? 2 * w->now : w->threads;
    return can_spare ? w->now / 2 : w->now;
}

static void begin_trial(workers *w, double rate)
{
    const int trial = next_trial(w);
    w->rest += w->seen.seconds;
    if (trial != w->now) {
        w->before = w->now;
        w->rate = rate;
    }
    begin_period(w, trial);
}

/* A trial in vain, or several threads at any time: one is better at present. */
static void leave_others(workers *w)
{
    wait_longer(w);
    w->wants_more = 1;
    w->rate = w->rest = w->strikes = 0;
    begin_period(w, 1);
}

/* Called after each job of several threads, or of one because of a trial. */
static void adapt(workers *w, double seconds, double own, int64_t values)
{
    w->seen.seconds += seconds;
    w->seen.own += own;
    w->seen.values += (double)values;
    if (w->seen.seconds < PERIOD)
        return;
    const double rate = w->seen.values / w->seen.seconds;
    if (w->rate > 0)
        end_trial(w, rate);
    else
        begin_trial(w, rate);
}

int workers_for(const workers *w, int64_t values)
{
    if (!w || values < WORTH_WORKERS)
        return 1;
    return w->now < w->limit ? w->now : w->limit;
}

static void run_together(const workers *w, int count, workers_job job, void *user)
{
    const int others = helpers_start(w->others, count - 1);
    for (int k = 0; k <= others; k++)
        atomic_store_explicit(&w->reached[k].value, 0, memory_order_relaxed);
    atomic_store_explicit(&w->reached[w->threads].value, 0, memory_order_relaxed);
    helpers_run(w->others, others, job, user);
}

/* A job that took long because other programs had the core counts less than one that the first
 * thread ended alone: once it may be by chance. */
static void count_strikes(workers *w, int was_slow)
{
    const double slow = 0.4;
    if (w->left)
        w->strikes += 1;
    else
        w->strikes = was_slow ? w->strikes + slow : w->strikes * 0.75;
}

void workers_run(workers *w, int64_t values, int64_t most, workers_job job, void *user)
{
    const int64_t count = most < workers_for(w, values) ? most : workers_for(w, values);
    if (!w || w->threads == 1 || w->limit == 1 || values < WORTH_WORKERS || most <= 1) {
        job(user, 0, 1);
        return;
    }
    const double begin = seconds_of(CLOCK_MONOTONIC), own = seconds_of(CLOCK_THREAD_CPUTIME_ID);
    w->begun = own;
    w->waited = w->left = 0;
    if (count == 1)
        job(user, 0, 1);
    else
        run_together(w, (int)count, job, user);
    const double seconds = seconds_of(CLOCK_MONOTONIC) - begin;
    const double worked = seconds_of(CLOCK_THREAD_CPUTIME_ID) - own;
    count_strikes(w, count > 1 && is_in_vain(seconds - worked, worked));
    if (w->strikes > STRIKES)
        leave_others(w);
    else if (!w->left)
        adapt(w, seconds, worked, values);
}

typedef struct pair {
    void (*job)(void *user, int64_t k);
    void *user;
} pair;

static void pair_thread(void *user, int me, int count)
{
    const pair *p = user;
    for (int64_t k = me; k < 2; k += count)
        p->job(p->user, k);
}

void workers_pair(workers *w, void (*job)(void *user, int64_t k), void *user)
{
    pair p = {job, user};
    helpers_run(w->second, helpers_start(w->second, 1), pair_thread, &p);
}

/* ---- pieces ------------------------------------------------------------ */

workers_pieces workers_pieces_of(int64_t n)
{
    int64_t rows = (n + PIECES_MOST - 1) / PIECES_MOST;
    rows = lanes_padded(rows < PIECE_ROWS_LEAST ? PIECE_ROWS_LEAST : rows);
    return (workers_pieces){.count = (n + rows - 1) / rows, .rows = rows};
}

typedef struct sum_job {
    int64_t n;
    workers_pieces pieces;
    workers_piece piece;
    void *user;
    double sums[PIECES_MOST][SUMS_MOST];
} sum_job;

static void sum_thread(void *user, int me, int count)
{
    sum_job *s = user;
    const workers_range own = workers_share(s->pieces.count, me, count);
    for (int64_t k = own.begin; k < own.end; k++) {
        const int64_t begin = k * s->pieces.rows, end = begin + s->pieces.rows;
        s->piece(s->user, begin, end < s->n ? end : s->n, s->sums[k]);
    }
}

void workers_sum(workers *w, int64_t n, int64_t cost, workers_piece piece, void *user, int numbers,
                 double *total)
{
    sum_job s = {.n = n, .pieces = workers_pieces_of(n), .piece = piece, .user = user};
    workers_run(w, n * cost, s.pieces.count, sum_thread, &s);
    for (int k = 0; k < numbers; k++) {
        total[k] = 0;
        for (int64_t p = 0; p < s.pieces.count; p++)
            total[k] += s.sums[p][k];
    }
}
