#define WIDTH 4
#define KERNEL INSTRUCTIONS("avx2") static
#define KERNELS panels_w4
#include "linalg/panels_typed.h"
