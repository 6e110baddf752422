/* A temporary file without a name: the system removes it when the program ends. */
#ifndef STREAM_SPILL_H
#define STREAM_SPILL_H

#include "base/status.h"

/* In /var/tmp, which is normally on disk, or else in the temporary folder of the C library. */
roofs_status spill_open(int *fd, roofs_error *err);
void spill_close(int fd);

/* The same with a name, for libraries that open files by name. The caller unlinks it. */
enum { SPILL_PATH = 256 };
roofs_status spill_open_named(int *fd, char path[SPILL_PATH], roofs_error *err);

roofs_status spill_write(int fd, const void *from, int64_t size, int64_t offset, roofs_error *err);

/* Reads `size` bytes of any file. Returns fewer at its end and -1, with errno, on failure. */
int64_t spill_read_some(int fd, void *to, int64_t size, int64_t offset);
roofs_status spill_read(int fd, void *to, int64_t size, int64_t offset, roofs_error *err);

#endif
