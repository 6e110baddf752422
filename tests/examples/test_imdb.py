"""examples/imdb in a short form: fewer reviews, fewer words."""
import os
import subprocess

import pytest

from conftest import PROGRAM, ROOT

DATA = ROOT.parent / "shared" / "data" / "imdb"


def test_short_form_of_the_reviews_runs(tmp_path):
    if not (DATA / "labeledBow.train.feat.xz").exists():
        pytest.skip(f"{DATA} has no labeledBow.train.feat.xz: get the Large Movie Review Dataset (Maas et al. 2011)")
    knobs = {"ROOFS": str(PROGRAM), "REVIEWS": "3000", "WORDS": "2000", "MU": "300", "SHARES": "0.05 0.40",
             "PYTHONDONTWRITEBYTECODE": "1"}
    done = subprocess.run([ROOT / "examples" / "imdb" / "run.sh", DATA, tmp_path], env={**os.environ, **knobs},
                          capture_output=True,
                          text=True, timeout=600)
    assert done.returncode == 0, done.stderr
    errors = [float(line.split()[-1]) for line in done.stdout.splitlines() if line.startswith("corrupted")]
    assert len(errors) == 2 and errors[0] < 2.05 and errors[1] < 2.25, errors   # a constant has 3.2
    lower, higher = (line.split(": ")[1].split() for line in done.stdout.splitlines()[-2:])
    assert len({"worst", "awful", "bad", "boring", "waste", "terrible", "poor"} & set(lower)) >= 4, lower
    assert len({"great", "excellent", "best", "wonderful", "perfect", "amazing", "loved"} & set(higher)) >= 4, higher
