#include "cli/profile.h"

#include "base/block.h"
#include "base/memory.h"
#include "base/threads.h"
#include "cli/bench_measure.h"
#include "cli/print.h"

#include <inttypes.h>

void profile_add(profile *p, const char *name, double seconds, double bytes)
{
    if (p->count < PROFILE_MOST)
        p->lines[p->count++] = (profile_line){.name = name, .seconds = seconds, .bytes = bytes};
}

/* Hypotheses that run side by side spend more seconds than pass: their phases are scaled to the
 * time of the calls. The rest of that time is "other". */
void profile_take(profile *p, const roofs_estimator *e, const fit_times *times, double read_bytes)
{
    roofs_description now;
    double sum = 0;
    roofs_describe(e, &now);
    *p = (profile){.threads = threads_count(now.settings->threads)};
    for (int64_t k = 0; roofs_phase_name(k); k++)
        sum += roofs_phase_seconds(e, k);
    const double scale = sum > times->fitting ? times->fitting / sum : 1;
    profile_add(p, "reading", times->reading, read_bytes);
    for (int64_t k = 0; roofs_phase_name(k); k++)
        profile_add(p, roofs_phase_name(k), scale * roofs_phase_seconds(e, k),
                    roofs_phase_bytes(e, k));
    profile_add(p, "other", times->fitting - scale * sum, 0);
}

/* A profile without a bandwidth is still useful. */
void profile_measure(profile *p)
{
    roofs_error err;
    if (measure_read_bandwidth(p->threads, &p->bandwidth, &err) != ROOFS_OK)
        p->bandwidth = 0;
}

static double total_seconds(const profile *p)
{
    double total = 0;
    for (int64_t k = 0; k < p->count; k++)
        total += p->lines[k].seconds;
    return total;
}

void profile_print(FILE *file, const profile *p)
{
    const double total = total_seconds(p);
    fprintf(file, "\n%-10s %10s %7s %12s %14s\n", "profile", "time", "share", "bytes read",
            "of bandwidth");
    for (int64_t k = 0; k < p->count; k++) {
        const profile_line *line = &p->lines[k];
        fprintf(file, "%-10s %10s %7s", line->name, text_of_seconds(line->seconds).text,
                text_of_share(line->seconds, total).text);
        if (line->bytes > 0)
            fprintf(file, " %12s", text_of_bytes(line->bytes).text);
        if (line->bytes > 0 && p->bandwidth > 0 && line->seconds > 0)
            fprintf(file, " %14s", text_of_share(line->bytes / line->seconds, p->bandwidth).text);
        fputc('\n', file);
    }
    fprintf(file, "%-10s %10s\n", "total", text_of_seconds(total).text);
    if (p->bandwidth > 0)
        fprintf(file, "%" PRId64 " %s %s/s from memory\n", p->threads,
                p->threads == 1 ? "thread reads" : "threads read",
                text_of_bytes(p->bandwidth).text);
}

json_t *profile_json(const profile *p)
{
    json_t *lines = json_object();
    for (int64_t k = 0; k < p->count; k++)
        json_object_set_new(lines, p->lines[k].name,
                            json_pack("{s:o, s:o}", "seconds", json_number(p->lines[k].seconds),
                                      "bytes_read", json_number(p->lines[k].bytes)));
    return json_pack("{s:I, s:o, s:o}", "threads", (json_int_t)p->threads, "bandwidth",
                     json_number(p->bandwidth), "phases", lines);
}

double profile_block_bytes(const roofs_block *b)
{
    const double value = (double)dtype_size(b->dtype);
    if (!block_is_sparse(b))
        return (double)b->count * (double)dtype_bytes(b->dtype, b->n);
    return (value + (double)sizeof(int32_t)) *
           (double)(block_start(b, b->count) - block_start(b, 0));
}
