/* Rooms that are taken together and given back together, in one block of memory: asking for each
 * costs as much as asking for all. */
#pragma once

#include "linalg/cuda/gpu.cuh"

struct gpu_rooms {
    enum { MOST = 48, ALIGN = 256 };
    struct {
        void **out;
        int64_t at;
    } wanted[MOST];
    int count;
    int64_t bytes;
    void *block;
    int is_here; /* page-locked on the host; otherwise on the GPU */
};

/* *out will be room for `count` values. */
template <typename T> void rooms_want(gpu_rooms *r, T **out, int64_t count)
{
    if (r->count < gpu_rooms::MOST)
        r->wanted[r->count] = {(void **)out, r->bytes};
    r->count++;
    r->bytes +=
        ceil_div((count > 0 ? count : 1) * (int64_t)sizeof(T), gpu_rooms::ALIGN) * gpu_rooms::ALIGN;
}

/* All of it, zeroed; `what` is named where there is none. */
roofs_status rooms_take(gpu_rooms *r, const char *what, roofs_error *err);
void rooms_give_back(gpu_rooms *r);
