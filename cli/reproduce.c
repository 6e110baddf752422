/* roofs reproduce: repeats the experiments of the paper. */
#include "base/status.h"
#include "cli/folder.h"
#include "cli/interrupt.h"
#include "cli/print.h"
#include "cli/report_plot.h"
#include "cli/reproduce/results.h"
#include "cli/reproduce/schedule.h"
#include "cli/verbs.h"

#include <inttypes.h>
#include <string.h>

typedef struct reproduce_args {
    const char *output, *imdb, *rows;
    int64_t threads, seeds, device;
    double patience;
    int quick, explain, no_page, tables, quiet;
} reproduce_args;

static const option_row reproduce_rows[] = {
    {OUTPUT(reproduce_args, output, "DIR"), .required = 1,
     .help = "folder for the results; a stopped command continues from its results"},
    {FLAG(reproduce_args, quick, "quick"),
     .help = "a reduced version: smaller data, fewer seeds, under 5 minutes"},
    {REAL(reproduce_args, patience, "patience", "SECONDS", 0, 1e9), .standard = "0",
     .help =
         "most seconds for one number of a table; leaves out slower fits or some of their seeds; "
         "0 = the limit of each experiment"},
    {COUNT(reproduce_args, seeds, "seeds", 0, 1e6), .standard = "0",
     .help = "seeds for each number; 0 = the number of each experiment"},
    {TEXT(reproduce_args, rows, "rows", "NAME,NAME"),
     .help = "only these rows of the tables, such as roofs,bayes"},
    {CHOICE(reproduce_args, device, "device", "WORD", device_word), .standard = "cpu",
     .help = "device for the methods that run on a GPU; the others run on the CPU"},
    {TEXT(reproduce_args, imdb, "imdb", "DIR"), .standard = "../shared/data/imdb",
     .help = "folder of the Large Movie Review Dataset, for table3"},
    {THREADS(reproduce_args, threads), .standard = "0", .help = "fits at a time; 0 = one per core"},
    {FLAG(reproduce_args, explain, "explain"),
     .help = "print the number of trials and the expected time; run nothing"},
    {FLAG(reproduce_args, no_page, "no-page"),
     .help = "do not write report.html, which needs gnuplot"},
    {FLAG(reproduce_args, tables, "tables"), .help = "print all tables, not only a line for each"},
    {QUIET(reproduce_args, quiet), .help = "print no progress and no results"},
    {0},
};

static const example reproduce_examples[] = {
    {"all experiments, reduced", "roofs reproduce all --quick -o reproduction"},
    {"one full table; Ctrl-C stops it, the same command continues",
     "roofs reproduce table1 -o reproduction"},
    {"Table 2 for two methods, ten seeds, on a GPU",
     "roofs reproduce table2 --rows roofs,bayes --seeds 10 --patience 1e6 --device cuda -o "
     "gpu"},
    {"print the expected time", "roofs reproduce all -o reproduction --explain"},
    {0},
};

/* ---- the choice of experiments ----------------------------------------- */

static int reproduce_choose(int *wanted, const operands *rest)
{
    if (rest->count == 0)
        return usage_error("reproduce",
                           "give an experiment: table1 table2 table3 fig1 fig2 fig3 or all");
    for (int64_t i = 0; i < rest->count; i++) {
        int found = 0;
        for (int k = 0; k < EXPERIMENTS; k++)
            if (strcmp(rest->values[i], experiment_name(k)) == 0 ||
                strcmp(rest->values[i], "all") == 0)
                found = wanted[k] = 1;
        if (!found)
            return usage_error(
                "reproduce",
                "unknown experiment '%s'; choose one of: table1 table2 table3 fig1 fig2 fig3 all",
                rest->values[i]);
    }
    return OPTIONS_FINE;
}

/* Leaves table3 out if the reviews are missing, unless it is the only experiment. */
static int drop_reviews(const reproduce_args *a, int *wanted, int others)
{
    enum { TABLE3 = 2 };
    roofs_error err;
    if (!wanted[TABLE3] || reviews_check(a->imdb, &err) == ROOFS_OK)
        return OPTIONS_FINE;
    complain("reproduce", "%s%s", others ? "table3 is left out: " : "", err.text);
    wanted[TABLE3] = 0;
    return others ? OPTIONS_FINE : EXIT_DATA;
}

/* True if `name` is in a list separated by commas. */
static int is_listed(const char *list, const char *name)
{
    const size_t length = strlen(name);
    for (const char *at = list; at; at = strchr(at, ',')) {
        at += *at == ',';
        if (strncmp(at, name, length) == 0 && (at[length] == ',' || at[length] == '\0'))
            return 1;
    }
    return 0;
}

/* Applies --seeds and --rows: rows that are not listed get no seeds. */
static void reproduce_narrow(catalogue *c, const reproduce_args *a)
{
    for (int k = 0; k < EXPERIMENTS && a->seeds > 0; k++)
        c->all[k].seeds = a->seeds;
    for (int64_t row = 0; row < c->rows && a->rows; row++)
        if (!is_listed(a->rows, c->row[row].name))
            c->row[row].seeds = 0;
}

/* Fails if the device is missing, before any trial runs. */
static roofs_status check_device(int64_t device, roofs_error *err)
{
    const double y[] = {0, 1, 2, 3};
    roofs_estimator *e = NULL;
    roofs_settings set;
    roofs_settings_init(&set);
    set.mu = 1;
    set.device = device;
    TRY(roofs_create(&e, &set, y, sizeof y / sizeof *y, err));
    roofs_destroy(e);
    return ROOFS_OK;
}

