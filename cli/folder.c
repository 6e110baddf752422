#include "cli/folder.h"

#include "base/memory.h"
#include "base/output.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* Cuts the last name off a path; returns 0 if the path has only one. */
static int cut_last_name(char *path)
{
    char *slash = strrchr(path, '/');
    if (!slash || slash == path)
        return 0;
    *slash = '\0';
    return 1;
}

static roofs_status make_folder(folder *f, const char *path, roofs_error *err)
{
    struct stat info;
    if (stat(path, &info) == 0 && S_ISDIR(info.st_mode))
        return ROOFS_OK;
    if (mkdir(path, 0777) == 0) {
        f->made++;
        return ROOFS_OK;
    }
    int reason = errno == EEXIST ? ENOTDIR : errno;
    return fail(err, ROOFS_IO, "%s: cannot make the folder: %s", path, strerror(reason));
}

/* A failure leaves the path cut off after the folder that cannot be made. */
static roofs_status make_folders(folder *f, roofs_error *err)
{
    for (char *slash = f->path + 1; (slash = strchr(slash, '/')); slash++) {
        *slash = '\0';
        TRY(make_folder(f, f->path, err));
        *slash = '/';
    }
    return make_folder(f, f->path, err);
}

roofs_status folder_make(folder *f, const char *path, roofs_error *err)
{
    *f = (folder){0};
    size_t length = strlen(path);
    if (length == 0 || length >= sizeof f->path)
        return fail(err, ROOFS_IO, "the name of the folder is %s", length ? "too long" : "empty");
    memcpy(f->path, path, length + 1);
    while (length > 1 && f->path[length - 1] == '/')
        f->path[--length] = '\0';
    roofs_status status = make_folders(f, err);
    if (status != ROOFS_OK && cut_last_name(f->path))
        folder_unmake(f);
    return status;
}

void folder_unmake(folder *f)
{
    for (; f->made > 0 && rmdir(f->path) == 0; f->made--)
        if (!cut_last_name(f->path))
            return;
}

roofs_status folder_join(char **out, const char *path, const char *name, roofs_error *err)
{
    size_t length = strlen(path) + strlen(name) + 2;
    TRY(memory_get(out, (int64_t)length, 1, "a file name", err));
    snprintf(*out, length, "%s/%s", path, name);
    return ROOFS_OK;
}

int path_ends_in(const char *path, const char *ending)
{
    size_t length = strlen(path), last = strlen(ending);
    return length > last && strcmp(path + length - last, ending) == 0;
}

int path_is_standard(const char *path)
{
    return path && strcmp(path, "-") == 0;
}

int same_file(const char *a, const char *b)
{
    struct stat one, two;
    return stat(a, &one) == 0 && stat(b, &two) == 0 && S_ISREG(one.st_mode) &&
           one.st_dev == two.st_dev && one.st_ino == two.st_ino;
}

roofs_status error_in_file(const char *path, roofs_status status, roofs_error *err)
{
    const roofs_error reason = *err;
    return status == ROOFS_OK ? ROOFS_OK : fail(err, status, "%s: %s", path, reason.text);
}

roofs_status check_writable(const char *path, roofs_error *err)
{
    return output_check(path, err);
}
