/* Files of formats that other programs read: the error names the command that converts them. */
#ifndef STREAM_FOREIGN_H
#define STREAM_FOREIGN_H

#include "base/status.h"

/* BAD_DATA if the first bytes are those of a Parquet, Feather or Arrow file. */
roofs_status foreign_refuse(const unsigned char *start, int64_t length, const char *name,
                            roofs_error *err);

#endif
