"""bench/rivals_tables.py and its page: the cache, absent peers, and the arithmetic of the tables."""
import sys
from argparse import Namespace
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parent.parent.parent / "bench"))
import rivals_page
import rivals_tables

METHODS = ("roofs", "RidgeCV", "LassoCV", "other")


def row(attack, method, seed, error, name="autos"):
    share = 0.0 if attack == "none" else .1
    return {"set": name, "attack": attack, "share": str(share), "seed": str(seed), "method": method,
            "mae": "" if error is None else str(error), "seconds": "1", "version": f"{method} 1", "made": "2026-01-01"}


def results(*more):
    """The oracle is RidgeCV without corruption: 1 and 3, on average 2."""
    clean = [row("none", m, s, e) for m, by in (("RidgeCV", (1, 3)), ("LassoCV", (2, 4))) for s, e in enumerate(by)]
    return rivals_page.Results([*clean, *more], METHODS)


def test_errors_are_ratios_to_the_better_clean_fit():
    found = results(row("swap", "other", 0, 3), row("swap", "other", 1, 5), row("swap", "roofs", 0, 2),
                    row("swap", "roofs", 1, 2))
    assert found.ratios["autos", "swap", .1] == {"other": 2, "roofs": 1}
    assert found.best["autos", "swap", .1] == (2, "other")


def test_few_seeds_are_compared_with_the_oracle_on_these_seeds():
    found = results(row("swap", "other", 1, 6))
    assert found.ratios["autos", "swap", .1]["other"] == 2


def test_failure_on_one_seed_leaves_the_cell_out():
    found = results(row("swap", "other", 0, 3), row("swap", "other", 1, None), row("swap", "RidgeCV", 0, 4))
    assert "other" not in found.ratios["autos", "swap", .1]
    assert found.best["autos", "swap", .1] == (4, "RidgeCV")


def test_won_drawn_and_lost_cells_are_counted():
    rows = [row("none", m, 0, 1, name) for name in "abc" for m in ("RidgeCV", "LassoCV")]
    rows += [row("none", "roofs", 0, error, name) for name, error in zip("abc", (.5, 1.04, 2))]
    assert rivals_page.score(rivals_page.Results(rows, METHODS), "roofs", "RidgeCV") == "1.01: 1 / 1 / 1"


def test_page_keeps_what_is_outside_the_markers(tmp_path):
    page = tmp_path / "page.md"
    page.write_text("before\n" + "\n".join(m for s in rivals_page.SECTIONS for m in rivals_page.markers(s)) + "\nafter")
    rows = results(row("swap", "other", 0, 3), row("swap", "other", 1, 5)).rows
    for _ in range(2):
        rivals_page.write(page, rows, METHODS)
    text = page.read_text()
    assert text.startswith("before\n") and text.endswith("\nafter") and text.count("### autos") == 1
    text = " ".join(text.split())
    assert "Not measured: roofs." in text and "Nothing has been measured." in text


def test_page_without_markers_is_refused(tmp_path):
    page = tmp_path / "page.md"
    page.write_text("no markers")
    with pytest.raises(SystemExit, match="markers"):
        rivals_page.write(page, results().rows, METHODS)


@pytest.fixture
def args(tmp_path):
    return Namespace(tables=None, cache=tmp_path / "fits.csv", only="oracle,constant", again=False, splits=0, seeds=1,
                     limit=60)


def test_second_run_fits_nothing_but_what_is_asked_again(args, capsys):
    for again, fits in ((False, 2 * 67), (False, 0), (True, 2 * 67)):
        args.again = again
        rivals_tables.fit_all(args, None)
        assert capsys.readouterr().err.endswith(f"\n{fits} fits\n" if fits else "0 fits\n")
    assert len(rivals_tables.read(args.cache)) == 2 * 67


def test_absent_peers_are_left_out_with_a_line(args, capsys, tmp_path, monkeypatch):
    monkeypatch.setenv("PATH", str(tmp_path))
    peers = rivals_tables.Peers(tmp_path, 60)
    assert list(rivals_tables.methods(peers, "robustHD sparseLTS, half")) == []
    assert "Rscript is not installed: robustHD sparseLTS, half is left out" in capsys.readouterr().err
