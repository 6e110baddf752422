/* The first Ctrl-C, SIGTERM or SIGHUP stops the program after the current step, the second one at
 * once. */
#ifndef CLI_INTERRUPT_H
#define CLI_INTERRUPT_H

#include "base/status.h"

#include <pthread.h>

/* Installs the signal handlers. While nothing is to be saved, a program that is still busy some
 * seconds after the signal ends at once. */
void interrupt_install(void);

/* From now on there is something to save: the program ends only after the current step. */
void interrupt_defer(void);

int interrupt_signal(void); /* the received signal, or 0 */

/* CANCELLED if a signal came. Call it before files get their names. */
roofs_status interrupt_check(roofs_error *err);

/* Interrupts a blocking read in another thread. Repeat it until the read has ended. */
void interrupt_thread(pthread_t thread);

/* Prints "interrupted" and `result`; returns the code to exit with: 128 plus the signal. */
int interrupt_exit(const char *who, const char *result);

#endif
