#include "cli/interrupt.h"

#include "cli/print.h"
#include "cli/verbs.h"

#include <signal.h>
#include <unistd.h>

enum { PATIENCE = 2 }; /* alarms after the signal until the program ends at once */

static volatile sig_atomic_t received; /* the signal, or 0 */
static volatile sig_atomic_t deferred; /* there is something to save */
static volatile sig_atomic_t alarms;

static void record_signal(int number)
{
    received = number;
    alarm(1);
}

/* An alarm every second ends each read that began after the signal: a pipe may deliver nothing for
 * hours. */
static void repeat_alarm(int number)
{
    static const char message[] = "roofs: interrupted\n";
    (void)number;
    alarms = alarms + 1;
    if (alarms >= PATIENCE && !deferred) {
        ssize_t put = write(STDERR_FILENO, message, sizeof message - 1);
        (void)put;
        _exit(EXIT_SIGNAL + received);
    }
    alarm(1);
}

/* Without SA_RESTART a signal also ends a read from a pipe. A signal that was ignored when the
 * program began (nohup, a background job) stays ignored. */
static void install_handler(int number)
{
    struct sigaction old, action = {.sa_handler = record_signal, .sa_flags = (int)SA_RESETHAND};
    sigemptyset(&action.sa_mask);
    if (sigaction(number, NULL, &old) == 0 && old.sa_handler != SIG_IGN)
        sigaction(number, &action, NULL);
}

void interrupt_install(void)
{
    struct sigaction action = {.sa_handler = repeat_alarm};
    sigemptyset(&action.sa_mask);
    sigaction(SIGALRM, &action, NULL);
    install_handler(SIGINT);
    install_handler(SIGTERM);
    install_handler(SIGHUP);
}

void interrupt_defer(void)
{
    deferred = 1;
}

static void do_nothing(int number)
{
    (void)number;
}

void interrupt_thread(pthread_t thread)
{
    struct sigaction action = {.sa_handler = do_nothing};
    sigemptyset(&action.sa_mask);
    if (sigaction(SIGUSR1, &action, NULL) == 0)
        pthread_kill(thread, SIGUSR1);
}

int interrupt_signal(void)
{
    return received;
}

roofs_status interrupt_check(roofs_error *err)
{
    return received ? fail(err, ROOFS_CANCELLED, "interrupted") : ROOFS_OK;
}

int interrupt_exit(const char *who, const char *result)
{
    complain(who, "interrupted%s", result);
    return EXIT_SIGNAL + received;
}
