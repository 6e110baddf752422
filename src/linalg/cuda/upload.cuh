/* Uploads of features to the GPU in the background: worker threads gather pieces of the features in
 * page-locked memory, and a sender thread starts their copies. */
#pragma once

#include "linalg/cuda/gpu.cuh"

enum { RING = 4 /* batches: one is borrowed, the others may be uploaded at the same time */ };

/* A block to upload: batch k goes to batches[(first + k) % RING]. */
struct gpu_upload {
    roofs_block block;
    int first;
};

struct upload_target {
    device_shape shape;
    int64_t lead, size; /* values from one column to the next; bytes of a value */
    char *batches[RING];
    cudaStream_t stream;
};

struct upload_team;

roofs_status upload_team_create(upload_team **out, const upload_target *to, roofs_error *err);
void upload_team_destroy(upload_team *team);

/* Page-locked bytes of a team. */
int64_t upload_team_bytes(const device_shape *shape, int64_t column_bytes);

/* Starts an upload when the one before has ended. Its first `batches` batches start at once; the
 * others wait until upload_team_allow raises the number. */
void upload_team_start(upload_team *team, const gpu_upload *what, int64_t batches);
void upload_team_allow(upload_team *team, int64_t batches);

/* Waits until all copies of batch k have started, and makes the stream `on` wait for their end. */
roofs_status upload_team_wait(upload_team *team, int64_t k, cudaStream_t on, roofs_error *err);

/* True if upload_team_wait would return at once. */
int upload_team_has_sent(const upload_team *team, int64_t k);

/* Finishes the pieces that have begun and starts no more. */
roofs_status upload_team_stop(upload_team *team, roofs_error *err);
