#define VALUE double
#define LOAD lanes_load_f64
#define KERNELS sparse_f64
#include "linalg/cpu/sparse_typed.h"
