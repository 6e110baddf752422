#include "linalg/lanes_packed.h"

#define ITEM(b, q, i) ((double)((const signed char *)(b)->x[q])[i])
#define LOAD(b, q, i) lanes_load_i8((const signed char *)(b)->x[q] + (i))
#define PREFETCH(b, q, i) __builtin_prefetch((const signed char *)(b)->x[q] + (i), 0, 2)
#define KERNEL EVERY_WIDTH static
#define INLINED LANES_INLINE
#define KERNELS kernels_i8
#include "linalg/cpu/kernels_plain.h"
#include "linalg/cpu/kernels_typed.h"
