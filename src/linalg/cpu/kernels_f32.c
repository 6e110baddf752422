#define VALUE float
#define LOAD lanes_load_f32
#define KERNELS kernels_f32
#include "linalg/cpu/kernels_typed.h"
