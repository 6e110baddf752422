#include "cli/report_page.h"

#include <stdarg.h>

/* ---- the skeleton ------------------------------------------------------ */

/* The page may load nothing: the browser is told so. */
static const char HEAD[] =
    "<!DOCTYPE html>\n"
    "<html lang=\"en\">\n"
    "<head>\n"
    "<meta charset=\"utf-8\">\n"
    "<meta http-equiv=\"Content-Security-Policy\"\n"
    " content=\"default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'\">\n"
    "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
    "<meta name=\"color-scheme\" content=\"light dark\">\n"
    "<meta name=\"generator\" content=\"roofs " ROOFS_VERSION "\">\n";

static const char COLOURS[] =
    ":root {\n"
    "  color-scheme: light dark;\n"
    "  --paper: #f6f6f4; --card: #ffffff; --line: #e3e5e8; --ink: #23282f; --muted: #626c79;\n"
    "  --grid: #e9ebee; --blue: #3a72b8; --soft: #d6e3f2; --orange: #cd6724; --plum: #96568b;\n"
    "  --green: #4b8b3b; --teal: #2a8c8c; --gold: #b08a1c; --red: #b8434a; --rose: #d07f96;\n"
    "  --brown: #87664a;\n"
    "}\n"
    "@media (prefers-color-scheme: dark) {\n"
    "  :root {\n"
    "    --paper: #14171a; --card: #1c2025; --line: #2e343b; --ink: #e3e6ea; --muted: #9aa4b0;\n"
    "    --grid: #2c3138; --blue: #73a8e4; --soft: #2b3e55; --orange: #e7945a; --plum: #c78dbd;\n"
    "    --green: #86bf74; --teal: #62bcbc; --gold: #d9b552; --red: #e27e83; --rose: #e5adbc;\n"
    "    --brown: #b9987b;\n"
    "  }\n"
    "}\n";

static const char FRAME[] =
    "* { box-sizing: border-box; }\n"
    "body { margin: 0; background: var(--paper); color: var(--ink);\n"
    "  font: 16px/1.5 system-ui, -apple-system, 'Segoe UI', Roboto, 'Noto Sans', sans-serif;\n"
    "  -webkit-text-size-adjust: 100%; }\n"
    "main { max-width: 66rem; margin: 0 auto; padding: 2.5rem 1.25rem 3rem; }\n"
    "h1 { font-size: 1.9rem; line-height: 1.2; margin: .2rem 0 .8rem; letter-spacing: -.015em;\n"
    "  font-weight: 650; text-wrap: balance; }\n"
    "h2 { font-size: 1.25rem; margin: 2.6rem 0 .9rem; letter-spacing: -.01em; font-weight: 650; }\n"
    "h3 { font-size: 1rem; margin: 0; font-weight: 600; }\n"
    "p { margin: 0 0 .8rem; }\n"
    ".lead { font-size: 1.08rem; max-width: 46rem; }\n"
    ".eyebrow, .note, figcaption p, footer { color: var(--muted); font-size: .875rem; }\n"
    ".eyebrow { margin: 0; overflow-wrap: anywhere; }\n"
    "footer { margin-top: 2.5rem; }\n"
    "code { font: .92em ui-monospace, 'SF Mono', Menlo, Consolas, monospace; }\n"
    "dl { display: grid; gap: 1px; margin: 1.4rem 0 0; padding: 0; overflow: hidden;\n"
    "  border: 1px solid var(--line); border-radius: .6rem; background: var(--card); }\n"
    "dl > div { box-shadow: 0 0 0 1px var(--line); padding: .6rem .9rem; min-width: 0; }\n"
    "dt { color: var(--muted); font-size: .8rem; }\n"
    "dd { margin: 0; font-variant-numeric: tabular-nums; overflow-wrap: anywhere; }\n"
    ".facts { grid-template-columns: repeat(6, 1fr); }\n"
    ".settings { grid-template-columns: repeat(6, 1fr); }\n"
    ".facts dd { font-size: 1.35rem; line-height: 1.3; font-weight: 600; }\n"
    ".facts dd small { display: block; font-size: .8rem; font-weight: 400; color: var(--muted); "
    "}\n";

