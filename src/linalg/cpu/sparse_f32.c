#define VALUE float
#define LOAD lanes_load_f32
#define KERNELS sparse_f32
#include "linalg/cpu/sparse_typed.h"
