"""The tables of docs/rivals.md from the rows of rivals_tables.py. The page has a pair of markers for each section."""
import re
import textwrap

import numpy as np

OURS = ("roofs", "roofs, CV")
REFERENCES = ("oracle", "constant")   # neither ours nor peers
ORACLES = ("RidgeCV", "LassoCV")      # the better one without corruption is the oracle of a real table
DRAWN = (.95, 1.05)                   # ratios of errors between these count as equal
SECTIONS = ("tables", "attacks")
UNMEASURED = ""                       # in place of a ratio; None: the method failed


def markers(section):
    return f"<!-- {section}: made by bench/rivals_tables.py -->", f"<!-- {section}: end -->"


def mean(ratios):
    """The geometric mean, or None."""
    return float(np.exp(np.mean(np.log(ratios)))) if len(ratios) else None


def text_of(ratio):
    if ratio in (None, UNMEASURED):
        return "–" if ratio is None else ratio
    return f"{ratio:.2f}" if ratio < 10 else f"{ratio:.0f}" if ratio < 1000 else f"{ratio:.0e}".replace("e+0", "e")


class Results:
    """Errors as multiples of the oracle's: ratios[cell][method]. A cell is (set, attack, share). A method has a ratio
    if it succeeded on every seed that it was given; it is compared with the oracle on these seeds."""

    def __init__(self, rows, methods):
        self.rows = list(rows)
        self.errors = {}
        for r in self.rows:
            cell = r["set"], r["attack"], float(r["share"])
            error = float(r["mae"]) if r["mae"] else None
            self.errors.setdefault(cell, {}).setdefault(r["method"], {})[int(r["seed"])] = error
        self.methods = [m for m in methods if any(m in by for by in self.errors.values())]
        self.missing = [m for m in methods if m not in self.methods and m not in REFERENCES]
        self.peers = [m for m in self.methods if m not in OURS + REFERENCES]
        self.ratios = {cell: self._of_cell(cell) for cell in self.errors}
        self.best = {cell: min((by[m], m) for m in self.peers if by.get(m))
                     for cell, by in self.ratios.items() if any(by.get(m) for m in self.peers)}

    def _oracle(self, cell):
        """{seed: error}"""
        if "oracle" in self.errors[cell]:
            return self.errors[cell]["oracle"]
        clean = self.errors.get((cell[0], "none", 0.0), {})
        known = [clean[m] for m in ORACLES if m in clean]
        return min(known, key=lambda by: np.mean(list(by.values()))) if known else {}

    def _of_cell(self, cell):
        oracle, out = self._oracle(cell), {}
        for method, by in self.errors[cell].items():
            seeds = [s for s in by if s in oracle]
            if seeds and None not in by.values():
                out[method] = np.mean([by[s] for s in seeds]) / np.mean([oracle[s] for s in seeds])
        return out

    def over(self, method, other, cells=None):
        """The ratios of errors method / other on the cells that both have. Other may be None: the best peer."""
        pairs = [(self.ratios[c].get(method), self.best[c][0] if other is None else self.ratios[c].get(other))
                 for c in cells or self.best if c in self.best]
        return np.array([a / b for a, b in pairs if a is not None and b is not None])

    def seeds(self, method):
        counts = [len(by[method]) for by in self.errors.values() if method in by]
        return min(counts), max(counts)

    def seconds(self, method):
        return float(np.median([float(r["seconds"]) for r in self.rows if r["method"] == method and r["mae"]] or [0]))


# ---- tables --------------------------------------------------------------------------------------

def table(titles, rows):
    return ["| " + " | ".join(titles) + " |", "|---" * len(titles) + "|",
            *("| " + " | ".join(row) + " |" for row in rows), ""]


def score(results, ours, other):
    """'mean: won / drawn / lost'"""
    ratios = results.over(ours, other)
    if not len(ratios):
        return "–"
    won, lost = int((ratios < DRAWN[0]).sum()), int((ratios > DRAWN[1]).sum())
    return f"{mean(ratios):.2f}: {won} / {len(ratios) - won - lost} / {lost}"


