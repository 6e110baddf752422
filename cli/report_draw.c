/* Runs gnuplot on the script of a plot and copies its SVG to the page. */
#include "cli/report_plot.h"
#include "cli/report_svg.h"

#include <errno.h>
#include <spawn.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

/* Input and output of gnuplot, in unnamed temporary files that need no cleanup. */
typedef struct channel {
    FILE *in, *out, *errors;
} channel;

static int gnuplot_spawn(const channel *c, const char *const *argv, pid_t *child)
{
    posix_spawn_file_actions_t actions;
    int failed = posix_spawn_file_actions_init(&actions);
    if (failed)
        return failed;
    failed = posix_spawn_file_actions_adddup2(&actions, fileno(c->in), STDIN_FILENO);
    if (!failed)
        failed = posix_spawn_file_actions_adddup2(&actions, fileno(c->out), STDOUT_FILENO);
    if (!failed)
        failed = posix_spawn_file_actions_adddup2(&actions, fileno(c->errors), STDERR_FILENO);
    if (!failed)
        failed = posix_spawnp(child, argv[0], &actions, NULL, (char *const *)argv, environ);
    posix_spawn_file_actions_destroy(&actions);
    return failed;
}

/* The first error message: skips empty lines and the caret that marks a position. */
static void first_error(FILE *errors, char *text, int size)
{
    rewind(errors);
    while (fgets(text, size, errors)) {
        text[strcspn(text, "\n")] = '\0';
        if (strspn(text, " ^") < strlen(text))
            return;
    }
    snprintf(text, (size_t)size, "no error message");
}

static roofs_status gnuplot_run(const channel *c, const char *const *argv, roofs_error *err)
{
    enum { NOT_FOUND = 127 };
    pid_t child = 0;
    int state = 0, failed = gnuplot_spawn(c, argv, &child);
    if (!failed)
        while (waitpid(child, &state, 0) < 0 && errno == EINTR)
            ;
    if (failed == ENOENT || failed == EACCES ||
        (!failed && WIFEXITED(state) && WEXITSTATUS(state) == NOT_FOUND))
        return fail(err, ROOFS_FAILED,
                    "gnuplot draws the plots and is not installed; install gnuplot "
                    "(on Debian and Ubuntu: apt install gnuplot-nox)");
    if (failed)
        return fail(err, ROOFS_FAILED, "cannot start gnuplot: %s", strerror(failed));
    if (!WIFEXITED(state) || WEXITSTATUS(state) != 0) {
        char why[200];
        first_error(c->errors, why, sizeof why);
        return fail(err, ROOFS_FAILED, "gnuplot failed: %s", why);
    }
    return ROOFS_OK;
}

static roofs_status open_channel(channel *c, FILE *in, roofs_error *err)
{
    *c = (channel){.in = in, .out = tmpfile(), .errors = tmpfile()};
    if (!c->in || !c->out || !c->errors)
        return fail(err, ROOFS_IO, "cannot make a temporary file for a plot: %s", strerror(errno));
    return ROOFS_OK;
}

static void close_channel(const channel *c)
{
    FILE *const files[] = {c->in, c->out, c->errors};
    for (size_t k = 0; k < sizeof files / sizeof *files; k++)
        if (files[k])
            fclose(files[k]);
}

roofs_status plot_ready(roofs_error *err)
{
    static const char *const argv[] = {"gnuplot", "--version", NULL};
    channel c;
    roofs_status status = open_channel(&c, tmpfile(), err);
    if (status == ROOFS_OK)
        status = gnuplot_run(&c, argv, err);
    close_channel(&c);
    return status;
}

/* -d ignores the user's settings, so that plots are always the same. */
roofs_status plot_end(plot *p, FILE *page, const char *label, roofs_error *err)
{
    static const char *const argv[] = {"gnuplot", "-d", "-", NULL};
    channel c;
    roofs_status status = open_channel(&c, p->script, err);
    if (status == ROOFS_OK && (fflush(c.in) != 0 || fseek(c.in, 0, SEEK_SET) != 0))
        status = fail(err, ROOFS_IO, "cannot write a temporary file for a plot");
    if (status == ROOFS_OK)
        status = gnuplot_run(&c, argv, err);
    if (status == ROOFS_OK) {
        rewind(c.out);
        status = svg_copy(p, c.out, page, label, err);
        fputs("</figure>\n", page);
    }
    close_channel(&c);
    p->script = NULL;
    return status;
}
