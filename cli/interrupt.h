/* The first Ctrl-C or SIGTERM asks the program to stop after the current step; a second one ends it
 * at once. */
#ifndef CLI_INTERRUPT_H
#define CLI_INTERRUPT_H

#include <pthread.h>

void interrupt_install(void); /* installs the handlers */
int interrupt_signal(void);   /* the signal received, or 0 */

/* Interrupts a blocking read in another thread; repeat it until the read has ended. */
void interrupt_thread(pthread_t thread);

/* One line on standard error; returns the code to exit with, 130 or 143. */
int interrupt_exit(const char *who, const char *left);

#endif
