/* Files that appear whole or not at all. */
#include "test_base_help.h"

#include "base/output.h"

#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>

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
    assert_int_equal(entries("."), 1); /* the temporary file is beside the target */
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
    }
    umask(before);
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
        IN_FOLDER(test_pipes_and_devices_are_not_replaced),
        IN_FOLDER(test_dash_is_standard_output),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
