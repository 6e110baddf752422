/* The state and the functions of the CUDA device. */
#pragma once

#include "linalg/cuda/buffers.cuh"
#include "linalg/cuda/upload.cuh"

enum { PINNED_NUMBERS = 64 };

struct device {
    device_shape shape;
    int64_t lead; /* values from one column to the next */
    int64_t size; /* bytes of a value */
    int processors;
    int64_t shared_most; /* bytes of shared memory a block may take */
    int has_clusters;    /* the kernels are those for compute capability 9.0 */
    cudaStream_t stream, uploads, surveys;
    char *columns; /* one allocation: the slots, then the ring of batches */
    int64_t bytes; /* of this allocation */
    char *batches[RING];
    upload_team *team;

    /* the borrowed batch */
    int ring_at;             /* its index in the ring */
    const char *borrowed;    /* its columns, in the ring or in a block that is on the GPU */
    int64_t borrowed_stride; /* in bytes */
    int64_t borrowed_count;
    int borrowed_is_ours; /* in the ring */

    /* the block whose upload runs, and the prefetch hint until the next gpu_wait */
    roofs_block upload;
    int is_uploading;
    int64_t received; /* batches of the upload that have been borrowed */
    roofs_block hint;
    int has_hint;

    /* a batch may be surveyed before it is borrowed, if the survey has no weights */
    int64_t surveyed_ahead; /* index in the ring of the batch that has been surveyed, or -1 */
    cudaEvent_t survey_done;
    int surveys_are_plain;             /* the last survey had no weights */
    double *survey_weight;             /* n */
    device_facts *facts, *facts_ahead; /* page-locked */

    /* columns of the batch that wait to be copied to slots */
    int64_t pending;
    int64_t *pending_from, *pending_to; /* page-locked */
    cudaEvent_t slots_written;          /* the last of these copies */

    /* of gpu_descend: partial images and sums, one per cluster */
    double *images, *levels, *squares;
    int64_t clusters_most;

    double *pinned; /* page-locked scratch: 4 n + PINNED_NUMBERS numbers */
    gpu_buffers on_device, on_host;
    roofs_error deferred; /* the first error of calls that return no status */
};

/* Waits for all work on d->stream. Starts the uploads of the prefetch hint first, so that they run
 * while the GPU works. */
roofs_status gpu_wait(device *d, roofs_error *err);

/* Starts the copies of pending columns to their slots. */
roofs_status gpu_write_slots(device *d, roofs_error *err);

/* Copies between page-locked memory and the GPU, in a kernel: the copy engine is busy with batches.
 * Both addresses are multiples of 16 bytes; the number of bytes is rounded up to one. */
roofs_status gpu_copy(device *d, void *to, const void *from, int64_t bytes, roofs_error *err);

/* Writes a list for kernels to page-locked memory. */
void gpu_list(const device *d, const device_column *columns, int64_t count, gpu_column *out);

/* ---- kernels on columns, all on d->stream and on vectors on the GPU ------ */

/* How gpu_descend divides its work; clusters = 0 if n is too large for it. */
struct descend_plan {
    int kind, cluster, rows;
    size_t shared;
    int64_t clusters;
};

roofs_status gpu_plan_descend(const device *d, descend_plan *out, roofs_error *err);

struct descend_job {
    const gpu_column *list;
    int64_t count;
    const double *r;
    double *gradient;
    const int *stop; /* the kernel returns at once if this is not 0 */
    int backwards;   /* start with the last columns */
    int prefetch;    /* list and columns do not depend on the kernel before: read them early */
};

/* Computes the gradient, and plan->clusters partial images and sums in d->images, d->levels and
 * d->squares. */
roofs_status gpu_descend(device *d, const descend_plan *plan, const descend_job *job,
                         roofs_error *err);

roofs_status gpu_products(device *d, const gpu_column *list, int64_t count, const double *r,
                          double *out, roofs_error *err);

/* out += sum_k weight[k] z_k, or of z_k^2. */
roofs_status gpu_add(device *d, const gpu_column *list, int64_t count, const double *weight,
                     int squares, double *out, roofs_error *err);

/* The diagonal blocks of Z'WZ. */
enum { GPU_BLOCK = 128 };

struct gram_buffers {
    double *partial; /* of each block and each split of the samples */
    double *gram;    /* blocks x GPU_BLOCK x GPU_BLOCK: lower triangles of the block's matrices */
    int64_t splits;
};

int64_t gram_splits(const device *d, int64_t blocks);

/* Runs at the same time as the kernel before it, which must begin with wait_for_last and must not
 * write the list, the columns or the weights. */
roofs_status gpu_gram_blocks(device *d, const gpu_column *list, int64_t count, const double *weight,
                             const gram_buffers *to, roofs_error *err);

/* ---- entries of device_ops (linalg/device.h), by file ------------------- */

/* device_cuda.cu */
int64_t cuda_bytes(const device_shape *shape);
int64_t cuda_taken(const device *d);
int64_t cuda_bytes_on_device(const device_shape *shape);
int64_t cuda_free_on_device(void);
roofs_status cuda_create(device **out, const device_shape *shape, roofs_error *err);
void cuda_destroy(device *d);
roofs_status cuda_ready(roofs_error *err);

/* batch.cu */
roofs_status cuda_borrow(device *d, const roofs_block *block, roofs_error *err);
void cuda_prefetch(device *d, const roofs_block *next);
roofs_status cuda_deferred(device *d, roofs_error *err);
int cuda_holds(const void *values);
void cuda_survey(device *d, const survey_options *how, device_facts *facts);
roofs_status cuda_rescale(device *d, int64_t k, int exponent, roofs_error *err);

/* slots.cu */
roofs_status cuda_keep(device *d, int64_t k, int64_t slot, roofs_error *err);
void cuda_release(device *d, int64_t slot);
roofs_status cuda_fetch(device *d, int64_t slot, device_values *out, roofs_error *err);
roofs_status cuda_put(device *d, int64_t slot, const device_values *column, roofs_error *err);
