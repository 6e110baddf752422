/* Ctrl-C and SIGTERM ask a long run to stop at a good moment; a second one ends
 * it at once. */
#ifndef CLI_INTERRUPT_H
#define CLI_INTERRUPT_H

#include <pthread.h>

void interrupt_install(void); /* installs the handlers */
int interrupt_signal(void);   /* the signal that came, or 0 */

/* Ends a wait for data of another thread; to be repeated until it has ended. */
void interrupt_thread(pthread_t thread);

/* One line on standard error; returns the code to exit with, 130 or 143. */
int interrupt_exit(const char *who, const char *left);

#endif
