#define DECODE lanes_decode
#define KERNEL EVERY_WIDTH static
#define INLINED LANES_INLINE
#define KERNELS kernels_2bit
#include "linalg/cpu/kernels_coded.h"
#include "linalg/cpu/kernels_typed.h"
