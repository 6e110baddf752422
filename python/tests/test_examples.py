"""Every example runs: the docstrings, and the code in the README and the documentation."""
import doctest
import importlib
import pkgutil
import re
import subprocess
import sys

import pytest
from conftest import ROOT

import roofs


@pytest.mark.parametrize("name", ["roofs"] + [f"roofs.{m.name}" for m in pkgutil.iter_modules(roofs.__path__)])
def test_docstrings_run(name):
    if name == "roofs.display":
        pytest.importorskip("matplotlib").use("agg")
    module = importlib.import_module(name)
    failed, tried = doctest.testmod(module)
    assert failed == 0 and (tried > 0 or name != "roofs.regressor")


PAGES = sorted(page.name for page in (ROOT / "docs").glob("*.md")
               if re.search(r"^```(python|sh)$", page.read_text(), flags=re.M))


def blocks(path):
    """(language, code) of every code block of a page, in order. A block `output` holds what the one above it prints."""
    return re.findall(r"^```(python|sh|output)\n(.*?)^```", path.read_text(), flags=re.M | re.S)


def test_readme_runs():
    names = {}
    exec("".join(code for language, code in blocks(ROOT / "README.md") if language == "python"), names)
    assert names["model"].n_inliers_ in range(395, 405) and len(names["model"].selected_indices_) == 5


@pytest.mark.parametrize("page", PAGES)
def test_pages_of_the_documentation_run(page, tmp_path, monkeypatch, program, capsys):
    """One page is one session of Python and shell, in a folder of its own. It prints what the page shows."""
    for module in ("matplotlib", "pandas", "pyarrow"):
        pytest.importorskip(module)
    importlib.import_module("matplotlib").use("agg")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PATH", str(program.parent), prepend=":")
    names, printed = {}, ""
    for language, code in blocks(ROOT / "docs" / page):
        if language == "output":
            assert printed == code
            continue
        capsys.readouterr()
        if language == "sh":
            done = subprocess.run(["sh", "-e"], input=code, stdout=subprocess.PIPE, text=True, check=True)
            print(done.stdout, end="")
        else:
            exec(compile(code, page, "exec"), names)
        printed = capsys.readouterr().out


def test_sensors_of_the_example_are_found():
    """Two groups of answers: with true and with wrong responses. The lasso finds nothing in the latter."""
    done = subprocess.run([sys.executable, ROOT / "examples" / "uncertainty" / "sensors.py"], capture_output=True,
                          text=True, check=True)
    answers = dict(part.split("\n", 1) for part in done.stdout.split("\n\n")[1:])
    assert answers["lasso, some yields wrong"].strip() == "nothing"
    for title in ("roofs, all yields right", "roofs, some yields wrong"):
        groups = answers[title].strip().split("\n")
        assert len(groups) == 3
        for cause in ("furnace 3", "valve 6", "mixer 1"):
            assert sum(cause in group and cause.split()[0] in group for group in groups) == 1
    records = answers["roofs, new records"]
    assert 86 < float(re.search(r"hold ([\d.]+)%", records).group(1)) < 95
    assert re.search(r"(\d+) records are not trusted, (\d+) of the (\d+) wrong", records).groups() == ("58",) * 3


def test_pages_are_found():
    assert {"tour.md", "guide.md", "recipes.md"} <= set(PAGES)
