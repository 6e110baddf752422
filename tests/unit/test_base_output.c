/* Files that appear whole or not at all. */
#include "test_base_help.h"

#include "base/output.h"

#include <dirent.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>

static int entries(const char *folder)
{
    DIR *dir = opendir(folder);
    int count = -2; /* . and .. */
    assert_non_null(dir);
    while (readdir(dir))
        count++;
    closedir(dir);
    return count;
}

static void assert_holds(const char *path, const char *wanted)
{
    char text[100] = "";
    FILE *file = fopen(path, "rb");
    assert_non_null(file);
    text[fread(text, 1, sizeof text - 1, file)] = 0;
    fclose(file);
    assert_string_equal(text, wanted);
}

static void test_file_appears_on_commit_only(void **state)
{
    roofs_error err;
    output o;
    (void)state;
    assert_fine(output_open(&o, "a.json", &err));
    fputs("first", o.file);
    fflush(o.file);
    assert_int_not_equal(access("a.json", F_OK), 0);
    assert_int_equal(entries("."), o.temporary ? 1 : 0); /* the unfinished file is in the folder */
    assert_fine(output_commit(&o, &err));
    assert_holds("a.json", "first");
    output_abandon(&o); /* nothing after a commit */

    assert_fine(output_open(&o, "a.json", &err));
    fputs("second, longer", o.file);
    fflush(o.file);
    assert_holds("a.json", "first");
    assert_fine(output_commit(&o, &err));
    assert_holds("a.json", "second, longer");
    assert_int_equal(entries("."), 1);
}

static void test_abandoned_output_leaves_nothing(void **state)
{
    roofs_error err;
    output o, zeroed = {0};
    (void)state;
    put_text("old", "old");
    for (int k = 0; k < 2; k++) {
        assert_fine(output_open(&o, k ? "old" : "new", &err));
        fputs("never seen", o.file);
        output_abandon(&o);
        output_abandon(&o);
    }
    output_abandon(&zeroed);
    assert_int_equal(entries("."), 1);
    assert_holds("old", "old");
}

static void test_unwritable_places_are_refused(void **state)
{
    roofs_error err;
    output o;
    (void)state;
    assert_refused(output_open(&o, "nowhere/a", &err), ROOFS_IO, "nowhere/a", "cannot be written",
                   "No such file");
    assert_refused(output_open(&o, "/proc/roofs-test", &err), ROOFS_IO, "/proc/roofs-test");
    assert_int_equal(mkdir("folder", 0777), 0);
    assert_refused(output_open(&o, "folder", &err), ROOFS_IO, "folder", "directory");
    put_text("file", "");
    assert_refused(output_open(&o, "file/a", &err), ROOFS_IO, "file/a", "Not a directory");
    assert_int_equal(output_open(&o, "nowhere/a", NULL), ROOFS_IO);
    assert_int_equal(chmod("folder", 0500), 0);
    if (access("folder", W_OK) != 0) /* root may write anywhere */
        assert_refused(output_open(&o, "folder/a", &err), ROOFS_IO, "folder/a", "Permission");
    assert_int_equal(chmod("folder", 0700), 0);
    assert_int_equal(entries("folder"), 0);
    output_abandon(&o);
    assert_int_equal(entries("."), 2);
}

/* A directory that is created between open and commit. */
static void test_failed_rename_is_reported(void **state)
{
    roofs_error err;
    output o;
    (void)state;
    assert_fine(output_open(&o, "late", &err));
    assert_int_equal(mkdir("late", 0777), 0);
    assert_refused(output_commit(&o, &err), ROOFS_IO, "late", "directory");
    assert_int_equal(entries("."), 1);
}

/* A limit on the size of files instead of a full disk. */
static void test_full_disk_is_reported(void **state)
{
    struct rlimit before, tight;
    roofs_error err;
    output o;
    (void)state;
    put_text("a", "old");
    signal(SIGXFSZ, SIG_IGN);
    assert_int_equal(getrlimit(RLIMIT_FSIZE, &before), 0);
    for (int size = 1500; size <= 200000; size *= 12) { /* found at the flush, and on the way */
        tight = (struct rlimit){1000, before.rlim_max};
        assert_fine(output_open(&o, "a", &err));
        assert_int_equal(setrlimit(RLIMIT_FSIZE, &tight), 0);
        for (int k = 0; k < size; k++)
            fputc('x', o.file);
        roofs_status got = output_commit(&o, &err);
        assert_int_equal(setrlimit(RLIMIT_FSIZE, &before), 0);
        assert_refused(got, ROOFS_IO, "a: cannot be written", "too large");
        assert_holds("a", "old");
        assert_int_equal(entries("."), 1);
    }
    signal(SIGXFSZ, SIG_DFL);
}

