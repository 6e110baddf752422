/* Blocks whose columns have several types. */
#include "linalg/cpu/kernels_2bit.h"

LANES_INLINE double mixed_item(const sweep_block *b, int q, int64_t i)
{
    switch (b->dtype[q]) {
    case ROOFS_F32:
        return (double)((const float *)b->x[q])[i];
    case ROOFS_I8:
        return (double)((const signed char *)b->x[q])[i];
    case ROOFS_U8:
        return (double)((const unsigned char *)b->x[q])[i];
    case ROOFS_2BIT:
        return b->codes[q]->level[code_at(b, q, i)];
    default:
        return ((const double *)b->x[q])[i];
    }
}

LANES_INLINE lanes mixed_load(const sweep_block *b, int q, int64_t i)
{
    switch (b->dtype[q]) {
    case ROOFS_F32:
        return lanes_load_f32((const float *)b->x[q] + i);
    case ROOFS_I8:
        return lanes_load_i8((const signed char *)b->x[q] + i);
    case ROOFS_U8:
        return lanes_load_u8((const unsigned char *)b->x[q] + i);
    case ROOFS_2BIT:
        return lanes_decode(codes_at(b, q, i), b->codes[q]->level);
    default:
        return lanes_load_f64((const double *)b->x[q] + i);
    }
}

#define ITEM mixed_item
#define LOAD mixed_load
#define PREFETCH(b, q, i) ((void)(b), (void)(i)) /* few blocks have several types */
#define KERNEL EVERY_WIDTH static
#define INLINED LANES_INLINE
#define KERNELS kernels_mixed
#include "linalg/cpu/kernels_plain.h"
#include "linalg/cpu/kernels_typed.h"
