#include "cli/reproduce/experiment.h"

#include "cli/embedded.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const char *const names[] = {"table1", "table2", "table3", "fig1", "fig2", "fig3", "all"};

const char *experiment_name(int64_t k)
{
    return k >= 0 && k <= EXPERIMENTS ? names[k] : NULL;
}

static const char *const measures[] = {"l2_error",     "feature_f1", "clean_f1",
                                       "corrupted_f1", "mae",        "seconds"};

const char *measure_name(measure m)
{
    return measures[m];
}

int measure_low_is_good(measure m)
{
    return m == MEASURE_L2_ERROR || m == MEASURE_MAE || m == MEASURE_SECONDS;
}

static const double BATCH = 100; /* features, in the paper */

/* ---- reading JSON ------------------------------------------------------ */

static double number_of(const json_t *object, const char *key, double otherwise)
{
    const json_t *value = json_object_get(object, key);
    return json_is_number(value) ? json_number_value(value) : otherwise;
}

static const char *text_of(const json_t *object, const char *key)
{
    return json_string_value(json_object_get(object, key));
}

/* Index of the value of `key` among `words`, or `otherwise`. */
static int word_of(const json_t *object, const char *key, const char *const *words, int count,
                   int otherwise)
{
    const char *text = text_of(object, key);
    for (int k = 0; text && k < count; k++)
        if (strcmp(text, words[k]) == 0)
            return k;
    return otherwise;
}

static int64_t numbers_of(const json_t *object, const char *key, double *out, int64_t most)
{
    const json_t *list = json_object_get(object, key);
    int64_t count = (int64_t)json_array_size(list);
    for (int64_t k = 0; k < count && k < most; k++)
        out[k] = json_number_value(json_array_get(list, (size_t)k));
    return count < most ? count : most;
}

static roofs_status parse_embedded(json_t **out, const char *name, roofs_error *err)
{
    char file[32];
    snprintf(file, sizeof file, "%s.json", name);
    json_error_t reason;
    *out = json_loads(embedded_text(file), 0, &reason);
    if (*out)
        return ROOFS_OK;
    return fail(err, ROOFS_FAILED, "experiments/%s: line %d: %s", file, reason.line, reason.text);
}

/* ---- rows -------------------------------------------------------------- */

static void contender_read(contender *row, const json_t *from)
{
    static const char *const kinds[] = {"guess", "null", "first", "oracle", "fit"};
#define READING_WORD(name, number, word) [number] = (word),
    static const char *const readings[] = {ROOFS_READING_LIST(READING_WORD)};
    const json_t *cost = json_object_get(from, "cost");
    *row = (contender){
        .name = text_of(from, "name"),
        .title = text_of(from, "title"),
        .kind = (answer_kind)word_of(from, "kind", kinds, 5, ANSWER_FIT),
        .method = text_of(from, "method"),
        .reading = word_of(from, "reading", readings, 2, ROOFS_READING_ALONE),
        .passes = (int64_t)number_of(from, "passes", 1),
        .one_per_seed = (int)number_of(from, "in_turn", 0),
        .seeds = (int64_t)number_of(from, "seeds", INT32_MAX),
        .cost = {number_of(cost, "seconds", 0), number_of(cost, "n", 0), number_of(cost, "p", 0),
                 number_of(cost, "mu", 0), number_of(cost, "batch", 0)},
        .colour = text_of(from, "colour"),
        .dashed = (int)number_of(from, "dash", 0),
    };
    row->ratio_count = numbers_of(from, "off", row->ratio_errors, RATIOS_MOST);
}

/* The most features of a joint fit: the clean samples, less a batch. */
static double joint_capacity(const setting *what)
{
    return (1 - what->corruption) * (double)what->n - (double)what->batch;
}

/* A joint fit that cannot hold mu features fails when it is full. Until then it holds half of its
 * capacity on average. */
double expected_seconds(const contender *who, const setting *what)
{
    static const double PER_VALUE = 1.2e-8; /* seconds to generate one value */
    const cost_law *law = &who->cost;
    double n = (double)what->n, p = (double)what->p, mu = (double)what->mu;
    double generating = PER_VALUE * n * p, capacity = joint_capacity(what);
    if (who->reading == ROOFS_READING_JOINT && mu > capacity) {
        p = capacity;
        mu = capacity / 2;
    }
    return generating + law->seconds * pow(n / 1000, law->n) * pow(p / 2000, law->p) *
                            pow(mu / 400, law->mu) * pow((double)what->batch / BATCH, law->batch);
}

/* ---- experiments ------------------------------------------------------- */

