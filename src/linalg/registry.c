/* The devices by name. The code for a GPU is a plug-in, loaded when a fit asks for it: one package
 * serves machines with a GPU and without. */
#include "linalg/device.h"

#include <dlfcn.h>
#include <string.h>

/* Found beside the program or library (their run path), or where the system looks. */
static const char CUDA_PLUGIN[] = "libroofs_cuda.so";

/* The plug-in stays loaded; loading it again is cheap. NULL where it cannot be used. */
static const device_plugin *load_cuda(roofs_error *err)
{
    void *library = dlopen(CUDA_PLUGIN, RTLD_NOW | RTLD_LOCAL);
    if (!library) {
        fail(err, ROOFS_BAD_SETTING, "device cuda: %s could not be loaded (%s)", CUDA_PLUGIN,
             dlerror());
        return NULL;
    }
    const device_plugin *plugin = dlsym(library, "roofs_cuda_plugin");
    if (plugin && plugin->version == DEVICE_PLUGIN_VERSION)
        return plugin;
    fail(err, ROOFS_BAD_SETTING, "device cuda: %s is not of this version of roofs", CUDA_PLUGIN);
    return NULL;
}

static roofs_status find_cuda(const device_ops **out, roofs_error *err)
{
    const device_plugin *plugin = load_cuda(err);
    if (!plugin)
        return ROOFS_BAD_SETTING;
    TRY(plugin->ready(err));
    *out = plugin->ops;
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
    const device_plugin *plugin = load_cuda(err);
    if (!plugin)
        return ROOFS_BAD_SETTING;
    *out = plugin->ops;
    return ROOFS_OK;
}
