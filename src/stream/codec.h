/* Decompression, one step at a time. A new kind is one more entry in codec.c. */
#ifndef STREAM_CODEC_H
#define STREAM_CODEC_H

#include "base/status.h"

/* What a step may read and where it may write; both are moved on by it. */
typedef struct codec_window {
    const unsigned char *in;
    size_t in_left;
    int in_is_last; /* nothing comes after what is left */
    unsigned char *out;
    size_t out_left;
} codec_window;

typedef enum codec_state {
    CODEC_GOING,
    CODEC_ENDED, /* every byte was given out */
    CODEC_BROKEN,
    CODEC_NO_MEMORY
} codec_state;

typedef struct codec {
    const char *name; /* for messages */
    unsigned char magic[6];
    size_t magic_length;
    void *(*open)(void); /* NULL: out of memory */
    codec_state (*step)(void *state, codec_window *w);
    void (*close)(void *state);
} codec;

/* The codec whose magic `start` begins with; NULL for plain bytes. */
const codec *codec_find(const unsigned char *start, size_t length);

/* What stands in .zip files: deflated bytes without any header. */
const codec *codec_deflate(void);

#endif
