/* The CPU quota of control groups, in trees of files as the systems have them, and the number of
 * threads that follows. */
#include "base/threads.h"
#include "test_base_help.h"

#include <omp.h>
#include <sys/stat.h>

/* Writes a file below the current folder, with the folders of its path. */
static void put_below(const char *path, const char *text)
{
    char folder[400];
    snprintf(folder, sizeof folder, "%s", path);
    for (char *at = strchr(folder, '/'); at; at = strchr(at + 1, '/')) {
        *at = '\0';
        mkdir(folder, 0700);
        *at = '/';
    }
    put_text(path, text);
}

static void put_process(const char *groups, const char *mounts)
{
    put_below("proc/self/cgroup", groups);
    put_below("proc/self/mountinfo", mounts);
}

static const char unified[] =
    "31 23 0:28 / /sys/fs/cgroup rw,relatime shared:4 - cgroup2 cgroup2 rw\n";

static void test_no_files_are_no_quota(void **state)
{
    (void)state;
    assert_true(isinf(threads_quota(".")));
    put_process("0::/a\n", "22 1 0:1 / /proc rw - proc proc rw\n");
    assert_true(isinf(threads_quota(".")));
}

static void test_quota_of_the_own_group_counts(void **state)
{
    (void)state;
    put_process("0::/user/job\n", unified);
    put_below("sys/fs/cgroup/user/job/cpu.max", "max 100000\n");
    assert_true(isinf(threads_quota(".")));
    put_below("sys/fs/cgroup/user/job/cpu.max", "250000 100000\n");
    assert_close(threads_quota("."), 2.5, 1e-12);
}

static void test_groups_above_limit_too(void **state)
{
    (void)state;
    put_process("0::/user/job/step\n", unified);
    put_below("sys/fs/cgroup/user/job/step/cpu.max", "400000 100000\n");
    put_below("sys/fs/cgroup/user/job/cpu.max", "max 100000\n");
    put_below("sys/fs/cgroup/user/cpu.max", "300000 200000\n");
    assert_close(threads_quota("."), 1.5, 1e-12);
    put_below("sys/fs/cgroup/cpu.max", "50000 100000\n");
    assert_close(threads_quota("."), 0.5, 1e-12);
}

/* The process sees "/" as its group, and the mount is the container's own group. */
static void test_container_sees_its_own_group(void **state)
{
    (void)state;
    put_process("0::/\n", unified);
    put_below("sys/fs/cgroup/cpu.max", "100000 100000\n");
    assert_close(threads_quota("."), 1, 1e-12);
    put_process("0::/../other\n", unified);
    assert_close(threads_quota("."), 1, 1e-12);
}

static void test_first_version_has_two_files(void **state)
{
    (void)state;
    put_process("5:memory:/docker/0a\n4:cpu,cpuacct:/docker/0a\n0::/\n",
                "33 31 0:30 / /sys/fs/cgroup/cpuset rw - cgroup cgroup rw,cpuset\n"
                "32 31 0:29 / /sys/fs/cgroup/cpu,cpuacct rw - cgroup cgroup rw,cpu,cpuacct\n");
    put_below("sys/fs/cgroup/cpu,cpuacct/docker/0a/cpu.cfs_period_us", "100000\n");
    put_below("sys/fs/cgroup/cpu,cpuacct/docker/0a/cpu.cfs_quota_us", "-1\n");
    assert_true(isinf(threads_quota(".")));
    put_below("sys/fs/cgroup/cpu,cpuacct/docker/0a/cpu.cfs_quota_us", "175000\n");
    assert_close(threads_quota("."), 1.75, 1e-12);
    put_below("sys/fs/cgroup/cpu,cpuacct/docker/cpu.cfs_period_us", "50000\n");
    put_below("sys/fs/cgroup/cpu,cpuacct/docker/cpu.cfs_quota_us", "50000\n");
    assert_close(threads_quota("."), 1, 1e-12);
}

