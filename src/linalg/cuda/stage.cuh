/* Page-locked memory for what travels. Locking it takes milliseconds: that of the last fit is kept
 * for the next one. */
#pragma once

#include "linalg/cuda/gpu.cuh"

struct gpu_stage {
    char *bytes;
    size_t size;
    int is_locked;
};

/* Locked where some has been kept; otherwise pages are made by touching them, before stage_lock. */
roofs_status stage_take(gpu_stage *s, size_t size, roofs_error *err);
cudaError_t stage_lock(gpu_stage *s);
void stage_give_back(gpu_stage *s);
