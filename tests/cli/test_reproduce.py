"""roofs reproduce: the reduced experiments, with only the quick answers where time matters, against the plain program
and what is known. Under sanitizers with fewer rows and one seed."""
import csv
import json
import lzma
import re
import shutil
import signal
import subprocess
import time

import numpy as np
import pytest
from pages import Page, browser, read_png, run_chromium

pytestmark = pytest.mark.skipif(not shutil.which("gnuplot"), reason="gnuplot is not installed")
REFERENCES = ("guess", "null", "first-mu", "oracle")
QUICK = ("--quick", "--patience", "0.016")      # leaves out what takes longer than this for one number
FEW = ("roofs", "null", "torrent")              # rows that are enough to stop and to continue


@pytest.fixture(scope="module")
def command(sanitized):
    """The arguments of one reduced run of Table 2 and Figure 2, quick answers only."""
    fewer = ("--rows", ",".join((*REFERENCES, "roofs", "torrent")), "--seeds", 1) if sanitized else ()
    return ["reproduce", "table2", "fig2", *QUICK, *map(str, fewer)]


@pytest.fixture(scope="module")
def reproduced(roofs, command, tmp_path_factory):
    """The folder of that run."""
    folder = tmp_path_factory.mktemp("reproduction")
    done = roofs(*command, "-o", folder, timeout=1800)
    lines = done.stdout.splitlines()
    assert lines[0] == "RoOFS (2018), smaller data than in the paper" and len(lines) == 1 + 2 * 2
    assert [line.split()[0] for line in lines[1::2]] == ["table2", "fig2"] and "report.html" in done.stderr
    assert "reproduced" not in done.stdout                  # other sizes: not judged
    return folder


def cells(folder, name):
    """{(panel, row, at): line} of a CSV file."""
    with open(folder / f"{name}.csv") as lines:
        return {(line["panel"], line["row"], float(line["at"])): line for line in csv.DictReader(lines)}


def trials(folder):
    """Everything but times, by trial."""
    entries = [json.loads(line) for line in (folder / "trials.jsonl").read_text().splitlines()]
    return {entry.pop("trial"): {k: v for k, v in entry.items() if k != "seconds"} for entry in entries}


# ---- what is run ---------------------------------------------------------------------------

def test_every_row_has_both_orders(reproduced):
    for name, panels, points in (("table2", 4, 6), ("fig2", 3, 5)):
        table = json.loads((reproduced / f"{name}.json").read_text())
        rows = [row["row"] for row in table["panels"][0]["rows"]]
        assert len(rows) == len(set(rows)) == 19 and set(REFERENCES) < set(rows)
        assert {"torrent", "torrent25", "torrent-joint", "homotopy-joint", "dalm-joint", "rlhh-joint", "os",
                "grafting"} < set(rows)
        assert len(table["panels"]) == panels and len(cells(reproduced, name)) == panels * points * len(rows)
        for panel in table["panels"]:
            for row in panel["rows"]:
                assert len(row["first"]) == len(row["random"]) == len(row["paper"]) == points
                for cell in row["first"] + row["random"]:
                    assert (cell["mean"] is None) == ("note" in cell)        # every gap has its reason


def test_references_of_table2_are_right(reproduced):
    for (panel, row, share), line in cells(reproduced, "table2").items():
        if panel.startswith("p=1K"):            # takes longer than the tests have patience
            continue
        if row == "guess":
            assert float(line["first_mean"]) == float(line["random_mean"]) == pytest.approx(share)
        if row == "oracle" and share == 0.1:
            assert float(line["first_mean"]) == float(line["random_mean"]) == 1
        if row == "null":
            assert float(line["first_mean"]) == float(line["random_mean"]) == 0
        if row == "first-mu" and share <= 0.3:
            assert float(line["first_mean"]) == 1 and float(line["random_mean"]) < share + 0.2


def test_references_of_fig2_are_right(reproduced):
    table = cells(reproduced, "fig2")
    for (panel, row, share), line in table.items():
        if row == "null":
            assert float(line["first_mean"]) == pytest.approx(1)
        # more features than clean samples follow: nobody's answer is good
        if row == "oracle" and share == 0.1:
            assert float(line["random_mean"]) < 0.5 and float(line["random_mean"]) <= float(table[panel, "roofs",
                                                                                                  share]["random_mean"])


def test_order_of_arrival_matters(reproduced):
    """What the whole reproduction is about."""
    first = random = 0
    for (panel, row, share), line in cells(reproduced, "table2").items():
        if row == "roofs" and share <= 0.3 and panel == "p=500, n=500":
            first, random = first + float(line["first_mean"]), random + float(line["random_mean"])
    assert first > 1.5 * random


@pytest.mark.parametrize("row, options", [("roofs", ["--method", "roofs"]), ("bayes", ["--method", "roofs-bayes"]),
                                          ("torrent", ["--method", "torrent", "--clean-ratio", "0.7"])])
