"""examples/gwas: simulated genotypes, a phenotype with exchanged people, regions against the truth."""
import json
import os
import re
import subprocess
import sys

from conftest import PROGRAM, ROOT


def test_regions_hold_causal_variants(tmp_path):
    done = subprocess.run([ROOT / "examples" / "gwas" / "run.sh", tmp_path, "--people", "600", "--variants", "500",
                           "--causal", "8"], capture_output=True, text=True,
                          env={**os.environ, "ROOFS": str(PROGRAM), "PYTHON": sys.executable}, timeout=100)
    assert done.returncode == 0, done.stderr
    hits, listed = re.search(r"(\d+) of (\d+) regions hold a causal variant; 8 variants", done.stdout).groups()
    assert int(listed) >= 4 and hits == listed
    assert len((tmp_path / "BMI.loco").read_text().splitlines()) == 24
    assert len((tmp_path / "score.csv").read_text().splitlines()) == 601
    assert "Probability along the genome" in (tmp_path / "report.html").read_text()
    assert json.loads((tmp_path / "model.HEIGHT.json").read_text())["trusted"] >= 590
