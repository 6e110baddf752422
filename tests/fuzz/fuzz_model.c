/* The model's file. What is accepted must be whole: written and read again it is the same
 * file, and it predicts. */
#include "base/memory.h"
#include "tests/fuzz/fuzz.h"

enum { LARGEST = 1 << 20, SAMPLES = 3 };

static const char *folder(void)
{
    static char path[] = "/dev/shm/roofs-fuzz-XXXXXX";
    static int made;
    MUST(made || mkdtemp(path), "no folder in memory");
    made = 1;
    return path;
}

static size_t written(const roofs_model *m, const char *name, char *to)
{
    char path[100];
    roofs_error err = {0};
    snprintf(path, sizeof path, "%s/%s", folder(), name);
    MUST(roofs_model_write(m, path, &err) == ROOFS_OK, "%s", err.text);
    FILE *file = fopen(path, "rb");
    MUST(file, "%s is gone", path);
    size_t size = fread(to, 1, LARGEST, file);
    fclose(file);
    unlink(path);
    rmdir(folder()); /* nothing else may have been left there */
    MUST(mkdir(folder(), 0700) == 0, "something was left in %s", folder());
    return size;
}

static void check_prediction(const roofs_model *m)
{
    roofs_error err = {0};
    roofs_result view;
    double prediction[SAMPLES], *zeros;
    roofs_model_view(m, &view);
    if (view.selected > 1000)
        return;
    MUST(memory_get(&zeros, view.selected + 1, SAMPLES * sizeof *zeros, "x", &err) == ROOFS_OK,
         "%s", err.text);
    const roofs_block block = {.count = view.selected,
                               .n = SAMPLES,
                               .values = zeros,
                               .feature_stride = SAMPLES,
                               .sample_stride = 1};
    MUST(roofs_predict_selected(m, &block, prediction, &err) == ROOFS_OK, "%s", err.text);
    for (int i = 0; i < SAMPLES; i++)
        MUST(prediction[i] == view.intercept, "zeros predict %g, not %g", prediction[i],
             view.intercept);
    memory_free(zeros);
}

static void check_again(const roofs_model *m)
{
    static char one[LARGEST], two[LARGEST];
    roofs_error err = {0};
    roofs_model *again = NULL;
    size_t first = written(m, "one", one);
    MUST(roofs_model_read(&again, file_of(one, first), &err) == ROOFS_OK, "%s", err.text);
    size_t second = written(again, "two", two);
    MUST(first == second && memcmp(one, two, first) == 0, "read and written again it differs");
    roofs_model_destroy(again);
}

int LLVMFuzzerTestOneInput(const unsigned char *data, size_t size)
{
    roofs_error err = {0};
    roofs_model *m = NULL;
    const char *path = file_of(data, size);
    roofs_status status = roofs_model_read(&m, path, &err);
    must_be_explained(status, &err, path);
    if (!status) {
        check_prediction(m);
        check_again(m);
    }
    roofs_model_destroy(m);
    return 0;
}