@pytest.mark.parametrize("order", ["first", "random"])
def test_trial_agrees_with_the_program(reproduced, sanitized, roofs, tmp_path, row, options, order):
    if sanitized and row == "bayes":
        pytest.skip("takes a minute under sanitizers")
    roofs("simulate", "-o", tmp_path / "d", "--n", 500, "--p", 500, "--mu", 100, "--corruption", 0.3, "--order", order,
          "--seed", 1)
    roofs("fit", *options, "--passes", 1, "--mu", 100, "--batch", 5, "--no-intercept", "--no-standardize", "--orient",
          "features", "--y", tmp_path / "d/y.npy", tmp_path / "d/X.npy", "-o", tmp_path / "m.json")
    scores = json.loads(roofs("evaluate", tmp_path / "m.json", tmp_path / "d").stdout)
    found = trials(reproduced)[f"{row} n=500 p=500 mu=100 batch=5 corruption=0.3 noise=0.1 {order} seed=1"]
    assert found == pytest.approx(scores, abs=1e-12)


def test_paper_numbers_are_shown(reproduced):
    table = cells(reproduced, "table2")
    assert float(table["p=500, n=500", "roofs", 0.1]["paper"]) == 0.911
    assert float(table["p=500, n=500, no dense noise", "grafting", 0.6]["paper"]) == 0.797
    assert table["p=500, n=500", "bayes", 0.1]["paper"] == ""


def test_sizes_are_those_that_ran(reproduced):
    for (panel, _, share), line in cells(reproduced, "table2").items():
        n, p = int(line["n"]), int(line["p"])
        assert panel.startswith("p=1K" if p == 1000 else f"p={p}") and f"n={n}" in panel
        assert int(line["mu"]) == round(share * p) and n <= 500
    text = (reproduced / "report.html").read_text()
    assert "<h3 class=\"panel\">p=500, n=250 <small>in the paper: p=10K, n=5K</small>" in text


# ---- stopping and going on -------------------------------------------------------------------

def lines_of(path):
    return path.read_text().splitlines() if path.exists() else []


def stop_soon(command, journal):
    """Starts the command, and stops it when the journal has one more trial. Returns the exit code."""
    until, before = time.monotonic() + 120, len(lines_of(journal))
    running = subprocess.Popen(command, stderr=subprocess.PIPE, text=True)
    while len(lines_of(journal)) == before and running.poll() is None:
        assert time.monotonic() < until
        time.sleep(0.005)
    running.send_signal(signal.SIGINT)
    message = running.communicate(timeout=120)[1]
    assert running.returncode == 0 or (running.returncode == 130 and "continues" in message)
    return running.returncode


def test_stopped_run_is_continued(program, command, reproduced, tmp_path):
    """A few rows: stopped, stopped again, cut off, and run to the end."""
    journal = tmp_path / "r" / "trials.jsonl"
    few = [program, *command, "--rows", ",".join(FEW), "--no-page", "-q", "--threads", "1", "-o",
           tmp_path / "r"]
    wanted = {name: scores for name, scores in trials(reproduced).items() if name.split()[0] in FEW}
    assert stop_soon(few, journal) == 130 and len(lines_of(journal)) < len(wanted), "nothing was stopped"
    stop_soon(few, journal)
    with open(journal, "a") as file:
        file.write('{"trial":"roofs n=5')                     # as after a crash
    subprocess.run(few, check=True, timeout=1800)
    journal.write_text("\n".join(line for line in lines_of(journal) if not line.endswith("n=5")))
    assert trials(tmp_path / "r") == wanted
    whole, continued = (cells(folder, "table2") for folder in (reproduced, tmp_path / "r"))
    for cell, line in whole.items():
        assert cell[1] not in FEW or continued[cell] == line


def test_finished_run_does_nothing(roofs, command, reproduced):
    before = (reproduced / "trials.jsonl").read_bytes()
    assert "all trials have run" in roofs(*command, "-o", reproduced).stderr
    assert (reproduced / "trials.jsonl").read_bytes() == before


def test_explain_runs_nothing(roofs, tmp_path):
    done = roofs("reproduce", "all", "--imdb", tmp_path, "-o", tmp_path / "r", "--explain")
    assert "trials, about" in done.stderr and " h " in done.stderr and "table3 is left out" in done.stderr
    assert (tmp_path / "r" / "trials.jsonl").read_text() == "" and not (tmp_path / "r" / "report.html").exists()


def test_bad_uses_are_refused(roofs, tmp_path):
    for args, code, message in ((["table3", "--imdb", tmp_path], 3, "Large Movie Review Dataset"),
                             (["tabel1"], 2, "table1"), ([], 2, "table1"),
                             (["fig1", "--patience", "-1"], 2, "patience"),
                             (["fig1", "--quick", "-o", tmp_path / "f"], 1, "f")):
        (tmp_path / "f").write_text("a file")
        done = roofs("reproduce", *args, *([] if "-o" in args else ["-o", tmp_path / "r"]), ok=False)
        assert done.returncode == code and message in done.stderr, (args, done.stderr)