static const char FIGURES[] =
    ".figures { display: grid; gap: 1rem; align-items: stretch;\n"
    "  grid-template-columns: repeat(auto-fit, minmax(min(100%, 21rem), 1fr)); }\n"
    "figure, .card, details { margin: 0; background: var(--card); border: 1px solid var(--line);\n"
    "  border-radius: .6rem; padding: 1rem 1.1rem; min-width: 0; }\n"
    "figure { display: flex; flex-direction: column; }\n"
    "figcaption { margin-bottom: .6rem; }\n"
    "figcaption p { margin: .15rem 0 0; line-height: 1.45; }\n"
    "figure svg { display: block; width: 100%; height: auto; margin-top: auto; }\n"
    "figure svg text { font-family: inherit; font-variant-numeric: tabular-nums;\n"
    "  white-space: pre; }\n"
    ".keys span { color: var(--ink); white-space: nowrap; margin-right: .8em; }\n"
    ".keys span::before { content: ''; display: inline-block; width: .7em; height: .7em;\n"
    "  border-radius: .15em; margin-right: .4em; background: var(--blue); }\n"
    ".keys .orange::before { background: var(--orange); }\n"
    ".keys .plum::before { background: var(--plum); }\n"
    ".keys .soft::before { background: var(--soft); }\n"
    ".keys .ink::before { background: var(--ink); }\n"
    ".keys .muted::before { background: var(--muted); }\n"
    ".keys .green::before { background: var(--green); }\n"
    ".keys .teal::before { background: var(--teal); }\n"
    ".keys .gold::before { background: var(--gold); }\n"
    ".keys .red::before { background: var(--red); }\n"
    ".keys .rose::before { background: var(--rose); }\n"
    ".keys .brown::before { background: var(--brown); }\n"
    ".keys .dashed::before { height: .25em; vertical-align: .2em; width: 1em; border-radius: 0;\n"
    "  mask: linear-gradient(90deg, #000 40%, transparent 40% 60%, #000 60%); }\n"
    ".numbers { margin-top: 1rem; }\n"
    "h3.panel { margin: 1.6rem 0 .6rem; }\n"
    ".marks { position: absolute; width: 0; height: 0; }\n";

static const char TABLES[] =
    ".card { display: flex; flex-direction: column; }\n"
    ".scroll { overflow: auto; max-height: 34rem; }\n"
    ".card.long .scroll { flex: 1 1 0; max-height: none; }\n"
    "table { border-collapse: collapse; width: 100%; font-size: .875rem;\n"
    "  font-variant-numeric: tabular-nums; }\n"
    "th { position: sticky; top: 0; background: var(--card); text-align: left; padding: 0;\n"
    "  box-shadow: inset 0 -1px var(--line); font-weight: 600; z-index: 1; }\n"
    "th button { all: unset; box-sizing: border-box; width: 100%; padding: .35rem .5rem; "
    "white-space: nowrap;\n"
    "  color: var(--muted); font-weight: 600; }\n"
    "th button { cursor: pointer; }\n"
    "th button:hover, th[aria-sort] button { color: var(--ink); }\n"
    "th button:focus-visible { outline: 2px solid var(--blue); outline-offset: -2px; }\n"
    "th[aria-sort=ascending] button::after { content: ' \\2191'; }\n"
    "th[aria-sort=descending] button::after { content: ' \\2193'; }\n"
    "td { padding: .28rem .5rem; border-top: 1px solid var(--grid); }\n"
    "tr:first-child td { border-top: 0; }\n"
    "td.n, th.n { text-align: right; white-space: nowrap; }\n"
    "td bdi { display: inline-block; max-width: 11rem; overflow-wrap: break-word; }\n"
    "td small { color: var(--muted); }\n"
    "td.edge, th.edge { border-left: 1px solid var(--line); }\n"
    ".better { color: var(--blue); font-weight: 600; }\n"
    ".near { color: var(--green); font-weight: 600; }\n"
    ".worse { color: var(--orange); font-weight: 600; }\n"
    "tr.reference td:first-child { color: var(--muted); }\n"
    ".wide td:first-child, .wide th:first-child { position: sticky; left: 0; white-space: nowrap;\n"
    "  background: var(--card); }\n"
    ".wide th:first-child { z-index: 2; }\n"
    "td.bar { width: 26%; min-width: 3rem; }\n"
    "td.bar i { display: block; height: .6rem; min-width: 1px; border-radius: .15rem;\n"
    "  width: var(--v); background: var(--blue); }\n"
    "td.bar i.minus { background: var(--plum); }\n"
    "details { margin-top: 1rem; }\n"
    "summary { cursor: pointer; font-weight: 600; }\n"
    "summary small { font-weight: 400; color: var(--muted); font-size: .875rem; }\n"
    "details[open] > summary { margin-bottom: .8rem; }\n"
    ".samples { display: grid; list-style: none; margin: 0; padding: 0; font-size: .875rem;\n"
    "  grid-template-columns: repeat(auto-fill, minmax(6.2rem, 1fr)); gap: .1rem 1.4rem;\n"
    "  font-variant-numeric: tabular-nums; }\n"
    ".samples li { display: flex; align-items: baseline; justify-content: space-between; gap: "
    ".4rem; }\n"
    ".samples small { color: var(--muted); }\n";

