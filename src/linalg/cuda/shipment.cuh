/* Blocks of features on their way to the GPU. A few threads bring pieces of a block together in
 * page-locked memory and send each off, while the host and the GPU do something else. */
#pragma once

#include "linalg/cuda/gpu.cuh"

struct gpu_team;

/* Columns become contiguous values of `dtype`, `lead` values apart. */
struct gpu_shipment {
    roofs_block block;
    roofs_dtype dtype;
    int64_t lead;
    char *there;
};

roofs_status gpu_team_create(gpu_team **out, const device_shape *shape, int64_t size,
                             cudaStream_t stream, roofs_error *err);
void gpu_team_destroy(gpu_team *team);

/* One shipment at a time; it is on its stream when gpu_team_wait is over. */
void gpu_team_ship(gpu_team *team, const gpu_shipment *what);
roofs_status gpu_team_wait(gpu_team *team, roofs_error *err);
