/* The devices by name. A GPU's code is a library of its own, loaded when it is asked for: one
 * package serves machines with a GPU and without. */
#include "linalg/device.h"

#include <dlfcn.h>
#include <string.h>

/* Found beside the program or library (their run path), or where the system looks. */
static const char CUDA_PART[] = "libroofs_cuda.so";

/* The part stays loaded: loading it again only finds it. NULL where it cannot be used. */
static const device_part *load_cuda(roofs_error *err)
{
    void *library = dlopen(CUDA_PART, RTLD_NOW | RTLD_LOCAL);
    if (!library) {
        fail(err, ROOFS_BAD_SETTING, "device cuda: %s could not be loaded (%s)", CUDA_PART,
             dlerror());
        return NULL;
    }
    const device_part *part = dlsym(library, "roofs_cuda_part");
    if (part && part->version == DEVICE_PART_VERSION)
        return part;
    fail(err, ROOFS_BAD_SETTING, "device cuda: %s is not of this version of roofs", CUDA_PART);
    return NULL;
}

static roofs_status find_cuda(const device_ops **out, roofs_error *err)
{
    const device_part *part = load_cuda(err);
    if (!part)
        return ROOFS_BAD_SETTING;
    TRY(part->ready(err));
    *out = part->ops;
    return ROOFS_OK;
}

roofs_status device_find(const char *name, const device_ops **out, roofs_error *err)
{
    *out = &device_cpu;
    if (strcmp(name, "cpu") == 0)
        return ROOFS_OK;
    roofs_status status = find_cuda(out, err);
    return strcmp(name, "auto") == 0 ? ROOFS_OK : status;
}

roofs_status device_know(const char *name, const device_ops **out, roofs_error *err)
{
    if (strcmp(name, "cuda") != 0)
        return device_find(name, out, err);
    const device_part *part = load_cuda(err);
    if (!part)
        return ROOFS_BAD_SETTING;
    *out = part->ops;
    return ROOFS_OK;
}