/* ---- trials and results ------------------------------------------------ */

typedef struct session {
    const reproduce_args *args;
    int wanted[EXPERIMENTS];
    catalogue catalogue;
    folder folder;
    journal journal;
    schedule todo;
    int64_t workers;
} session;

static roofs_status open_session(session *s, roofs_error *err)
{
    const reproduce_args *a = s->args;
    s->workers = a->threads > 0 ? a->threads : schedule_cores();
    TRY(check_device(a->device, err));
    TRY(catalogue_open(&s->catalogue, a->quick, err));
    reproduce_narrow(&s->catalogue, a);
    if (!a->no_page)
        TRY(plot_ready(err));
    TRY(folder_make(&s->folder, a->output, err));
    TRY(journal_open(&s->journal, s->folder.path, err));
    for (int k = 0; k < EXPERIMENTS; k++)
        if (s->wanted[k])
            TRY(schedule_add(&s->todo, &s->catalogue, &s->catalogue.all[k], a->patience,
                             &s->journal, err));
    return ROOFS_OK;
}

static void close_session(session *s)
{
    schedule_free(&s->todo);
    journal_close(&s->journal);
    catalogue_close(&s->catalogue);
}

static void reproduce_announce(const session *s)
{
    double seconds = schedule_wall_seconds(&s->todo, s->workers);
    if (s->args->quiet && !s->args->explain)
        return;
    if (s->todo.count == 0)
        complain("reproduce", "all trials have run; the results are in %s", s->folder.path);
    else
        complain("reproduce",
                 "%s trial%s, about %s on %" PRId64 " core%s; Ctrl-C stops, the same command "
                 "continues",
                 text_of_count(s->todo.count).text, plural(s->todo.count),
                 text_of_seconds(seconds).text, s->workers, plural(s->workers));
}

static roofs_status reproduce_report(const session *s, roofs_error *err)
{
    const findings f = {.catalogue = &s->catalogue,
                        .journal = &s->journal,
                        .quick = s->args->quick,
                        .patience = s->args->patience,
                        .wanted = s->wanted};
    if (!s->args->quiet)
        printf("RoOFS (2018)%s\n", f.quick ? ", smaller data than in the paper" : "");
    for (int k = 0; k < EXPERIMENTS; k++) {
        if (!s->wanted[k])
            continue;
        if (!s->args->quiet)
            (s->args->tables ? results_print : results_print_line)(&f, &s->catalogue.all[k]);
        TRY(results_write(&f, &s->catalogue.all[k], s->folder.path, err));
    }
    if (s->args->no_page)
        return ROOFS_OK;
    TRY(results_page(&f, s->folder.path, err));
    if (!s->args->quiet)
        complain("reproduce", "the results are in %s/report.html", s->folder.path);
    return ROOFS_OK;
}

static roofs_status reproduce_work(session *s, roofs_error *err)
{
    const schedule_options how = {.workers = s->workers,
                                  .reviews = s->args->imdb,
                                  .device = s->args->device,
                                  .quiet = s->args->quiet};
    reproduce_announce(s);
    if (s->args->explain)
        return ROOFS_OK;
    interrupt_install();
    interrupt_defer(); /* the results of the trial */
    TRY(schedule_run(&s->todo, &how, &s->journal, err));
    return interrupt_signal() ? ROOFS_CANCELLED : reproduce_report(s, err);
}

static int reproduce_main(int argc, char **argv)
{
    reproduce_args args = {0};
    operands rest;
    int code = options_parse(&reproduce_verb, &args, argc, argv, &rest);
    if (code != OPTIONS_FINE)
        return code;
    session s = {.args = &args};
    code = reproduce_choose(s.wanted, &rest);
    if (code == OPTIONS_FINE)
        code = drop_reviews(&args, s.wanted, rest.count > 1 || strcmp(rest.values[0], "all") == 0);
    if (code != OPTIONS_FINE)
        return code;
    roofs_error err = {0};
    roofs_status status = open_session(&s, &err);
    if (status == ROOFS_OK)
        status = reproduce_work(&s, &err);
    close_session(&s);
    if (status == ROOFS_CANCELLED)
        return interrupt_exit("reproduce",
                              "; finished trials are saved, the same command continues");
    if (status != ROOFS_OK)
        complain("reproduce", "%s", err.text);
    return exit_after(status);
}

const verb reproduce_verb = {
    .name = "reproduce",
    .summary = "repeat the experiments of the paper: tables and figures",
    .usage = "table1|table2|table3|fig1|fig2|fig3|all... -o DIR [--quick] [options]",
    .about =
        "Runs every experiment in two orders of arrival: true features first, which reproduces the "
        "numbers of the paper, and random. The tables also show reference answers, such as a "
        "random "
        "guess and an oracle.\n\n"
        "Prints for each experiment and order whether the numbers of the published method are "
        "reproduced; --tables prints all numbers. "
        "Writes to DIR: NAME.csv and NAME.json for every experiment, report.html with all tables "
        "and figures, and trials.jsonl with the result of every trial.",
    .examples = reproduce_examples,
    .rows = reproduce_rows,
    .main = reproduce_main,
};
