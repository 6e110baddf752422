#define DECODE lanes_decode_avx512
#define KERNEL INSTRUCTIONS("avx512f") static
#define INLINED INSTRUCTIONS("avx512f") LANES_INLINE
#define KERNELS kernels_2bit_avx512
#include "linalg/cpu/kernels_coded.h"
#include "linalg/cpu/kernels_typed.h"
