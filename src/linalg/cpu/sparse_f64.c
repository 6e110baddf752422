#define VALUE double
#define KERNELS sparse_f64
#include "linalg/cpu/sparse_typed.h"
