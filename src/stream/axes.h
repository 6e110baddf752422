/* Which axis of an array holds the samples. */
#ifndef STREAM_AXES_H
#define STREAM_AXES_H

#include "stream/format.h"

/* Decides by --orient, or else by the one axis whose length is known from r->hints. */
roofs_status axes_find_samples(const int64_t shape[2], const reader *r, int *axis,
                               roofs_error *err);

#endif
