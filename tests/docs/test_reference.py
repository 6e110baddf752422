"""The generated references are complete: every call of the header, every verb and option of the program."""
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(ROOT / "docs" / "site"))
import header
import program as manual

HEADERS = [ROOT / "include/roofs" / name for name in ("roofs.h", "roofs_mpi.h")]


@pytest.fixture(scope="module")
def reference():
    return header.page(*HEADERS)


@pytest.fixture(scope="module")
def manual_page(program):
    return manual.page(str(program))


def sections(page):
    return set(re.findall(r"^### (\S+)$", page, flags=re.M))


def test_every_call_has_a_section(reference):
    calls = {name for path in HEADERS for name in re.findall(r"\b(roofs_\w+)\(", path.read_text())
             if not name.endswith("_sized")}
    assert len(calls) > 40 and calls <= sections(reference)


def test_every_struct_has_a_section(reference):
    structs = {name for path in HEADERS for name in re.findall(r"^typedef struct (\w+)", path.read_text(), flags=re.M)}
    assert len(structs) > 10 and structs <= sections(reference)


def test_values_of_an_enum_are_listed(reference):
    assert re.search(r"ROOFS_BAD_DATA = 3, +/\* the data cannot be used \*/", reference)
    assert "_ENUM(" not in reference and "ROOFS_CHECKED" not in reference


def test_lists_of_statuses_are_tables(reference):
    create = reference.split("### roofs_create\n")[1].split("\n### ")[0]
    assert "| `BAD_SETTING` |" in create and "double *y, int64_t n" in create


def test_links_lead_to_sections(reference):
    targets = set(re.findall(r"\]\(#([\w-]+)\)", reference))
    assert targets and targets <= {name.replace("_", "-").lower() for name in sections(reference)}


def test_every_verb_and_option_is_in_the_manual(manual_page, program):
    verbs = re.findall(r"^## roofs (\w+)$", manual_page, flags=re.M)
    assert {"fit", "predict", "reproduce"} <= set(verbs)
    for verb in verbs:
        text = subprocess.run([program, "help", verb], capture_output=True, text=True, check=True).stdout
        section = manual_page.split(f"## roofs {verb}\n")[1].split("\n## ")[0]
        options = re.findall(r"^  (?:-\w, |    )(--[\w-]+)", text, flags=re.M)
        assert options and all(f"`{option}" in section for option in options)


def test_continued_text_stays_in_its_row(manual_page):
    row = next(line for line in manual_page.split("\n") if line.startswith("| `--max-memory SIZE`"))
    assert "no limit" in row and row.endswith(" |")
