/* The header of a NumPy array file: type, order, shape. */
#ifndef STREAM_NPY_HEADER_H
#define STREAM_NPY_HEADER_H

#include "stream/bytes.h"

typedef struct npy_type {
    char kind;   /* 'f', 'i', 'u', 'b' */
    int size;    /* bytes of a value */
    int swapped; /* byte order differs from this machine */
} npy_type;

enum { NPY_MOST_AXES = 32, NPY_MAGIC_LENGTH = 6 };
extern const unsigned char npy_magic[NPY_MAGIC_LENGTH];

typedef struct npy_header {
    npy_type type;
    int fortran_order;
    int64_t rank;
    int64_t shape[NPY_MOST_AXES];
    int64_t count;       /* number of values */
    int64_t data_offset; /* bytes before the values */
} npy_header;

/* Reads the header. Where the size of the file is known, also checks that it is complete. */
roofs_status npy_read_header(bytes *input, npy_header *header, roofs_error *err);

/* Reads an array of one short text. */
enum { NPY_WORD = 16 };
roofs_status npy_read_word(bytes *input, char out[NPY_WORD], roofs_error *err);

/* "(3, 4)", for messages. */
void npy_shape_text(const npy_header *header, char *out, size_t size);

#endif