static void test_permissions_follow_umask(void **state)
{
    static const mode_t masks[] = {0, 022, 027, 077};
    mode_t before = umask(0);
    (void)state;
    for (int k = 0; k < 4; k++) {
        struct stat info;
        roofs_error err;
        output o;
        umask(masks[k]);
        assert_fine(output_open(&o, "a", &err));
        assert_fine(output_commit(&o, &err));
        assert_int_equal(umask(masks[k]), masks[k]); /* left as it was */
        assert_int_equal(stat("a", &info), 0);
        assert_int_equal(info.st_mode & 0777, 0666 & ~masks[k]);
        assert_int_equal(unlink("a"), 0);
    }
    umask(before);
}

static void test_replaced_file_keeps_its_permissions(void **state)
{
    static const mode_t modes[] = {0600, 0640, 0644, 0666, 0400, 0755, 0604};
    (void)state;
    for (int k = 0; k < 14; k++) {
        const output_kind kind = {.named = k >= 7};
        struct stat info;
        roofs_error err;
        output o;
        put_text("a", "old");
        assert_int_equal(chmod("a", modes[k % 7]), 0);
        assert_fine(output_open_as(&o, "a", &kind, &err));
        assert_int_equal(fstat(fileno(o.file), &info), 0); /* already before it has the name */
        assert_int_equal(info.st_mode & 07777, modes[k % 7]);
        fputs("new", o.file);
        assert_fine(output_commit(&o, &err));
        assert_int_equal(stat("a", &info), 0);
        assert_int_equal(info.st_mode & 07777, modes[k % 7]);
        assert_holds("a", "new");
        assert_int_equal(unlink("a"), 0);
    }
}

/* A new file that belongs to an existing one, such as a shard of a checkpoint. */
static void test_new_file_can_have_permissions_of_another(void **state)
{
    const output_kind kind = {.like = "a"};
    struct stat info;
    roofs_error err;
    output o;
    (void)state;
    put_text("a", "secret");
    assert_int_equal(chmod("a", 0600), 0);
    assert_fine(output_open_as(&o, "a.1-0", &kind, &err));
    assert_fine(output_commit(&o, &err));
    assert_int_equal(stat("a.1-0", &info), 0);
    assert_int_equal(info.st_mode & 0777, 0600);
}

static void test_links_are_followed_and_stay(void **state)
{
    struct stat info;
    roofs_error err;
    output o;
    (void)state;
    assert_int_equal(mkdir("deep", 0777), 0);
    assert_int_equal(symlink("deep/b", "one"), 0);
    assert_int_equal(symlink("one", "two"), 0);
    for (int k = 0; k < 2; k++) { /* dangling, then with a target */
        assert_fine(output_open(&o, "two", &err));
        fputs(k ? "again" : "first", o.file);
        assert_fine(output_commit(&o, &err));
        assert_int_equal(lstat("two", &info), 0);
        assert_true(S_ISLNK(info.st_mode));
        assert_int_equal(lstat("deep/b", &info), 0);
        assert_true(S_ISREG(info.st_mode));
        assert_holds("deep/b", k ? "again" : "first");
    }
    assert_int_equal(symlink("nowhere/c", "lost"), 0);
    assert_refused(output_open(&o, "lost", &err), ROOFS_IO, "lost", "No such file");
    assert_int_equal(symlink("round", "round"), 0);
    assert_refused(output_open(&o, "round", &err), ROOFS_IO, "round", "symbolic links");
    assert_int_equal(entries("."), 5);
    assert_int_equal(entries("deep"), 1);
}

/* ---- leftovers of killed processes ---------------------------------------- */

