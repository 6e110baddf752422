"""Groups and errors of the program against the slow reference, on random problems."""
import numpy as np
import pytest

import groups_fit
import groups_reference as groups
from problems import run_program

PROBLEMS = 12
MANY_SAMPLES = {12: 600, 13: 1100}       # where correlations are first computed on some of the samples


def make_problem(seed):
    """Features in blocks of five that look alike, more or less; responses of some, every other time corrupted."""
    rng = np.random.default_rng(7000 + seed)
    n, p, alike = int(rng.integers(60, 110)), int(rng.integers(20, 45)), (0.3, 0.9, 0.99)[seed % 3]
    n = MANY_SAMPLES.get(seed, n)
    common = rng.standard_normal((p // 5 + 1, n))
    x = np.array([np.sqrt(alike) * common[j // 5] + np.sqrt(1 - alike) * rng.standard_normal(n) for j in range(p)])
    y = sum(x[j] * rng.choice((-1, 1)) for j in rng.choice(p, int(rng.integers(2, 5)), replace=False))
    y = y + 0.5 * rng.standard_normal(n)
    if seed % 2:
        wrong = rng.choice(n, n // 10, replace=False)
        y[wrong] += rng.uniform(-20, 20, len(wrong))
    settings = {"mu": int(rng.integers(4, p)), "batch": int(rng.integers(3, p)), "passes": (1, 2, "auto")[seed % 3],
                "hypotheses": 2}
    return x, y, settings


def disagreement(model, end, complete):
    """What differs, or None."""
    want = groups.groups(end)[0] if end else []
    got = model["groups"]
    if [[m["index"] for m in g["members"]] for g in got] != [list(map(int, g.members)) for g in want]:
        return "members"
    unit = model["noise"]["scale"] / np.sqrt(groups.spread(end).s2) if want else 1   # a power of 2
    if not np.isclose(np.log2(unit), np.round(np.log2(unit)), atol=1e-5):
        return "noise"
    for g, w in zip(got, want):
        if not np.allclose([m["probability"] for m in g["members"]], w.probability, atol=2e-3):
            return "probabilities"
        got_now = [g["exists"], g["effect"] / unit, g["error"] / unit, np.log(max(g["fdr"], 1e-300))]
        wanted = [w.exists, w.effect, w.error, np.log(max(w.discovered, 1e-300))]
        if not np.allclose(got_now, wanted, rtol=2e-2, atol=1e-6):   # rounds end where an effect moves by 1e-3
            return "effect"
        if g["complete"] != complete:
            return "complete"
    return None


@pytest.mark.parametrize("seeds", (*(range(k, PROBLEMS, 3) for k in range(3)), list(MANY_SAMPLES)))
def test_groups_of_the_program_agree(program, tmp_path, seeds):
    wrong, found = [], 0
    for seed in seeds:
        x, y, settings = make_problem(seed)
        model = run_program(program, tmp_path / str(seed), x, y, "roofs-bayes", settings)
        _, end, complete = groups_fit.fit(x, y, **settings)
        difference = disagreement(model, end, complete)
        if difference:
            wrong.append((seed, difference))
        found += len(model["groups"])
    assert not wrong and found > 0, wrong


def test_comparison_can_fail(monkeypatch, program, tmp_path):
    """With another probability of a member, or another rate, the reference differs."""
    x, y, settings = make_problem(1)
    model = run_program(program, tmp_path / "m", x, y, "roofs-bayes", settings)
    _, end, complete = groups_fit.fit(x, y, **settings)
    assert disagreement(model, end, complete) is None
    monkeypatch.setattr(groups, "GRID", groups.GRID[:1])
    assert disagreement(model, end, complete) is not None
