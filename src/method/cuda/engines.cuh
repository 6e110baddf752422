/* The engines of the plug-in. */
#pragma once

extern "C" {
#include "method/bayes_engine.h"
#include "method/roofs_engine.h"
}

extern const roofs_engine roofs_cuda;
extern const bayes_engine bayes_cuda;