/* A child opens an output by name and dies without closing it. */
static void leave_unfinished(const char *path)
{
    int status;
    pid_t child = fork();
    if (child == 0) {
        output o;
        int fine = output_open_as(&o, path, &(output_kind){.named = 1}, NULL) == ROOFS_OK;
        _exit(fine && fputs("half", o.file) >= 0 && fflush(o.file) == 0 ? 0 : 1);
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
}

static void test_leftovers_are_removed_and_nothing_else(void **state)
{
    /* what users may have: names that resemble those of roofs, old and new */
    static const char *const own[] = {"a.1234-0.tmp",
                                      "a.tmp",
                                      "a.lock",
                                      ".roofs-1234-0.tmp",
                                      ".roofs-1234-0-0123456789abcdef.tmp",
                                      ".roofs-x.tmp"};
    roofs_error err;
    output running;
    (void)state;
    for (int k = 0; k < 6; k++)
        put_text(own[k], "mine");
    leave_unfinished("a");
    leave_unfinished("other");
    assert_int_equal(entries("."), 8);
    assert_fine(output_open_as(&running, "a", &(output_kind){.named = 1}, &err));
    assert_int_equal(entries("."), 9);
    assert_fine(output_check("a", &err)); /* removes the first, not that of a running process */
    assert_int_equal(entries("."), 8);
    fputs("whole", running.file);
    assert_fine(output_commit(&running, &err));
    assert_holds("a", "whole");
    assert_fine(output_check("other", &err));
    assert_int_equal(entries("."), 7);
    for (int k = 0; k < 6; k++)
        assert_holds(own[k], "mine");
}

/* ---- pipes, devices, descriptors ------------------------------------------ */

/* The check must not open the pipe: a reader would see its end. */
static void test_check_leaves_pipes_alone(void **state)
{
    roofs_error err;
    (void)state;
    assert_int_equal(mkfifo("pipe", 0666), 0);
    assert_fine(output_check("pipe", &err)); /* returns at once, without a reader */
    struct pollfd reader = {.fd = open("pipe", O_RDONLY | O_NONBLOCK), .events = POLLIN};
    assert_true(reader.fd >= 0);
    assert_fine(output_check("pipe", &err));
    assert_int_equal(poll(&reader, 1, 0), 0); /* a writer that came and went would be POLLHUP */
    close(open("pipe", O_WRONLY));
    assert_int_equal(poll(&reader, 1, 0), 1);
    close(reader.fd);
    assert_fine(output_check("/dev/null", &err));
}

static void test_output_leaves_standard_descriptors(void **state)
{
    (void)state;
    int status;
    pid_t child = fork();
    if (child == 0) {
        output o, named;
        close(0);
        close(1);
        int fine = output_open(&o, "a", NULL) == ROOFS_OK &&
                   output_open_as(&named, "b", &(output_kind){.named = 1}, NULL) == ROOFS_OK;
        _exit(fine && fileno(o.file) > 2 && fileno(named.file) > 2 &&
                      output_open(&o, "-", NULL) == ROOFS_IO
                  ? 0
                  : 1);
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
}

/* A pipe, or /dev/null: renaming a file onto it would destroy it. */
static void test_pipes_and_devices_are_not_replaced(void **state)
{
    struct stat info;
    roofs_error err;
    output o;
    char got[10] = "";
    (void)state;
    assert_int_equal(mkfifo("pipe", 0666), 0);
    int other_end = open("pipe", O_RDWR);
    assert_true(other_end >= 0);
    assert_fine(output_open(&o, "pipe", &err));
    fputs("hello", o.file);
    assert_fine(output_commit(&o, &err));
    assert_int_equal(stat("pipe", &info), 0);
    assert_true(S_ISFIFO(info.st_mode));
    assert_int_equal(read(other_end, got, sizeof got), 5);
    assert_string_equal(got, "hello");
    assert_int_equal(entries("."), 1);

    assert_fine(output_open(&o, "/dev/full", &err));
    fputs("hello", o.file);
    assert_refused(output_commit(&o, &err), ROOFS_IO, "No space");
    assert_fine(output_open(&o, "pipe", &err));
    output_abandon(&o);
    close(other_end);
    assert_int_equal(entries("."), 1);
}

static void test_dash_is_standard_output(void **state)
{
    roofs_error err;
    output o;
    (void)state;
    assert_fine(output_open(&o, "-", &err));
    assert_ptr_equal(o.file, stdout);
    assert_fine(output_commit(&o, &err));
    assert_fine(output_open(&o, "-", &err));
    output_abandon(&o);
    assert_true(fputs("", stdout) >= 0); /* still open */
    assert_int_equal(entries("."), 0);
}

#define IN_FOLDER(test) cmocka_unit_test_setup_teardown(test, enter_folder, leave_folder)

int main(void)
{
    const struct CMUnitTest tests[] = {
        IN_FOLDER(test_file_appears_on_commit_only),
        IN_FOLDER(test_abandoned_output_leaves_nothing),
        IN_FOLDER(test_unwritable_places_are_refused),
        IN_FOLDER(test_failed_rename_is_reported),
        IN_FOLDER(test_full_disk_is_reported),
        IN_FOLDER(test_permissions_follow_umask),
        IN_FOLDER(test_replaced_file_keeps_its_permissions),
        IN_FOLDER(test_new_file_can_have_permissions_of_another),
        IN_FOLDER(test_links_are_followed_and_stay),
        IN_FOLDER(test_leftovers_are_removed_and_nothing_else),
        IN_FOLDER(test_check_leaves_pipes_alone),
        IN_FOLDER(test_output_leaves_standard_descriptors),
        IN_FOLDER(test_pipes_and_devices_are_not_replaced),
        IN_FOLDER(test_dash_is_standard_output),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
