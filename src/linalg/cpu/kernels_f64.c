#define VALUE double
#define LOAD lanes_load_f64
#define KERNELS kernels_f64
#include "linalg/cpu/kernels_typed.h"
