#include "linalg/panels.h"

const panel_kernels *panels_best(void)
{
    if (HAS_INSTRUCTIONS("avx512f"))
        return &panels_w8;
    return HAS_INSTRUCTIONS("avx2") ? &panels_w4 : &panels_w2;
}
