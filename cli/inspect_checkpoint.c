#include "cli/inspect_checkpoint.h"

#include "cli/checkpoint.h"
#include "cli/folder.h"
#include "cli/print.h"
#include "cli/top.h"
#include "cli/verbs.h"

#include <limits.h>

/* ---- text -------------------------------------------------------------- */

static void show_fit(const roofs_description *fit, const roofs_result *now)
{
    printf("checkpoint of a fit\n");
    printf("method     %s, at most %s feature%s, batches of %s\n", fit->settings->method,
           text_of_count(fit->settings->mu).text, plural(fit->settings->mu),
           text_of_count(fit->settings->batch).text);
    printf("samples    %s, %s trusted so far (%s)\n", text_of_count(fit->n).text,
           text_of_count(now->trusted).text,
           text_of_share((double)now->trusted, (double)now->n).text);
    printf("features   %s seen, %s selected so far\n", text_of_count(fit->features_seen).text,
           text_of_count(selected_features(now)).text);
    const int is_auto = fit->settings->passes == 0;
    if (fit->pass > 1 || fit->settings->passes > 1)
        printf("pass       %s of %s%s, at feature %s\n", text_of_count(fit->pass).text,
               is_auto ? "at most " : "",
               text_of_count(is_auto ? ROOFS_AUTO_PASSES : fit->settings->passes).text,
               text_of_count(fit->position).text);
    printf("stored as  %s\n",
           roofs_setting_choice(roofs_setting_find("storage"), fit->settings->storage));
}

static void show_files(const checkpoint *c)
{
    if (!c->recorded) {
        printf("files      not recorded: another program saved the fit\n");
        return;
    }
    for (int64_t k = 0; k < c->read.count; k++) {
        const ledger_file *file = &c->read.files[k];
        printf("%-10s ", k == 0 ? "files" : "");
        print_clean(stdout, path_is_standard(file->path) ? "standard input" : file->path, INT_MAX);
        printf(": %s feature%s, %s\n", text_of_count(file->now.features).text,
               plural(file->now.features),
               file->ended              ? "read to the end"
               : file->now.features > 0 ? "partly read"
                                        : "not read yet");
    }
}

static int print_checkpoint(const char *path, const checkpoint *c, const roofs_description *fit,
                            const roofs_result *now)
{
    show_fit(fit, now);
    show_files(c);
    printf("'roofs resume ");
    print_clean(stdout, path, INT_MAX);
    printf("' continues the fit\n");
    return EXIT_FINE;
}

/* ---- JSON -------------------------------------------------------------- */

static json_t *json_files(const checkpoint *c)
{
    json_t *list = json_array();
    for (int64_t k = 0; k < c->read.count; k++) {
        const ledger_file *file = &c->read.files[k];
        json_array_append_new(list,
                              json_pack("{s:s, s:I, s:b}", "path", file->path, "features",
                                        (json_int_t)file->now.features, "ended", file->ended));
    }
    return list;
}

static int print_checkpoint_json(const checkpoint *c, const roofs_description *fit,
                                 const roofs_result *now)
{
    return print_json(json_pack(
        "{s:s, s:s, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:I, s:o}", "kind", "checkpoint",
        "method", fit->settings->method, "n", (json_int_t)fit->n, "mu",
        (json_int_t)fit->settings->mu, "features_seen", (json_int_t)fit->features_seen, "pass",
        (json_int_t)fit->pass, "position", (json_int_t)fit->position, "batches",
        (json_int_t)fit->batches, "selected", (json_int_t)selected_features(now), "kept",
        (json_int_t)now->selected, "trusted", (json_int_t)now->trusted, "files", json_files(c)));
}

int inspect_checkpoint(const char *path, int json)
{
    checkpoint c = {0};
    roofs_estimator *e = NULL;
    roofs_description fit;
    roofs_result now;
    roofs_error err;
    int code;
    roofs_settings execution;
    roofs_settings_as_saved(&execution);
    execution.device = ROOFS_DEVICE_CPU;
    roofs_status status = checkpoint_read(&c, path, &execution, &e, &err);
    if (status == ROOFS_OK)
        status = roofs_view(e, &now, &err);
    if (status != ROOFS_OK) {
        code = exit_with("inspect", &err, exit_after_input(status));
    } else {
        roofs_describe(e, &fit);
        code =
            json ? print_checkpoint_json(&c, &fit, &now) : print_checkpoint(path, &c, &fit, &now);
    }
    roofs_destroy(e);
    checkpoint_close(&c);
    return code;
}
