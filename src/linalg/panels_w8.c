#define WIDTH 8
#define KERNEL INSTRUCTIONS("avx512f") static
#define KERNELS panels_w8
#include "linalg/panels_typed.h"
