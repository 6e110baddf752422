/* Descriptors 0, 1 and 2. */
#ifndef CLI_DESCRIPTORS_H
#define CLI_DESCRIPTORS_H

/* Opens those of the descriptors 0, 1 and 2 that are closed, so that no file gets their number and
 * receives what is printed. Reading such a standard input and writing such a standard output still
 * fails. Call it first. Returns 0, or -1 if no descriptor is left. */
int secure_descriptors(void);

#endif
