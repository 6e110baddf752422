/* Features on their way to the GPU. A few threads bring pieces of them together in page-locked
 * memory and another sends these off, while the host and the GPU do something else. */
#pragma once

#include "linalg/cuda/gpu.cuh"

enum { RING = 4 /* batches: one is worked on, the others may be on their way */ };

/* Columns become contiguous values of `dtype`, `lead` values apart. Batch k of a shipment goes to
 * room (first_room + k) % RING. */
struct gpu_shipment {
    roofs_block block;
    int first_room;
};

struct gpu_route {
    device_shape shape;
    int64_t lead, size; /* values; bytes of one */
    char *rooms[RING];
    cudaStream_t stream;
};

struct gpu_team;

roofs_status gpu_team_create(gpu_team **out, const gpu_route *route, roofs_error *err);
void gpu_team_destroy(gpu_team *team);

/* Page-locked bytes of a team. */
int64_t gpu_team_bytes(const device_shape *shape, int64_t column_bytes);

/* One shipment at a time. Its first `batches` batches may travel; those after them wait until
 * gpu_team_allow, when there is room for them. */
void gpu_team_ship(gpu_team *team, const gpu_shipment *what, int64_t batches);
void gpu_team_allow(gpu_team *team, int64_t batches);

/* Batch k is on the team's stream, and `on` waits for it there. */
roofs_status gpu_team_wait(gpu_team *team, int64_t k, cudaStream_t on, roofs_error *err);

/* Whether it would not take any time. */
int gpu_team_has_sent(const gpu_team *team, int64_t k);

/* What has begun comes to an end, and nothing more begins. */
roofs_status gpu_team_stop(gpu_team *team, roofs_error *err);