# ---- the page ----------------------------------------------------------------------------------

def test_words_missing_in_test_reviews_do_no_harm(program, tmp_path):
    """A file ends with its last word: the other one may have more."""
    rng = np.random.default_rng(0)
    for name, words in (("train", 1200), ("test", 5)):
        lines = (f"{rng.integers(1, 11)} " + " ".join(f"{j}:1" for j in sorted(rng.choice(words, 5, replace=False)))
                 for _ in range(1000))
        (tmp_path / f"labeledBow.{name}.feat.xz").write_bytes(lzma.compress("\n".join(lines).encode()))
    running = subprocess.Popen([program, "reproduce", "table3", "--quick", "--patience", "0.2", "--imdb", tmp_path,
                                "-o", tmp_path / "r", "-q"])
    journal = tmp_path / "r" / "trials.jsonl"
    while running.poll() is None and not (journal.exists() and journal.read_text().endswith("\n")):
        time.sleep(0.05)
    running.send_signal(signal.SIGINT)
    assert running.wait(120) == 130 and trials(tmp_path / "r")


def colours(page):
    return sum(page.count("td", **{"class": f"n {word}"}) for word in ("better", "near", "worse"))


def test_page_shows_the_results(reproduced):
    page = Page((reproduced / "report.html").read_text())
    assert page.count("svg", role="img") == 2 * (3 + 3) and "No method has run here" in page.text
    assert page.count("table") == 1 + 4 + 3
    assert set(page.loads) <= {"#gpPt6", "#table2", "#fig2"} and "order of arrival" in "".join(page.words)
    assert colours(page) == 0                               # the data has other sizes than in the paper
    assert "rgb(" not in page.text and "nan" not in page.text.lower().replace("domina", "")


def test_our_rows_come_first(reproduced):
    tables = (reproduced / "report.html").read_text().split("<table>")[1:]
    for table in tables:
        rows = re.findall(r'<tr(?: class="(\w+)")?><th scope="row">([^<]*)', table)
        kinds = [kind for kind, _ in rows]
        assert kinds == sorted(kinds, key=["ours", "", "reference"].index) and rows[0] == ("ours", "RoOFS (2018)")


@pytest.fixture
def journal_of_full_size(tmp_path):
    """A folder with one trial of full size of Table 2, as if it had run: `add(row, order, score)`."""
    def add(row, order, score):
        with open(tmp_path / "trials.jsonl", "a") as lines:
            trial = f"{row} n=10000 p=10000 mu=1000 batch=100 corruption=0.3 noise=0.1 {order} seed=1"
            lines.write(json.dumps({"trial": trial, "feature_f1": score}) + "\n")
    return add


def test_numbers_of_full_size_are_judged(roofs, journal_of_full_size, tmp_path):
    """The paper has 0.911 there."""
    for row, order, score in (("roofs", "first", 0.92), ("roofs", "random", 0.4), ("os", "first", 0.5),
                              ("os", "random", 0.5), ("null", "first", 0), ("null", "random", 0)):
        journal_of_full_size(row, order, score)
    done = roofs("reproduce", "table2", "--patience", 1e-6, "-o", tmp_path).stdout.splitlines()
    assert done[0] == "RoOFS (2018)"
    assert "reproduced: 1 of 1 settings reach the paper's number, mean difference +0.009" in done[1]
    assert "best of the paper's methods in 1 of 1; better than the null answer in 1 of 1" in done[1]
    assert "not reproduced: 0 of 1" in done[2] and "best of the paper's methods in 0 of 1" in done[2]
    page = Page((tmp_path / "report.html").read_text())
    assert colours(page) == 4 and page.count("svg", role="img") == 2       # three panels have no box


def test_all_numbers_are_printed_on_demand(roofs, journal_of_full_size, tmp_path):
    journal_of_full_size("roofs", "first", 0.5)
    text = roofs("reproduce", "table2", "--patience", 1e-6, "--tables", "-o", tmp_path).stdout
    assert "p=10K, n=10K" in text and re.search(r"RoOFS \(2018\) +paper +0\.911", text)


@browser
@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
@pytest.mark.parametrize("width", [390, 1200])
def test_browser_shows_the_page(reproduced, tmp_path, dark, width):
    frame, picture = tmp_path / "frame.html", tmp_path / "picture.png"
    frame.write_text(f'<body style="margin:0"><iframe src="{(reproduced / "report.html").as_uri()}" '
                     f'style="border:0;width:{width}px;height:3000px"></iframe>')
    scheme = ["--blink-settings=preferredColorScheme=0"] if dark else []
    _, complaints = run_chromium(tmp_path, frame, *scheme, "--allow-file-access-from-files",
                                 f"--window-size={width},3000", f"--screenshot={picture}")
    assert complaints == []
    seen_width, _, corner, rows = read_png(picture)
    assert seen_width == width and rows > 500 and (max(corner) < 60 if dark else min(corner) > 200)
