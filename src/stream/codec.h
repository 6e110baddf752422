/* Decompression, one step at a time. A new codec is one entry in codec.c. */
#ifndef STREAM_CODEC_H
#define STREAM_CODEC_H

#include "base/status.h"

/* Input and output of a step, which moves both pointers. */
typedef struct codec_window {
    const unsigned char *in;
    size_t in_left;
    int in_is_last; /* no input follows */
    unsigned char *out;
    size_t out_left;
} codec_window;

typedef enum codec_state {
    CODEC_GOING,
    CODEC_ENDED, /* all output has been written */
    CODEC_BROKEN,
    CODEC_NO_MEMORY
} codec_state;

typedef struct codec {
    const char *name; /* for messages */
    unsigned char magic[6];
    size_t magic_length;
    int64_t best_ratio;  /* a byte of input gives at most this many bytes of output */
    void *(*open)(void); /* NULL = no memory */
    codec_state (*step)(void *state, codec_window *w);
    void (*close)(void *state);
} codec;

/* The codec whose magic number `start` begins with; NULL for plain bytes. */
const codec *codec_find(const unsigned char *start, size_t length);

/* The best that deflate can do, rounded up. */
enum { CODEC_DEFLATE_RATIO = 1040 };

/* Deflate without a header, as in .zip files. */
const codec *codec_deflate(void);

#endif
