#include "cli/bench_rival.h"

#include "base/threads.h"
#include "cli/dataset.h"

#include <inttypes.h>
#include <jansson.h>
#include <stdlib.h>
#include <unistd.h>

static roofs_status write_data(const char *path, const simulation *what, int64_t threads,
                               roofs_error *err)
{
    simulate_args args = {.folder = path,
                          .n = what->n,
                          .p = what->p,
                          .mu = what->mu,
                          .corruption = what->corruption,
                          .noise_var = what->noise_var,
                          .order = what->random_order,
                          .attack = what->attack,
                          .seed = (int64_t)what->seed,
                          .threads = threads,
                          .quiet = 1};
    comm single = comm_self(args.n);
    folder made = {0};
    return dataset_make(&args, &single, &made, err);
}

static void remove_data(const char *path)
{
    char file[PATH_MOST + 16];
    for (int k = 0; k < DATASET_FILES; k++) {
        snprintf(file, sizeof file, "%s/%s", path, dataset_names[k]);
        unlink(file);
    }
    rmdir(path);
}

static roofs_status run_rival(const char *command, const char *path, const simulation *what,
                              int64_t threads, double *seconds, roofs_error *err)
{
    char line[2 * PATH_MOST];
    snprintf(line, sizeof line, "%s '%s' --mu %" PRId64 " --batch 100 --threads %" PRId64, command,
             path, what->mu, threads_count(threads));
    FILE *pipe = popen(line, "r"); /* safe: the user gave the command */
    if (!pipe)
        return fail(err, ROOFS_FAILED, "cannot run the command of --rival: %s", line);
    json_t *answer = json_loadf(pipe, 0, NULL);
    int code = pclose(pipe);
    json_t *value = json_object_get(answer, "fit_seconds");
    roofs_status status = ROOFS_OK;
    if (code != 0 || !json_is_number(value))
        status = fail(
            err, ROOFS_FAILED,
            "the command of --rival must print a JSON object with fit_seconds and exit with 0: %s",
            line);
    else
        *seconds = json_number_value(value);
    json_decref(answer);
    return status;
}

roofs_status measure_rival(const char *command, const simulation *what, int64_t threads,
                           double *seconds, roofs_error *err)
{
    const char *where = getenv("TMPDIR");
    char path[PATH_MOST];
    snprintf(path, sizeof path, "%s/roofs-bench-XXXXXX", where && *where ? where : "/tmp");
    if (!mkdtemp(path))
        return fail(err, ROOFS_IO,
                    "%s: cannot make a temporary folder; set TMPDIR to a folder you can write to",
                    path);
    roofs_status status = write_data(path, what, threads, err);
    if (status == ROOFS_OK)
        status = run_rival(command, path, what, threads, seconds, err);
    remove_data(path);
    return status;
}
