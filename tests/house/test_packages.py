"""What packages hold, as far as it can be checked without their tools."""
import re
import subprocess

import pytest
from rules import ROOT


def tracked():
    done = subprocess.run(["git", "ls-files"], cwd=ROOT, capture_output=True, text=True)
    if done.returncode != 0:
        pytest.skip("not a git checkout")
    return done.stdout.split("\n")[:-1]


def included(text):
    """The entries of sdist.include in pyproject.toml."""
    return set(re.findall(r'"/([^"]+)"', re.search(r"sdist\.include = \[(.*?)\]", text, re.S).group(1)))


def missing_in_sdist(files, text):
    return sorted({name.split("/")[0] for name in files} - included(text))


def test_source_distribution_holds_what_git_tracks():
    assert missing_in_sdist(tracked(), (ROOT / "pyproject.toml").read_text()) == []


def test_missing_entry_is_seen():
    assert missing_in_sdist(["src/a.c", "new/b.c"], 'sdist.include = [\n    "/src", "/r",\n]\n') == ["new"]


def test_version_stands_in_one_place():
    version = subprocess.run([ROOT / "scripts" / "version"], capture_output=True, text=True, check=True).stdout.strip()
    assert re.fullmatch(r"\d+\.\d+\.\d+", version)
    packages = [ROOT / name for name in tracked() if name.startswith(("r/", "packaging/")) or name == "pyproject.toml"]
    assert [str(path) for path in packages if version in path.read_text()] == []
