#include "linalg/lanes_packed.h"

#define ITEM(b, q, i) ((double)((const unsigned char *)(b)->x[q])[i])
#define LOAD(b, q, i) lanes_load_u8((const unsigned char *)(b)->x[q] + (i))
#define PREFETCH(b, q, i) __builtin_prefetch((const unsigned char *)(b)->x[q] + (i), 0, 2)
#define KERNEL EVERY_WIDTH static
#define INLINED LANES_INLINE
#define KERNELS kernels_u8
#include "linalg/cpu/kernels_plain.h"
#include "linalg/cpu/kernels_typed.h"
