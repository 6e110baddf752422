/* roofs VERB ...: finds the verb, runs it, and makes sure that what it printed
 * has arrived. */
#include "base/memory.h"
#include "cli/help.h"
#include "cli/print.h"
#include "cli/suggest.h"
#include "cli/verbs.h"

#include <errno.h>
#include <signal.h>
#include <string.h>

static int unknown_verb(const char *typed)
{
    suggestion near = {.typed = typed};
    int option = typed[0] == '-';
    for (int64_t k = 0; verb_at(k) && !option; k++)
        suggest_offer(&near, verb_at(k)->name);
    if (option) {
        suggest_offer(&near, "--help");
        suggest_offer(&near, "--version");
    }
    const char *what = option ? "an option" : "a verb";
    if (near.best)
        return usage_error(NULL, "'%s' is not %s; did you mean '%s'?", typed, what, near.best);
    return usage_error(NULL, "'%s' is not %s", typed, what);
}

static int run_verb(int argc, char **argv)
{
    if (argc < 2) {
        help_overview(stderr);
        return EXIT_USAGE;
    }
    const char *word = argv[1];
    if (strcmp(word, "--version") == 0) {
        printf("roofs %s\n", roofs_version());
        return EXIT_FINE;
    }
    if (strcmp(word, "--help") == 0 || strcmp(word, "-h") == 0) {
        help_overview(stdout);
        return EXIT_FINE;
    }
    const verb *v = verb_find(word);
    return v ? v->main(argc - 1, argv + 1) : unknown_verb(word);
}

int main(int argc, char **argv)
{
    memory_return_freed();
    signal(SIGXFSZ, SIG_IGN); /* a file that may not grow is then an error of the write */
    int code = run_verb(argc, argv);
    errno = 0;
    if ((fflush(stdout) != 0 || ferror(stdout)) && code == EXIT_FINE) {
        complain(NULL, "standard output cannot be written: %s",
                 errno ? strerror(errno) : "the disk may be full");
        return EXIT_FAILED;
    }
    return code;
}