static void read_setting(setting *s, const json_t *from, const char *axis, double at, double divide)
{
    double n = number_of(from, "n", 0), p = number_of(from, "p", 0);
    double share = number_of(from, "share", 0);
    s->corruption = number_of(from, "corruption", 0);
    s->noise_var = number_of(from, "noise_var", 0);
    if (strcmp(axis, "corruption") == 0)
        s->corruption = at;
    else if (strcmp(axis, "share") == 0)
        share = at;
    else if (strcmp(axis, "n") == 0)
        n = at;
    else
        p = at;
    s->n = (int64_t)round(n / divide);
    s->p = (int64_t)round(p / divide);
    s->mu = (int64_t)round(share * p / divide);
    s->batch = (int64_t)round(BATCH / divide);
}

/* The object with the value of `key`: the panel, or else the experiment. */
static const json_t *owner_of(const char *key, const json_t *own, const json_t *common)
{
    return json_object_get(own, key) ? own : common;
}

/* Copies a title such as "p=2K, n=1K, mu/p=20%". Divides its sizes, n and p in thousands. */
static void write_title(char *to, const char *from, double divide)
{
    size_t used = 0;
    while (*from && used + 24 < TITLE_MOST) {
        char *end = NULL;
        const int size = (from[0] == 'n' || from[0] == 'p') && from[1] == '=';
        double thousands = size ? strtod(from + 2, &end) : 0;
        if (!size || *end != 'K') {
            to[used++] = *from++;
            continue;
        }
        double value = 1000 * thousands / divide;
        int whole = value >= 1000 && fmod(value, 1000) == 0;
        used += (size_t)snprintf(to + used, TITLE_MOST - used, whole ? "%c=%.0fK" : "%c=%.0f",
                                 from[0], whole ? value / 1000 : round(value));
        from = end + 1;
    }
    to[used] = '\0';
}

static void read_panel(panel *to, const json_t *from, const json_t *common, double divide)
{
    to->paper_title = text_of(from, "title");
    write_title(to->title, to->paper_title, divide);
    to->axis = text_of(owner_of("axis", from, common), "axis");
    to->axis_title = text_of(owner_of("axis_title", from, common), "axis_title");
    to->points = numbers_of(owner_of("at", from, common), "at", to->at, POINTS_MOST);
    for (int64_t k = 0; k < to->points; k++) {
        to->settings[k].reviews = text_of(common, "data") != NULL;
        read_setting(&to->settings[k], from, to->axis, to->at[k], divide);
        if (strlen(to->axis) == 1) /* n or p: show the reduced size */
            to->at[k] = round(to->at[k] / divide);
    }
}

static void read_paper(experiment *e, const catalogue *c, const json_t *from)
{
    const json_t *printed = json_object_get(from, "paper");
    for (int64_t row = 0; row < ROWS_MOST; row++)
        for (int64_t q = 0; q < PANELS_MOST; q++)
            for (int64_t k = 0; k < POINTS_MOST; k++)
                e->paper[row][q][k] = NAN;
    for (int64_t row = 0; row < c->rows; row++) {
        const json_t *panels = json_object_get(printed, c->row[row].name);
        for (size_t q = 0; q < json_array_size(panels); q++) {
            const json_t *values = json_array_get(panels, q);
            for (size_t k = 0; k < json_array_size(values); k++)
                e->paper[row][q][k] = json_number_value(json_array_get(values, k));
        }
    }
}

static void read_experiment(experiment *e, const catalogue *c, const json_t *from, int quick)
{
    const json_t *reduced = quick ? json_object_get(from, "quick") : NULL;
    const json_t *panels = json_object_get(from, "panels");
    e->name = text_of(from, "name");
    e->title = text_of(from, "title");
    e->about = text_of(from, "about");
    e->measure = (measure)word_of(from, "measure", measures, MEASURES, MEASURE_L2_ERROR);
    e->timed = (int)number_of(from, "timed", 0);
    e->seeds = (int64_t)number_of(reduced ? reduced : from, "seeds", 1);
    e->patience = number_of(reduced ? reduced : from, "patience", 60);
    e->panel_count = (int64_t)json_array_size(panels);
    for (int64_t k = 0; k < e->panel_count; k++)
        read_panel(&e->panels[k], json_array_get(panels, (size_t)k), from,
                   number_of(reduced, "divide", 1));
    read_paper(e, c, from);
}

roofs_status catalogue_open(catalogue *c, int quick, roofs_error *err)
{
    *c = (catalogue){0};
    json_t *rows;
    TRY(parse_embedded(&rows, "rows", err));
    c->texts[EXPERIMENTS] = rows;
    c->rows = (int64_t)json_array_size(rows);
    for (int64_t k = 0; k < c->rows; k++)
        contender_read(&c->row[k], json_array_get(rows, (size_t)k));
    for (int64_t k = 0; k < EXPERIMENTS; k++) {
        TRY(parse_embedded(&c->texts[k], names[k], err));
        read_experiment(&c->all[k], c, c->texts[k], quick);
    }
    return ROOFS_OK;
}

void catalogue_close(catalogue *c)
{
    for (int k = 0; k <= EXPERIMENTS; k++)
        json_decref(c->texts[k]);
}