def summary(results):
    """Every method against the best peer and the oracle, and ours against every peer."""
    ours = [m for m in OURS if m in results.methods]
    titles = ["method", "cells", "over the best peer", "over the oracle", "within 5% of the best peer",
              "above twice the best peer", "seconds"] + [f"`{m}` over it: won / drawn / lost" for m in ours]
    rows = [["best peer of each cell", str(len(results.best)), "1.00",
             text_of(mean([b for b, _ in results.best.values()])), str(len(results.best)), "0", "–",
             *(score(results, m, None) for m in ours)]]
    for method in results.methods:
        ratios = results.over(method, None)
        oracle = [results.ratios[c][method] for c in results.best if method in results.ratios[c]]
        if method == "oracle" or not len(ratios):
            continue
        rows.append([method, str(len(ratios)), text_of(mean(ratios)), text_of(mean(oracle)),
                     str(int((ratios <= DRAWN[1]).sum())), str(int((ratios > 2).sum())),
                     f"{results.seconds(method):.2f}",
                     *("" if method in OURS else score(results, m, method) for m in ours)])
    return table(titles, rows)


def grid(results, columns, value):
    """Methods by columns. columns: {title: key}; value(method, key) is a ratio, None or UNMEASURED. The smallest is
    bold."""
    methods = [m for m in results.methods if m != "oracle"]
    values = {m: [value(m, key) for key in columns.values()] for m in methods}
    best = [min((values[m][k] for m in methods if values[m][k] and m not in REFERENCES), default=None)
            for k in range(len(columns))]
    rows = []
    for m in methods:
        texts = [text_of(v) for v in values[m]]
        rows.append([m, *(f"**{t}**" if v and m not in REFERENCES and t == text_of(b) else t
                          for t, v, b in zip(texts, values[m], best))])
    return table(["method", *columns], rows)


def percent(attack, share):
    return f"{attack} {100 * share:.0f}%" if share else attack


def of_tables(results):
    """The geometric mean over the sets, then every set."""
    kinds = list(dict.fromkeys((attack, share) for _, attack, share in results.best))
    order = {"none": 0, "uniform": 1, "constant": 2, "swap": 3}
    columns = {percent(*k): k for k in sorted(kinds, key=lambda k: (order[k[0]], k[1]))}
    sets = sorted({cell[0] for cell in results.best})

    def over_sets(method, kind):
        return mean(results.over(method, None, [(name, *kind) for name in sets]))
    lines = ["### Every method over the best peer: geometric mean over the sets", "",
             *grid(results, columns, over_sets)]
    for name in sets:
        def of_set(method, kind, name=name):
            return mean(results.over(method, None, [(name, *kind)]))
        lines += [f"### {name}", "", *grid(results, columns, of_set)]
    return lines


def of_attacks(results):
    def of_cell(method, cell):
        return results.ratios[cell].get(method, None if method in results.errors[cell] else UNMEASURED)
    lines = []
    for share in sorted({cell[2] for cell in results.best}):
        columns = {cell[1]: cell for cell in results.best if cell[2] == share}
        lines += [f"### {share:.0%} of the responses corrupted" if share else "### No corruption", "",
                  *grid(results, columns, of_cell)]
    return lines


def origin(results):
    """When the rows were made, with which versions, and what is missing."""
    made = {}
    for r in results.rows:
        if r["method"] not in REFERENCES:
            made.setdefault(r["made"], set()).add(r["version"])
    text = "Made " + "; ".join(f"on {day} with {', '.join(sorted(by))}" for day, by in sorted(made.items())) + "."
    most = max(results.seeds(m)[1] for m in results.methods)
    fewer = [f"{m} {low}" for m in results.methods for low, _ in [results.seeds(m)] if low < most]
    text += f" Splits or seeds of a cell: {most}" + (f"; fewer in some cells: {'; '.join(fewer)}." if fewer else ".")
    text += f" Not measured: {'; '.join(results.missing)}." if results.missing else ""
    failed = sorted({m for by in results.errors.values() for m, seeds in by.items() if None in seeds.values()})
    text += f" A dash: at least one fit of the cell failed ({'; '.join(failed)})." if failed else ""
    return [*textwrap.wrap(text, 120, break_on_hyphens=False), ""]


def section(rows, methods, lines):
    results = Results(rows, methods)
    if not results.best:
        return ["Nothing has been measured.", ""]
    return [*origin(results), *summary(results), *lines(results)]


def write(page, rows, methods):
    rows = list(rows)
    parts = {"tables": section([r for r in rows if r["set"] != "synthetic"], methods, of_tables),
             "attacks": section([r for r in rows if r["set"] == "synthetic"], methods, of_attacks)}
    text = page.read_text(encoding="utf-8")
    for name in SECTIONS:
        begin, end = markers(name)
        if begin not in text or end not in text:
            raise SystemExit(f"{page}: the markers {begin} and {end} are missing; add them where the tables belong")
        made = "\n".join([begin, "", *parts[name], end])
        text = re.sub(f"{re.escape(begin)}.*?{re.escape(end)}", lambda _, made=made: made, text, flags=re.S)
    page.write_text(text, encoding="utf-8")
