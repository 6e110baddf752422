/* The devices by name. The GPU code is a plug-in that is loaded on request: the same package runs
 * on machines with and without a GPU. */
#include "linalg/device.h"

#include <dlfcn.h>
#include <string.h>

/* The loader searches the run path of the program or library, then the system's paths. */
static const char CUDA_PLUGIN[] = "libroofs_cuda.so";

/* Returns NULL on failure. The plug-in stays loaded; loading it again is cheap. */
static const device_plugin *load_cuda(roofs_error *err)
{
    void *library = dlopen(CUDA_PLUGIN, RTLD_NOW | RTLD_LOCAL);
    if (!library) {
        fail(err, ROOFS_BAD_SETTING, "device cuda: %s could not be loaded (%s); use device cpu",
             CUDA_PLUGIN, dlerror());
        return NULL;
    }
    const device_plugin *plugin = dlsym(library, "roofs_cuda_plugin");
    if (plugin && plugin->version == DEVICE_PLUGIN_VERSION &&
        strcmp(plugin->library, ROOFS_VERSION) == 0)
        return plugin;
    fail(err, ROOFS_BAD_SETTING,
         "device cuda: %s belongs to another version of roofs; install both from one package",
         CUDA_PLUGIN);
    return NULL;
}

static roofs_status find_cuda(int must_be_ready, const device_ops **out, roofs_error *err)
{
    const device_plugin *plugin = load_cuda(err);
    if (!plugin)
        return ROOFS_BAD_SETTING;
    if (must_be_ready)
        TRY(plugin->ready(err));
    *out = plugin->ops;
    return ROOFS_OK;
}

roofs_status device_find(const char *name, const device_ops **out, roofs_error *err)
{
    *out = &device_cpu;
    if (strcmp(name, "cpu") == 0)
        return ROOFS_OK;
    roofs_status status = find_cuda(1, out, err);
    return strcmp(name, "auto") == 0 ? ROOFS_OK : status;
}

roofs_status device_lookup(const char *name, const device_ops **out, roofs_error *err)
{
    return strcmp(name, "cuda") == 0 ? find_cuda(0, out, err) : device_find(name, out, err);
}
