/* The members of a .zip file (.npz is one), stored or deflated, also larger than 4 GiB. */
#ifndef STREAM_ZIP_H
#define STREAM_ZIP_H

#include "stream/bytes.h"
#include "table/names.h"

typedef struct zip {
    bytes *whole; /* borrowed */
    names names;
    bytes_range *members; /* `offset` is that of the local header; without name */
    int64_t count, capacity;
} zip;

/* Reads the list of members. */
roofs_status zip_open(zip *z, bytes *whole, roofs_error *err);
void zip_close(zip *z);

/* Index of the member `name`; -1 if there is none. */
int64_t zip_find(const zip *z, const char *name);

roofs_status zip_open_member(const zip *z, int64_t member, bytes **out, roofs_error *err);

#endif
