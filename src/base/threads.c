/* OpenMP counts the cores on which the process may run. It does not read the CPU quota of a control
 * group, with which containers limit processor time. A group also obeys the quotas of all groups
 * above it. Where a system has no control groups, no file is found and there is no quota. */
#include "base/threads.h"

#include <math.h>
#include <omp.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { LINE = 4096 };

/* A tree of control groups and the group of this process in it. */
typedef struct group_tree {
    int version;         /* 1 or 2 */
    char root[LINE];     /* the group that is mounted; "/" = the whole tree */
    char folder[LINE];   /* where it is mounted, behind the root of the file system */
    const char *process; /* the group of the process */
} group_tree;

/* True if a comma-separated list has the word. */
static int has_word(const char *list, const char *word)
{
    const size_t length = strlen(word);
    for (const char *at = list; at; at = strchr(at, ',')) {
        at += *at == ',';
        if (strncmp(at, word, length) == 0 && strchr(",\n", at[length])) /* finds the end, too */
            return 1;
    }
    return 0;
}

/* ---- one group --------------------------------------------------------- */

/* Reads the first words of a small file as two texts; returns how many there are. */
static int read_words(const char *folder, const char *name, char first[32], char second[32])
{
    char path[2 * LINE + 32];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    FILE *file = fopen(path, "re");
    if (!file)
        return 0;
    int got = fscanf(file, "%31s %31s", first, second);
    fclose(file);
    return got > 0 ? got : 0;
}

static double quota_of(const char *quota, const char *period)
{
    double microseconds = 0, every = 0;
    if (sscanf(quota, "%lf", &microseconds) == 1 && sscanf(period, "%lf", &every) == 1 &&
        microseconds > 0 && every > 0)
        return microseconds / every;
    return INFINITY; /* "max" or -1 */
}

static double group_quota(const char *folder, int version)
{
    char quota[32] = "", period[32] = "", rest[32];
    if (version == 2)
        return read_words(folder, "cpu.max", quota, period) == 2 ? quota_of(quota, period)
                                                                 : INFINITY;
    if (read_words(folder, "cpu.cfs_quota_us", quota, rest) < 1 ||
        read_words(folder, "cpu.cfs_period_us", period, rest) < 1)
        return INFINITY;
    return quota_of(quota, period);
}

/* ---- the groups above it ----------------------------------------------- */

/* The path of the process's group below the group that is mounted. A container may see the mount of
 * its own group only, or a path that begins outside it; both are the mounted group itself. */
static const char *path_below(const group_tree *t)
{
    const size_t length = strcmp(t->root, "/") == 0 ? 0 : strlen(t->root);
    if (strstr(t->process, "/..") || strncmp(t->process, t->root, length) != 0 ||
        (length > 0 && t->process[length] != '/' && t->process[length] != '\0'))
        return "";
    return t->process + length;
}

static double tree_quota(const char *root, const group_tree *t)
{
    char folder[3 * LINE];
    const int top = snprintf(folder, sizeof folder, "%s%s", root, t->folder);
    if (top < 0 || (size_t)top >= sizeof folder)
        return INFINITY;
    snprintf(folder + top, sizeof folder - (size_t)top, "%s", path_below(t));
    double least = group_quota(folder, t->version);
    for (char *cut; (cut = strrchr(folder + top, '/')) != NULL;) {
        *cut = '\0';
        least = fmin(least, group_quota(folder, t->version));
    }
    return least;
}

/* Reads a line of mountinfo. Returns 1 if it is a tree of control groups with CPU quotas. */
static int read_mount(const char *line, group_tree *t)
{
    char type[64] = "", options[LINE] = "";
    const char *rest = strstr(line, " - ");
    if (!rest || sscanf(line, "%*s %*s %*s %4095s %4095s", t->root, t->folder) != 2 ||
        sscanf(rest, " - %63s %*s %4095s", type, options) != 2)
        return 0;
    t->version = strcmp(type, "cgroup2") == 0 ? 2 : 1;
    return t->version == 2 || (strcmp(type, "cgroup") == 0 && has_word(options, "cpu"));
}

