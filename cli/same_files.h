/* Do all ranks see the same input files? */
#ifndef CLI_SAME_FILES_H
#define CLI_SAME_FILES_H

#include "base/comm.h"
#include "stream/source.h"

/* Compares the lengths and digests of the files of the source and of `others` (ends with NULL) over
 * the ranks. Of a large file the digest covers blocks that are spread over it. BAD_DATA on all
 * ranks, with the name of the first file that differs. One rank returns OK without reading. */
roofs_status same_files(comm *c, const source *s, const char *const *others, roofs_error *err);

#endif
