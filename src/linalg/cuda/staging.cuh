/* Page-locked memory for uploads. The memory of the last fit is cached for the next one, because
 * locking takes milliseconds. */
#pragma once

#include "linalg/cuda/buffers.cuh"

struct gpu_staging {
    char *bytes;
    size_t size;
    int is_locked;
};

/* Memory from the cache is locked. Otherwise the caller touches its pages and then calls
 * staging_lock. */
roofs_status staging_take(gpu_staging *s, size_t size, roofs_error *err);
cudaError_t staging_lock(gpu_staging *s);
void staging_give_back(gpu_staging *s);
