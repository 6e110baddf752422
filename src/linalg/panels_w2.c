#define WIDTH 2
#define KERNEL static
#define KERNELS panels_w2
#include "linalg/panels_typed.h"
