#include "base/target.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { LINKS_MOST = 40 };

const char *target_name(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

int target_folder(const char *path, char folder[PATH_MAX])
{
    const char *name = target_name(path);
    size_t length = (size_t)(name - path);
    if (length >= PATH_MAX)
        return ENAMETOOLONG;
    while (length > 1 && path[length - 1] == '/')
        length--;
    memcpy(folder, length > 0 ? path : ".", length > 0 ? length : 1);
    folder[length > 0 ? length : 1] = '\0';
    return 0;
}

/* path = folder/name. Returns 0 or ENAMETOOLONG. */
static int join_paths(char path[PATH_MAX], const char *folder, const char *name)
{
    const char *slash = strcmp(folder, "/") == 0 ? "" : "/";
    int length = snprintf(path, PATH_MAX, "%s%s%s", folder, slash, name);
    return length < PATH_MAX ? 0 : ENAMETOOLONG;
}

/* Replaces a link by the path in it. Returns 0, an errno value, or -1 if the path is no link. */
static int follow_link(char path[PATH_MAX])
{
    char text[PATH_MAX], folder[PATH_MAX];
    ssize_t length = readlink(path, text, sizeof text - 1);
    if (length < 0)
        return errno == EINVAL || errno == ENOENT ? -1 : errno;
    text[length] = '\0';
    if (text[0] == '/') {
        memcpy(path, text, (size_t)length + 1);
        return 0;
    }
    int reason = target_folder(path, folder);
    return reason ? reason : join_paths(path, folder, text);
}

int target_resolve(const char *path, char target[PATH_MAX])
{
    char followed[PATH_MAX], folder[PATH_MAX], real[PATH_MAX];
    if (realpath(path, target))
        return 0;
    if (errno != ENOENT)
        return errno;
    if (strlen(path) >= sizeof followed)
        return ENAMETOOLONG;
    memcpy(followed, path, strlen(path) + 1);
    int reason = 0;
    for (int links = 0; reason == 0; links++)
        reason = links < LINKS_MOST ? follow_link(followed) : ELOOP;
    if (reason < 0)
        reason = target_folder(followed, folder);
    if (reason == 0 && !realpath(folder, real))
        reason = errno;
    return reason ? reason : join_paths(target, real, target_name(followed));
}
