#!/usr/bin/env python3
"""The results of `roofs reproduce` as Markdown tables, for docs/reproduction.md.

    markdown.py DIR [table1 table2 ...] > tables.md

A cell is: paper / true features first / random order, each a mean over the seeds. A note below a table has its largest
standard error.
"""
import json
import sys
import textwrap
from pathlib import Path

NAMES = ("table1", "table2", "table3", "fig1", "fig2", "fig3")


def number(value, seconds):
    if value is None:
        return "–"
    return f"{value:.2g}" if seconds else f"{value:.3f}"


def row_line(row, seconds):
    cells = []
    for paper, first, random in zip(row["paper"], row["first"], row["random"]):
        shown = [number(first["mean"], seconds), number(random["mean"], seconds)]
        cells.append(" / ".join(([number(paper, seconds)] if paper is not None else []) + shown))
    if seconds:
        cells += [number(row[f"exponent_{order}"], True) for order in ("first", "random")]
    return f"| {row['title']} | " + " | ".join(cells) + " |"


def has_numbers(row):
    means = [cell["mean"] for cell in row["first"] + row["random"]]
    return any(value is not None for value in means + row["paper"])


def panel_lines(panel, seconds):
    points = [f"{at:.0%}" if at < 1 else f"{panel['axis']}={at:g}" for at in panel["at"]]
    points += ["exponent, true first", "random"] if seconds else []
    yield f"**{panel['title']}**\n"
    yield "| | " + " | ".join(points) + " |"
    yield "|---" * (len(points) + 1) + "|"
    rows = [row for row in panel["rows"] if has_numbers(row)]
    yield from (row_line(row, seconds) for row in rows)
    cells = [cell for row in rows for cell in row["first"] + row["random"] if cell["mean"] is not None]
    errors = [cell["error"] for cell in cells if cell["error"] is not None]
    seeds = max((cell["seeds"] for cell in cells), default=0)
    fewer = [row["title"] for row in rows
             if any(0 < cell["seeds"] < seeds for cell in row["first"] + row["random"])]
    note = f"Seeds: {seeds}" if seeds else "Nothing has run"
    note += f" (fewer in rows {'; '.join(fewer)})" if fewer else ""
    note += f"; standard errors up to {max(errors):.2g}." if errors else "."
    gaps = {}
    for row in panel["rows"]:
        for cell in row["first"] + row["random"]:
            if cell["mean"] is None and cell["note"] != "nothing to measure":
                reason = cell["note"].split(":")[0]
                if "cannot be fitted together" in cell["note"]:
                    reason = "more features than trusted samples"
                gaps.setdefault(reason, set()).add(row["title"])
    note += "".join(f" {reason[:1].upper()}{reason[1:]}: {'; '.join(sorted(titles))}."
                    for reason, titles in sorted(gaps.items()))
    yield "\n" + textwrap.fill(note, 120, break_on_hyphens=False) + "\n"


def main():
    folder, names = Path(sys.argv[1]), sys.argv[2:] or NAMES
    for name in names:
        path = folder / f"{name}.json"
        if not path.exists():
            continue
        result = json.loads(path.read_text())
        print(f"## {result['title']}\n")
        for panel in result["panels"]:
            print("\n".join(panel_lines(panel, result["measure"] == "seconds")))


if __name__ == "__main__":
    main()
