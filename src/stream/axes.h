/* Which axis of an array holds the samples. */
#ifndef STREAM_AXES_H
#define STREAM_AXES_H

#include "stream/format.h"

/* From the orientation, or else from the one axis whose length is known. `name` is that
 * of the file, for messages. */
roofs_status axes_find_samples(const int64_t shape[2], const format_hints *hints, const char *name,
                               int *axis, roofs_error *err);

#endif
