#include "cli/interrupt.h"

#include "cli/print.h"
#include "cli/verbs.h"

#include <signal.h>

static volatile sig_atomic_t received; /* the signal, or 0 */

static void record_signal(int number)
{
    received = number;
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
    install_handler(SIGINT);
    install_handler(SIGTERM);
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

int interrupt_exit(const char *who, const char *result)
{
    complain(who, "interrupted%s", result);
    return EXIT_SIGNAL + received;
}
