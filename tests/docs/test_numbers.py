"""Numbers on the pages are those of the files they come from. Each check first finds a planted wrong number."""
import csv
import json
import re
from collections import defaultdict
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent.parent
DOCS = ROOT / "docs"
TITLES = {row["title"]: row["name"] for row in json.loads((ROOT / "experiments/rows.json").read_text())}
EXPERIMENTS = {name: json.loads((ROOT / f"experiments/{name}.json").read_text())["title"]
               for name in ("table1", "table2", "table3", "fig1", "fig2", "fig3")}


def read(path):
    with open(DOCS / path, encoding="utf-8") as lines:
        return list(csv.DictReader(lines))


# ---- docs/reproduction.md ------------------------------------------------------------------

def shown(text, seconds):
    """A number as markdown.py writes it."""
    if text in ("", None):
        return "–"
    return f"{float(text):.2g}" if seconds else f"{float(text):.3f}"


def expected_cells(name):
    """{(panel, row): [cell]} as the page should have them."""
    cells = defaultdict(list)
    for line in read(f"reproduction/{name}.csv"):
        numbers = [line["paper"]] if line["paper"] else []
        seconds = line["measure"] == "seconds"
        cells[line["panel"], line["row"]].append(
            " / ".join(shown(v, seconds) for v in (*numbers, line["first_mean"], line["random_mean"])))
    return cells


def cells_of_page(text, title):
    """{(panel, row): [cell]} of the section with this title."""
    section = text.split(f"\n## {title}\n")[1].split("\n## ")[0]
    cells, panel = {}, None
    for line in section.split("\n"):
        if heading := re.fullmatch(r"\*\*(.*)\*\*", line):
            panel = heading.group(1)
        elif line.startswith("| ") and panel:
            first, *rest = [cell.strip().replace("\\*", "*") for cell in line.strip("|").split(" | ")]
            if first in TITLES:
                cells[panel, TITLES[first]] = rest
    return cells


def wrong_cells(text, name):
    expected, page = expected_cells(name), cells_of_page(text, EXPERIMENTS[name])
    assert len(page) > 5, f"the page has no table {name}"
    return [(key, got, want) for key, cells in page.items() for got, want in zip(cells, expected[key]) if got != want]


@pytest.mark.parametrize("name", EXPERIMENTS)
def test_reproduced_numbers_are_those_of_the_csv(name):
    assert wrong_cells((DOCS / "reproduction.md").read_text(), name) == []


def test_wrong_reproduced_number_is_found():
    text = (DOCS / "reproduction.md").read_text()
    assert wrong_cells(text.replace("0.991 / 0.974 / 0.977", "0.991 / 0.975 / 0.977"), "table1")


# ---- the summary of docs/reproduction.md -----------------------------------------------------

def differences(name, order):
    """Ours minus the paper's, of the published method, where both exist."""
    return [float(line[f"{order}_mean"]) - float(line["paper"]) for line in read(f"reproduction/{name}.csv")
            if line["row"] == "roofs" and line["paper"] and line[f"{order}_mean"]]


@pytest.mark.parametrize("name, title, margin, low", [("table1", "Table 1", 0.03, False),
                                                      ("table2", "Table 2", 0.03, False),
                                                      ("table3", "Table 3", 0.1, True)])
def test_summary_is_that_of_the_csv(name, title, margin, low):
    line = next(line for line in (DOCS / "reproduction.md").read_text().split("\n") if line.startswith(f"| {title},"))
    for cell, order in zip(line.split(" | ")[1:], ("first", "random")):
        found = differences(name, order)
        reached = sum((-d if low else d) >= -margin for d in found)
        mean = sum(found) / len(found)
        assert f"{reached} of {len(found)}" in cell and f"{mean:+.3f}".replace("-", "−") in cell, cell


# ---- README.md ---------------------------------------------------------------------------------

# What the README repeats, and the page that measured it.
REPEATED = (
    ("docs/gpu.md", ("0.0257 s",), r"\| time on a GPU .*\| (26) ms \|"),
    ("docs/reproduction.md", ("0.389",), r"RoOFS \(2018\), `--method roofs`.*\*\*(0\.389) / "),
    ("docs/roofs-bayes.md", ("1.79",), r"words in file order or shuffled \| (1\.79) \|"),
    ("docs/roofs-bayes.md", ("3.29",), r"\| a constant \| (3\.29) \|"),
)


@pytest.mark.parametrize("page, numbers, pattern", REPEATED)
def test_readme_repeats_what_the_pages_measure(page, numbers, pattern):
    assert re.search(pattern, (ROOT / "README.md").read_text()), pattern
    assert all(number in (ROOT / page).read_text() for number in numbers), page


@pytest.mark.parametrize("sentence", ["12 to 15% more accurate"])
def test_stale_sentences_stay_away(sentence):
    pages = [*DOCS.glob("*.md"), ROOT / "README.md"]
    assert [page.name for page in pages if sentence in page.read_text()] == []
