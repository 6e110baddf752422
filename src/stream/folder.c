#include "stream/folder.h"

#include "base/memory.h"
#include "stream/format.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* ---- natural order ----------------------------------------------------- */

static const char *const digits = "0123456789";

/* Compares the digits at *a and *b by value and moves past them. */
static int compare_numbers(const char **a, const char **b)
{
    *a += strspn(*a, "0");
    *b += strspn(*b, "0");
    size_t length_a = strspn(*a, digits), length_b = strspn(*b, digits);
    int difference = length_a == length_b ? memcmp(*a, *b, length_a)
                                          : (length_a > length_b) - (length_a < length_b);
    *a += length_a;
    *b += length_b;
    return difference;
}

int folder_natural_order(const char *a, const char *b)
{
    const char *whole_a = a, *whole_b = b;
    while (*a && *b) {
        int difference;
        if (strspn(a, digits) > 0 && strspn(b, digits) > 0)
            difference = compare_numbers(&a, &b);
        else
            difference = (unsigned char)*a++ - (unsigned char)*b++;
        if (difference)
            return difference;
    }
    if (*a || *b)
        return *a ? 1 : -1;
    return strcmp(whole_a, whole_b); /* file01 and file1 */
}

/* ---- listing ----------------------------------------------------------- */

static int by_natural_order(const void *left, const void *right)
{
    return folder_natural_order(*(const char *const *)left, *(const char *const *)right);
}

static roofs_status list_data_files(const char *path, DIR *folder, names *found, roofs_error *err)
{
    const struct dirent *entry;
    while ((entry = readdir(folder)) != NULL)
        if (entry->d_name[0] != '.' && format_matches_name(entry->d_name))
            TRY(names_add(found, entry->d_name, (int64_t)strlen(entry->d_name), err));
    if (found->count == 0)
        return fail(err, ROOFS_BAD_DATA, "%s is a folder without data files of a known format",
                    path);
    return ROOFS_OK;
}

static roofs_status add_joined(const char *folder, const char *name, names *files, roofs_error *err)
{
    size_t whole = strlen(folder) + 1 + strlen(name);
    char *joined;
    TRY(memory_get(&joined, (int64_t)whole + 1, 1, "a path", err));
    snprintf(joined, whole + 1, "%s/%s", folder, name);
    roofs_status status = names_add(files, joined, (int64_t)whole, err);
    memory_free(joined);
    return status;
}

static roofs_status add_sorted(const char *path, const names *found, names *files, roofs_error *err)
{
    const char **sorted;
    TRY(memory_get(&sorted, found->count, sizeof *sorted, "a list of files", err));
    for (int64_t k = 0; k < found->count; k++)
        sorted[k] = names_get(found, k);
    qsort(sorted, (size_t)found->count, sizeof *sorted, by_natural_order);
    roofs_status status = ROOFS_OK;
    for (int64_t k = 0; k < found->count && !status; k++)
        status = add_joined(path, sorted[k], files, err);
    memory_free(sorted);
    return status;
}

static roofs_status expand_folder(const char *path, names *files, roofs_error *err)
{
    names found = {0};
    DIR *folder = opendir(path);
    if (!folder)
        return fail(err, ROOFS_BAD_DATA, "the folder %s cannot be opened: %s", path,
                    strerror(errno));
    roofs_status status = list_data_files(path, folder, &found, err);
    if (!status)
        status = add_sorted(path, &found, files, err);
    closedir(folder);
    names_free(&found);
    return status;
}

roofs_status folder_expand(const char *path, names *files, roofs_error *err)
{
    struct stat info;
    if (strcmp(path, "-") != 0 && stat(path, &info) == 0 && S_ISDIR(info.st_mode))
        return expand_folder(path, files, err);
    return names_add(files, path, (int64_t)strlen(path), err);
}
