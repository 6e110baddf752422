#include "stream/codec.h"

#include "base/memory.h"

#include <limits.h>
#include <lzma.h>
#include <string.h>
#include <zlib.h>

/* ---- gzip -------------------------------------------------------------- */

typedef struct gzip {
    z_stream z;
    int between_members; /* a file may hold several members */
} gzip;

static void *inflate_open(int window)
{
    gzip *g;
    if (memory_get(&g, 1, sizeof *g, "decompression", NULL))
        return NULL;
    if (inflateInit2(&g->z, window) == Z_OK)
        return g;
    memory_free(g);
    return NULL;
}

static void *gzip_open(void)
{
    const int any_window_gzip_only = 15 + 16;
    return inflate_open(any_window_gzip_only);
}

static void *deflate_open(void)
{
    const int any_window_no_header = -15;
    return inflate_open(any_window_no_header);
}

static void gzip_close(void *state)
{
    gzip *g = state;
    inflateEnd(&g->z);
    memory_free(g);
}

/* After a member: another one, padding with zeros (tapes), or the end. */
static codec_state gzip_between(gzip *g, codec_window *w)
{
    while (w->in_left > 0 && *w->in == 0) {
        w->in++;
        w->in_left--;
    }
    if (w->in_left == 0)
        return w->in_is_last ? CODEC_ENDED : CODEC_GOING;
    g->between_members = 0;
    return inflateReset(&g->z) == Z_OK ? CODEC_GOING : CODEC_BROKEN;
}

static unsigned int at_most_uint(size_t size)
{
    return size > UINT_MAX ? UINT_MAX : (unsigned int)size;
}

static codec_state inflate_step(gzip *g, codec_window *w)
{
    unsigned int in = at_most_uint(w->in_left), out = at_most_uint(w->out_left);
    g->z.next_in = (z_const Bytef *)w->in;
    g->z.avail_in = in;
    g->z.next_out = w->out;
    g->z.avail_out = out;
    int outcome = inflate(&g->z, Z_NO_FLUSH);
    w->in += in - g->z.avail_in;
    w->in_left -= in - g->z.avail_in;
    w->out += out - g->z.avail_out;
    w->out_left -= out - g->z.avail_out;
    g->between_members = outcome == Z_STREAM_END;
    if (outcome == Z_MEM_ERROR)
        return CODEC_NO_MEMORY;
    int fine = outcome == Z_OK || outcome == Z_STREAM_END || outcome == Z_BUF_ERROR;
    return fine ? CODEC_GOING : CODEC_BROKEN;
}

static codec_state gzip_step(void *state, codec_window *w)
{
    gzip *g = state;
    return g->between_members ? gzip_between(g, w) : inflate_step(g, w);
}

static codec_state deflate_step(void *state, codec_window *w)
{
    gzip *g = state;
    codec_state outcome = inflate_step(g, w);
    return g->between_members ? CODEC_ENDED : outcome;
}

/* ---- xz ---------------------------------------------------------------- */

static void *xz_open(void)
{
    lzma_stream *x;
    if (memory_get(&x, 1, sizeof *x, "decompression", NULL))
        return NULL;
    *x = (lzma_stream)LZMA_STREAM_INIT;
    if (lzma_stream_decoder(x, UINT64_MAX, LZMA_CONCATENATED) == LZMA_OK)
        return x;
    memory_free(x);
    return NULL;
}

static void xz_close(void *state)
{
    lzma_end(state);
    memory_free(state);
}

static codec_state xz_step(void *state, codec_window *w)
{
    lzma_stream *x = state;
    x->next_in = w->in;
    x->avail_in = w->in_left;
    x->next_out = w->out;
    x->avail_out = w->out_left;
    lzma_ret outcome = lzma_code(x, w->in_is_last ? LZMA_FINISH : LZMA_RUN);
    w->in = x->next_in;
    w->in_left = x->avail_in;
    w->out = x->next_out;
    w->out_left = x->avail_out;
    if (outcome == LZMA_STREAM_END)
        return CODEC_ENDED;
    if (outcome == LZMA_MEM_ERROR)
        return CODEC_NO_MEMORY;
    return outcome == LZMA_OK || outcome == LZMA_BUF_ERROR ? CODEC_GOING : CODEC_BROKEN;
}

/* ---- the list ---------------------------------------------------------- */

static const codec codecs[] = {
    {.name = "gzip",
     .magic = {0x1f, 0x8b},
     .magic_length = 2,
     .best_ratio = CODEC_DEFLATE_RATIO,
     .open = gzip_open,
     .step = gzip_step,
     .close = gzip_close},
    {.name = "xz",
     .magic = {0xfd, '7', 'z', 'X', 'Z', 0},
     .magic_length = 6,
     .best_ratio = 8000, /* LZMA codes a match of 273 bytes in 0.3 bits or more */
     .open = xz_open,
     .step = xz_step,
     .close = xz_close},
};

const codec *codec_deflate(void)
{
    static const codec deflate = {
        .name = "deflate", .open = deflate_open, .step = deflate_step, .close = gzip_close};
    return &deflate;
}

const codec *codec_find(const unsigned char *start, size_t length)
{
    for (size_t k = 0; k < sizeof codecs / sizeof *codecs; k++) {
        const codec *c = &codecs[k];
        if (length >= c->magic_length && memcmp(start, c->magic, c->magic_length) == 0)
            return c;
    }
    return NULL;
}