static const char NARROW[] =
    "@media (max-width: 60rem) { td.spare, th.spare { display: none; }\n"
    "  td bdi { max-width: 7rem; } }\n"
    "@media (max-width: 45rem) { .card.long .scroll { flex: none; max-height: 30rem; } }\n"
    "@media (max-width: 50rem) { .facts { grid-template-columns: repeat(3, 1fr); }\n"
    "  .settings { grid-template-columns: repeat(4, 1fr); } }\n"
    "@media (max-width: 34rem) {\n"
    "  main { padding: 1.5rem .75rem 2rem; }\n"
    "  h1 { font-size: 1.5rem; }\n"
    "  figure, .card, details { padding: .8rem .75rem; }\n"
    "  .facts { grid-template-columns: repeat(2, 1fr); }\n"
    "  .settings { grid-template-columns: repeat(3, 1fr); }\n"
    "  dl > div { padding: .5rem .7rem; }\n"
    "  td, th button { padding-left: .3rem; padding-right: .3rem; }\n"
    "}\n"
    "@media print { .scroll { max-height: none; } body { background: none; } }\n";

/* The one mark of gnuplot's that plots use, once for all of them. */
static const char MARKS[] = "<svg class=\"marks\" aria-hidden=\"true\"><defs>"
                            "<circle id=\"gpPt6\" r=\"1\" fill=\"currentColor\" stroke=\"none\"/>"
                            "</defs></svg>\n";

static const char SCRIPT[] =
    "<script>\n"
    "const value = (row, column) => {\n"
    "  const cell = row.cells[column];\n"
    "  return cell.dataset.v !== undefined ? Number(cell.dataset.v) : cell.textContent;\n"
    "};\n"
    "const compare = (a, b) => typeof a === 'number' ? a - b\n"
    "  : a.localeCompare(b, 'en', { numeric: true });\n"
    "function sort(heading) {\n"
    "  const table = heading.closest('table'), column = heading.cellIndex;\n"
    "  const before = heading.getAttribute('aria-sort');\n"
    "  const first = heading.classList.contains('n') ? 'descending' : 'ascending';\n"
    "  const other = { ascending: 'descending', descending: 'ascending' };\n"
    "  const now = before ? other[before] : first, sign = now === 'ascending' ? 1 : -1;\n"
    "  for (const th of heading.parentNode.cells) th.removeAttribute('aria-sort');\n"
    "  heading.setAttribute('aria-sort', now);\n"
    "  const rows = [...table.tBodies[0].rows];\n"
    "  rows.sort((a, b) => sign * compare(value(a, column), value(b, column)));\n"
    "  table.tBodies[0].append(...rows);\n"
    "}\n"
    "for (const button of document.querySelectorAll('th button'))\n"
    "  button.addEventListener('click', () => sort(button.parentNode));\n"
    "</script>\n";

