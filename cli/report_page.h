/* The page of a report: skeleton, style, script, and how text gets on it. What
 * stands on the page is the matter of those who call. */
#ifndef CLI_REPORT_PAGE_H
#define CLI_REPORT_PAGE_H

#include <stdint.h>
#include <stdio.h>

void page_begin(FILE *page, const char *title);
void page_end(FILE *page);

/* Text of others, such as names: what means something in HTML is escaped, what
 * cannot be shown is replaced. It must be UTF-8. */
void page_text(FILE *page, const char *text);

/* The same, cut to `columns` characters with an ellipsis. */
void page_text_short(FILE *page, const char *text, int64_t columns);

/* Characters, not bytes. */
int64_t page_text_length(const char *text);

/* A section with its heading, open until page_section_end. */
void page_section(FILE *page, const char *title);
void page_section_end(FILE *page);

/* Figures stand side by side where there is room. */
void page_figures(FILE *page);
void page_figures_end(FILE *page);

/* What a colour of the plots stands for. */
typedef struct page_key {
    const char *colour; /* blue, soft, orange, plum */
    const char *words;
} page_key;

/* A figure with title, caption (HTML) and the keys of its colours (ended by a row
 * of NULLs, or NULL). The plot follows. */
void page_figure(FILE *page, const char *title, const page_key *keys, const char *caption, ...)
    __attribute__((format(printf, 4, 5)));
void page_figure_end(FILE *page);

/* A table that sorts by a click on a heading. Headings of numbers begin with
 * '#', before that with '-' where a phone has no room for the column (its cells are
 * to be of class "spare"); the last one is NULL. */
void page_table(FILE *page, const char *const *headings);
void page_table_end(FILE *page);

/* A part that is folded until it is asked for. The summary is HTML. */
void page_folded(FILE *page, const char *summary, ...) __attribute__((format(printf, 2, 3)));
void page_folded_end(FILE *page);

#endif
