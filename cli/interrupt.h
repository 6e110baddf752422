/* The first Ctrl-C or SIGTERM stops the program after the current step, the second one at once. */
#ifndef CLI_INTERRUPT_H
#define CLI_INTERRUPT_H

#include <pthread.h>

void interrupt_install(void); /* the signal handlers */
int interrupt_signal(void);   /* the received signal, or 0 */

/* Interrupts a blocking read in another thread. Repeat it until the read has ended. */
void interrupt_thread(pthread_t thread);

/* Prints "interrupted" and `result`; returns the code to exit with, 130 or 143. */
int interrupt_exit(const char *who, const char *result);

#endif
