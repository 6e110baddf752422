#define VALUE float
#define KERNELS sparse_f32
#include "linalg/cpu/sparse_typed.h"
