#include "cli/print.h"
#include "cli/verbs.h"

static const option_row rows[] = {{0}};

static const example examples[] = {{"measure this machine", "roofs bench"}, {0}};

int bench_main(int argc, char **argv)
{
    operands rest;
    int none;
    int code = options_parse(&bench_verb, &none, argc, argv, &rest);
    if (code != OPTIONS_FINE)
        return code;
    complain("bench", "not there yet");
    return EXIT_FAILED;
}

const verb bench_verb = {
    .name = "bench",
    .summary = "measure how fast the fit is on this machine",
    .usage = "[options]",
    .examples = examples,
    .rows = rows,
    .main = bench_main,
};
