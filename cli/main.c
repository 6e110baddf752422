/* roofs VERB ...: finds the verb, runs it, and checks that standard output was written. */
#include "base/memory.h"
#include "cli/descriptors.h"
#include "cli/help.h"
#include "cli/print.h"
#include "cli/suggest.h"
#include "cli/verbs.h"

#include <errno.h>
#include <signal.h>
#include <string.h>

static int unknown_option(const char *typed)
{
    suggestion near = {.typed = typed};
    suggest_offer(&near, "--help");
    suggest_offer(&near, "--version");
    return usage_error(NULL, "unknown option '%s'%s", typed, suggest_hint(&near, "").text);
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
    if (v)
        return v->main(argc - 1, argv + 1);
    return word[0] == '-' ? unknown_option(word) : help_unknown_verb(word);
}

int main(int argc, char **argv)
{
    if (secure_descriptors() != 0)
        return EXIT_FAILED;
    memory_return_freed();
    signal(SIGXFSZ, SIG_IGN); /* a write beyond the size limit of files then fails with an error */
    int code = run_verb(argc, argv);
    errno = 0;
    if ((fflush(stdout) != 0 || ferror(stdout)) && code == EXIT_FINE) {
        complain(NULL, "standard output cannot be written: %s",
                 errno ? strerror(errno) : "the disk may be full");
        return EXIT_FAILED;
    }
    return code;
}
