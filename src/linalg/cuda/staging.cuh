/* Page-locked memory that uploads pass through. Locking takes milliseconds: the memory of the last
 * fit is cached for the next one. */
#pragma once

#include "linalg/cuda/buffers.cuh"

struct gpu_staging {
    char *bytes;
    size_t size;
    int is_locked;
};

/* Locked where it comes from the cache; otherwise threads touch its pages first, and then call
 * staging_lock. */
roofs_status staging_take(gpu_staging *s, size_t size, roofs_error *err);
cudaError_t staging_lock(gpu_staging *s);
void staging_give_back(gpu_staging *s);