/* Reads a line "number:controllers:group"; version 2 has the number 0 and no controllers. */
static int read_group(char *line, int *version, const char **group)
{
    char *controllers = strchr(line, ':');
    char *end = controllers ? strchr(controllers + 1, ':') : NULL;
    if (!end)
        return 0;
    *end = '\0';
    *version = controllers[1] == '\0' ? 2 : 1;
    *group = end + 1;
    end[1 + strcspn(end + 1, "\n")] = '\0';
    return *version == 2 || has_word(controllers + 1, "cpu");
}

/* The least quota of one version's tree, which holds the process in `group`. */
static double mounted_quota(const char *root, int version, const char *group)
{
    char path[LINE + 32], line[3 * LINE];
    double least = INFINITY;
    snprintf(path, sizeof path, "%s/proc/self/mountinfo", root);
    FILE *mounts = fopen(path, "re");
    while (mounts && fgets(line, sizeof line, mounts)) {
        group_tree t = {.process = group};
        if (read_mount(line, &t) && t.version == version)
            least = fmin(least, tree_quota(root, &t));
    }
    if (mounts)
        fclose(mounts);
    return least;
}

double threads_quota(const char *root)
{
    char path[LINE + 32], line[LINE];
    double least = INFINITY;
    snprintf(path, sizeof path, "%s/proc/self/cgroup", root);
    FILE *groups = fopen(path, "re");
    while (groups && fgets(line, sizeof line, groups)) {
        const char *group;
        int version;
        if (read_group(line, &version, &group))
            least = fmin(least, mounted_quota(root, version, group));
    }
    if (groups)
        fclose(groups);
    return least;
}

/* ---- the number of threads --------------------------------------------- */

static void lower(threads_choice *c, int64_t count, threads_reason reason)
{
    if (count >= c->count)
        return;
    c->count = count > 0 ? count : 1;
    c->reason = reason;
}

threads_choice threads_choose(int64_t given)
{
    const long online = sysconf(_SC_NPROCESSORS_ONLN);
    const int64_t usable = omp_get_num_procs();
    threads_choice c = {.reason = THREADS_CORES, .quota = INFINITY};
    c.cores = online > usable ? online : usable;
    c.count = c.cores;
    if (given > 0) {
        c.count = given;
        c.reason = THREADS_GIVEN;
        return c;
    }
    lower(&c, usable, THREADS_AFFINITY);
    lower(&c, omp_get_max_threads(), THREADS_OPENMP);
    if (c.count > 1)
        c.quota = threads_quota("");
    if (c.quota < (double)c.count)
        lower(&c, llround(c.quota), THREADS_QUOTA);
    return c;
}

int64_t threads_count(int64_t given)
{
    return given > 0 ? given : threads_choose(0).count;
}

/* ---- jobs side by side ------------------------------------------------- */

typedef struct each_job {
    void (*job)(void *user, int64_t k, int64_t worker);
    void *user;
    int64_t count;
    atomic_llong next; /* the first k that no thread has taken */
} each_job;

typedef struct each_worker {
    each_job *all;
    int64_t me;
    pthread_t thread;
} each_worker;

static void *each_thread(void *user)
{
    const each_worker *own = user;
    each_job *all = own->all;
    for (int64_t k; (k = atomic_fetch_add(&all->next, 1)) < all->count;)
        all->job(all->user, k, own->me);
    return NULL;
}

/* The threads end with the job. Those of OpenMP would go on spinning for some milliseconds, on the
 * cores that the threads of a fit need then. */
void threads_each(void (*job)(void *user, int64_t k, int64_t worker), void *user, int64_t count,
                  int64_t workers)
{
    enum { MOST = 256 };
    each_worker own[MOST];
    each_job all = {.job = job, .user = user, .count = count};
    const int64_t wanted = workers < count ? workers : count;
    int64_t others = 0;
    for (int64_t k = 0; k < MOST; k++)
        own[k] = (each_worker){.all = &all, .me = k};
    while (others + 1 < wanted && others + 1 < MOST &&
           pthread_create(&own[others + 1].thread, NULL, each_thread, &own[others + 1]) == 0)
        others++;
    each_thread(&own[0]);
    for (int64_t k = 1; k <= others; k++)
        pthread_join(own[k].thread, NULL);
}
