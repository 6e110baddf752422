/* The inside of the CUDA device, shared by the files of the part. */
#pragma once

#include "linalg/cuda/rooms.cuh"
#include "linalg/cuda/shipment.cuh"

enum { STAGE_MORE = 64 };

struct device {
    device_shape shape;
    int64_t lead; /* values from one column to the next */
    int64_t size; /* bytes of a value */
    int processors;
    int64_t shared_most; /* bytes of shared memory a block may take */
    cudaStream_t stream, copies, looks;
    char *columns; /* the one allocation: the slots, then the ring of batches */
    int64_t bytes;
    char *rooms[RING];
    gpu_team *team;
    cudaEvent_t kept;     /* the columns of the batch that are kept */
    int turn;             /* the room of the batch that is borrowed */
    roofs_block expected; /* what is on its way, where something is */
    int expects;
    int64_t received; /* batches of it */
    roofs_block due;  /* what cuda_expect was told, to be seen to while the GPU works */
    int is_due;
    int64_t early; /* the room whose batch has been looked at beforehand, or -1 */
    cudaEvent_t looked;
    int looks_are_plain;                      /* no weights were asked for last time */
    const double *weight_here, *weight_there; /* the same weights, where a method has said so */
    const char *borrowed;    /* columns of the batch, or those of a block that lies on the GPU */
    int64_t borrowed_stride; /* in bytes */
    int64_t borrowed_count;
    int borrowed_is_ours;
    roofs_error trouble; /* of calls that cannot say so */

    int64_t pending;                    /* columns to be kept, not yet copied */
    int64_t *pending_from, *pending_to; /* page-locked */

    /* vectors and lists on the GPU, for calls with host vectors */
    double *vector[3]; /* n each */
    double *weight;    /* per column */
    double *numbers;   /* per column */
    gpu_column *list;
    device_facts *facts, *early_facts; /* page-locked */

    /* of the fused gradient: partial images and their sums, one per cluster */
    double *images, *levels, *squares;
    int64_t clusters_most;

    /* page-locked staging: 4 vectors of n and some numbers, and lists */
    double *stage;
    gpu_column *stage_list;

    gpu_rooms there, here; /* all of these */

    struct roofs_gpu *roofs; /* of the methods' rounds */
    struct bayes_gpu *bayes;
};

/* Columns on their way out of the batch have arrived. */
roofs_status gpu_flush(device *d, roofs_error *err);

/* Page-locked bytes to the GPU, read by a kernel: the copy engine is busy with batches. Both begin
 * at multiples of 16 bytes, and what is beyond up to the next one goes along. */
roofs_status gpu_bring(device *d, void *to, const void *from, int64_t bytes, roofs_error *err);

/* What is expected begins to travel: to be called when the GPU has something to do. */
void gpu_expect_now(device *d);

/* The list as kernels see it: into page-locked memory, and on to the GPU. */
void gpu_list(const device *d, const device_column *columns, int64_t count, gpu_column *out);
roofs_status gpu_send_list(device *d, const device_column *columns, int64_t count,
                           gpu_column *there, roofs_error *err);

/* ---- kernels on columns, all on d->stream and on vectors there ---------- */

/* How the fused gradient is cut up; clusters = 0 where n is too long for it. */
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
    const int *stop; /* nothing is done where this is not 0, if it is given */
    int backwards;   /* the last columns first */
    int early;       /* the kernel before this one has nothing to do with list and columns: they may
                        be read before it has ended */
};

/* gradient, and partial images in d->images (plan.clusters of them), d->levels, d->squares. */
roofs_status gpu_descend(device *d, const descend_plan *plan, const descend_job *job,
                         roofs_error *err);

roofs_status gpu_products(device *d, const gpu_column *list, int64_t count, const double *r,
                          double *out, roofs_error *err);

/* out += sum_k weight[k] z_k, or of z_k^2. */
roofs_status gpu_add(device *d, const gpu_column *list, int64_t count, const double *weight,
                     int squares, double *out, roofs_error *err);

/* The diagonal blocks of Z'WZ. */
enum { GPU_BLOCK = 128 };

struct gram_room {
    double *partial; /* of each block and each split of the samples */
    double *gram;    /* blocks x GPU_BLOCK x GPU_BLOCK: lower triangles of the block's matrices */
    int64_t splits;
};

int64_t gram_splits(const device *d, int64_t blocks);

/* The last kernel before it must have begun with wait_for_last, and write neither the list, nor
 * columns, nor weights: they are worked on side by side. */
roofs_status gpu_gram_blocks(device *d, const gpu_column *list, int64_t count, const double *weight,
                             const gram_room *room, roofs_error *err);

/* ---- entries of the table (linalg/device.h), by the files that have them ---------------- */

/* batch.cu */
roofs_status cuda_borrow(device *d, const roofs_block *block, roofs_error *err);
void cuda_expect(device *d, const roofs_block *rest);
roofs_status cuda_check(device *d, roofs_error *err);
int cuda_holds(const void *values);
void cuda_survey(device *d, const device_look *look, device_facts *facts);
roofs_status cuda_rescale(device *d, int64_t k, int exponent, roofs_error *err);

/* kept.cu */
roofs_status cuda_keep(device *d, int64_t k, int64_t slot, roofs_error *err);
void cuda_release(device *d, int64_t slot);
roofs_status cuda_fetch(device *d, int64_t slot, device_values *out, roofs_error *err);
roofs_status cuda_put(device *d, int64_t slot, const device_values *column, roofs_error *err);

/* products.cu */
void cuda_descend(device *d, const device_column *columns, int64_t count, const double *r,
                  double *gradient, double *image);
void cuda_products(device *d, const device_column *columns, int64_t count, const double *r,
                   double *out);
void cuda_gram(device *d, const device_column *columns, int64_t count, const double *weight,
               double *gram);
void cuda_sample(device *d, const device_column *columns, int64_t count, int64_t sample,
                 double *out);
void cuda_add(device *d, const device_column *columns, int64_t count, const double *weight,
              double *out);
void cuda_add_squares(device *d, const device_column *columns, int64_t count, const double *weight,
                      double *out);
void cuda_sweep(device *d, const device_column *columns, int64_t count, const device_sweep *how);

/* ---- the methods' rounds ------------------------------------------------ */

void roofs_gpu_destroy(struct roofs_gpu *s);
void bayes_gpu_destroy(struct bayes_gpu *s);
extern "C" const struct rounds cuda_rounds;
