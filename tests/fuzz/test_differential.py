"""The program against the references on problems drawn by structure; and that this can fail.

ROOFS_FUZZ_EXAMPLES: how many problems; with it they are new ones every time."""
import os
from pathlib import Path

import pytest

hypothesis = pytest.importorskip("hypothesis", reason="python3-hypothesis is not there")
import differential  # noqa: E402
from planted import plant  # noqa: E402

MANY = int(os.environ.get("ROOFS_FUZZ_EXAMPLES", 0))
BUILD = Path(os.environ.get("ROOFS_BUILD") or Path(__file__).resolve().parent.parent.parent / "build")


def search(program, examples, shrink=True, **where):
    """Raises where the program differs from the reference; gives (compared, drawn)."""
    counts = {"compared": 0, "drawn": 0}
    phases = [hypothesis.Phase.generate] + [hypothesis.Phase.shrink] * shrink

    @hypothesis.settings(max_examples=examples, derandomize=not MANY, deadline=None, database=None, phases=phases,
                         suppress_health_check=list(hypothesis.HealthCheck))
    @hypothesis.given(differential.problems().filter(lambda p: all(getattr(p, key) == value
                                                                   for key, value in where.items())))
    def run(problem):
        comparable, wrong = differential.disagreements(program, problem)
        counts["drawn"] += 1
        counts["compared"] += comparable
        assert not comparable or not wrong, f"{problem}\n" + "\n".join(wrong)
    run()
    return counts["compared"], counts["drawn"]


def test_program_and_references_agree(program):
    compared, drawn = search(program, MANY or 300)
    assert compared >= drawn / 2, f"only {compared} of {drawn} problems could be compared"


@pytest.mark.parametrize("where, file, old, new", [
    ({"method": "roofs"}, "src/robust/tau.c", "half = (n + 1) / 2; /* ceil(n/2) */", "half = n / 2;"),
    ({"method": "os"}, "src/robust/step.c", "return step_length(published, guard->curvature);",
     "return published * guard->curvature > 1 ? 1 / guard->curvature : published;"),
    ({"format": "csc"}, "src/stream/npz.c", "values[k] == 0.0", "values[k] == 0.5"),
], ids=lambda v: v if isinstance(v, str) and v.startswith("src") else "")
def test_planted_fault_is_found(tmp_path, where, file, old, new):
    if not (BUILD / "build.ninja").exists():
        pytest.skip("needs a Ninja build")
    wrong = plant(BUILD, "roofs", file, old, new, tmp_path)
    with pytest.raises(AssertionError):
        search(str(wrong), 200, shrink=False, **where)