void page_begin(FILE *page, const char *title)
{
    fputs(HEAD, page);
    fputs("<title>", page);
    page_text(page, title);
    fputs("</title>\n<style>\n", page);
    fputs(COLOURS, page);
    fputs(FRAME, page);
    fputs(FIGURES, page);
    fputs(TABLES, page);
    fputs(NARROW, page);
    fputs("</style>\n</head>\n<body>\n", page);
    fputs(MARKS, page);
    fputs("<main>\n", page);
}

void page_end(FILE *page)
{
    fputs("<footer>Made by roofs " ROOFS_VERSION ". Nothing on this page is loaded from elsewhere."
          "</footer>\n</main>\n",
          page);
    fputs(SCRIPT, page);
    fputs("</body>\n</html>\n", page);
}

/* ---- text -------------------------------------------------------------- */

static int is_continuation(char c)
{
    return ((unsigned char)c & 0xC0) == 0x80;
}

int64_t page_text_length(const char *text)
{
    int64_t columns = 0;
    for (; *text; text++)
        columns += !is_continuation(*text);
    return columns;
}

static void put_character(FILE *page, char c)
{
    switch (c) {
    case '&':
        fputs("&amp;", page);
        break;
    case '<':
        fputs("&lt;", page);
        break;
    case '>':
        fputs("&gt;", page);
        break;
    case '"':
        fputs("&quot;", page);
        break;
    case '\'':
        fputs("&#39;", page);
        break;
    default: {
        unsigned char byte = (unsigned char)c;
        if (byte < 0x20 || byte == 0x7F)
            fputs("\xEF\xBF\xBD", page); /* U+FFFD */
        else
            fputc(c, page);
    }
    }
}

void page_text(FILE *page, const char *text)
{
    for (; *text; text++)
        put_character(page, *text);
}

void page_text_short(FILE *page, const char *text, int64_t columns)
{
    int cut = page_text_length(text) > columns;
    for (int64_t left = columns - cut; *text; text++) {
        if (!is_continuation(*text) && left-- == 0)
            break;
        put_character(page, *text);
    }
    if (cut)
        fputs("\xE2\x80\xA6", page);
}

/* ---- parts ------------------------------------------------------------- */

void page_section(FILE *page, const char *title)
{
    fprintf(page, "<section>\n<h2>%s</h2>\n", title);
}

void page_section_end(FILE *page)
{
    fputs("</section>\n", page);
}

void page_figures(FILE *page)
{
    fputs("<div class=\"figures\">\n", page);
}

void page_figures_end(FILE *page)
{
    fputs("</div>\n", page);
}

void page_figure(FILE *page, const char *title, const page_key *keys, const char *caption, ...)
{
    va_list list;
    va_start(list, caption);
    fprintf(page, "<figure>\n<figcaption><h3>%s</h3><p>", title);
    vfprintf(page, caption, list);
    fputs("</p>", page);
    va_end(list);
    if (keys)
        fputs("<p class=\"keys\">", page);
    for (const page_key *k = keys; k && k->words; k++)
        fprintf(page, "<span class=\"%s\">%s</span> ", k->colour, k->words);
    fputs(keys ? "</p></figcaption>\n" : "</figcaption>\n", page);
}

void page_figure_end(FILE *page)
{
    fputs("</figure>\n", page);
}

static void put_heading(FILE *page, const char *text)
{
    int spare = text[0] == '-', number = text[spare] == '#';
    fprintf(page, "<th class=\"%s%s\" scope=\"col\"><button>%s</button></th>", number ? "n" : "",
            spare ? " spare" : "", text + spare + number);
}

void page_table(FILE *page, const char *const *headings)
{
    fputs("<div class=\"scroll\"><table>\n<thead><tr>", page);
    for (; *headings; headings++)
        put_heading(page, *headings);
    fputs("</tr></thead>\n<tbody>\n", page);
}

void page_table_end(FILE *page)
{
    fputs("</tbody>\n</table></div>\n", page);
}

void page_folded(FILE *page, const char *summary, ...)
{
    va_list list;
    va_start(list, summary);
    fputs("<details>\n<summary>", page);
    vfprintf(page, summary, list);
    fputs("</summary>\n", page);
    va_end(list);
}

void page_folded_end(FILE *page)
{
    fputs("</details>\n", page);
}