/* Containers of the first version see the group of the machine, but mount only their own. */
static void test_mounted_group_is_not_repeated(void **state)
{
    (void)state;
    put_process("4:cpu:/docker/0a/inner\n",
                "32 31 0:29 /docker/0a /sys/fs/cgroup/cpu ro - cgroup cgroup rw,cpu\n");
    put_below("sys/fs/cgroup/cpu/inner/cpu.cfs_period_us", "100000\n");
    put_below("sys/fs/cgroup/cpu/inner/cpu.cfs_quota_us", "300000\n");
    assert_close(threads_quota("."), 3, 1e-12);
    put_process("4:cpu:/docker/0abc\n",
                "32 31 0:29 /docker/0a /sys/fs/cgroup/cpu ro - cgroup cgroup rw,cpu\n");
    put_below("sys/fs/cgroup/cpu/cpu.cfs_period_us", "100000\n");
    put_below("sys/fs/cgroup/cpu/cpu.cfs_quota_us", "400000\n");
    assert_close(threads_quota("."), 4, 1e-12);
}

static void test_damaged_files_are_no_quota(void **state)
{
    (void)state;
    put_process("0\n::\n0::/job\nnonsense", unified);
    static const char *const texts[] = {"", "100000\n", "x y\n", "100000 0\n", "-5 100000\n"};
    for (size_t k = 0; k < sizeof texts / sizeof *texts; k++) {
        put_below("sys/fs/cgroup/job/cpu.max", texts[k]);
        assert_true(isinf(threads_quota(".")));
    }
}

static void test_given_number_wins_over_all_limits(void **state)
{
    (void)state;
    const threads_choice c = threads_choose(999);
    assert_int_equal(c.count, 999);
    assert_int_equal(c.reason, THREADS_GIVEN);
    assert_int_equal(threads_count(3), 3);
}

static void test_default_obeys_the_limit_of_openmp(void **state)
{
    (void)state;
    const threads_choice before = threads_choose(0);
    assert_in_range(before.count, 1, before.cores);
    omp_set_num_threads(1);
    assert_int_equal(threads_count(0), 1);
    if (before.count > 1)
        assert_int_equal(threads_choose(0).reason, THREADS_OPENMP);
}

enum { JOBS = 50, WORKERS = 3 };

typedef struct job_log {
    int64_t done[JOBS], worker[JOBS];
} job_log;

static void log_job(void *user, int64_t k, int64_t worker)
{
    job_log *log = user;
    log->done[k]++;
    log->worker[k] = worker;
}

static void test_every_job_runs_once_on_a_known_worker(void **state)
{
    job_log log = {0};
    (void)state;
    threads_each(log_job, &log, JOBS, WORKERS);
    for (int k = 0; k < JOBS; k++) {
        assert_int_equal(log.done[k], 1);
        assert_in_range(log.worker[k], 0, WORKERS - 1);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_job_runs_once_on_a_known_worker),
        cmocka_unit_test_setup_teardown(test_no_files_are_no_quota, enter_folder, leave_folder),
        cmocka_unit_test_setup_teardown(test_quota_of_the_own_group_counts, enter_folder,
                                        leave_folder),
        cmocka_unit_test_setup_teardown(test_groups_above_limit_too, enter_folder, leave_folder),
        cmocka_unit_test_setup_teardown(test_container_sees_its_own_group, enter_folder,
                                        leave_folder),
        cmocka_unit_test_setup_teardown(test_first_version_has_two_files, enter_folder,
                                        leave_folder),
        cmocka_unit_test_setup_teardown(test_mounted_group_is_not_repeated, enter_folder,
                                        leave_folder),
        cmocka_unit_test_setup_teardown(test_damaged_files_are_no_quota, enter_folder,
                                        leave_folder),
        cmocka_unit_test(test_given_number_wins_over_all_limits),
        cmocka_unit_test(test_default_obeys_the_limit_of_openmp),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
