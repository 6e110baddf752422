/* Uploads of features to the GPU. A few threads gather pieces of the features in page-locked
 * memory and another thread starts their copies, while the host and the GPU do something else. */
#pragma once

#include "linalg/cuda/gpu.cuh"

enum { RING = 4 /* batches: one is worked on, the others may be uploaded meanwhile */ };

/* Columns become contiguous values of `dtype`, `lead` values apart. Batch k of an upload goes to
 * batches[(first + k) % RING]. */
struct gpu_upload {
    roofs_block block;
    int first;
};

struct upload_target {
    device_shape shape;
    int64_t lead, size; /* values; bytes of one */
    char *batches[RING];
    cudaStream_t stream;
};

struct upload_team;

roofs_status upload_team_create(upload_team **out, const upload_target *to, roofs_error *err);
void upload_team_destroy(upload_team *team);

/* Page-locked bytes of a team. */
int64_t upload_team_bytes(const device_shape *shape, int64_t column_bytes);

/* One upload at a time. Its first `batches` batches start at once; those after them wait for
 * upload_team_allow, when the ring has a free buffer for them. */
void upload_team_start(upload_team *team, const gpu_upload *what, int64_t batches);
void upload_team_allow(upload_team *team, int64_t batches);

/* Waits until the copies of batch k are on the team's stream; `on` waits for them there. */
roofs_status upload_team_wait(upload_team *team, int64_t k, cudaStream_t on, roofs_error *err);

/* True if upload_team_wait would return at once. */
int upload_team_has_sent(const upload_team *team, int64_t k);

/* Finishes the pieces that have begun and starts no more. */
roofs_status upload_team_stop(upload_team *team, roofs_error *err);
