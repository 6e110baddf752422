"""Pairs of samples whose responses were exchanged are found, and chance is not."""
import json

import numpy as np
import pytest

N, P, PAIRS = 300, 25, 8


def people(seed, explained, kind):
    """Responses with wrong ones among them: pairs that are exchanged, or one cycle of as many samples."""
    rng = np.random.default_rng(seed)
    x = rng.standard_normal((P, N))
    signal = (rng.choice((-1, 1), 5) * rng.uniform(1, 2, 5)) @ x[:5]
    y = signal / signal.std() + np.sqrt(1 / explained - 1) * rng.standard_normal(N)
    wrong = rng.permutation(N)[:2 * PAIRS]
    pairs = wrong.reshape(-1, 2)
    y[wrong] = y[pairs[:, ::-1].ravel()] if kind == "pairs" else y[np.roll(wrong, 1)]
    return x, y, {tuple(sorted(pair)) for pair in pairs.tolist()} if kind == "pairs" else set()


@pytest.fixture
def found(roofs, write_npy):
    def fit(*problem):
        x, y, pairs = people(*problem)
        out = roofs("fit", "--y", write_npy("y.npy", y), write_npy("X.npy", x), "--json").stdout
        told = {tuple(pair) for pair in json.loads(out).get("exchanged", [])}
        return told & pairs, told - pairs
    return fit


def test_exchanged_responses_are_found(found):
    right, wrong = zip(*(found(seed, .999, "pairs") for seed in range(5)))
    assert sum(map(len, right)) >= 0.7 * 5 * PAIRS
    assert sum(map(len, wrong)) <= 2


def test_longer_cycles_are_no_pairs(found):
    assert sum(len(found(seed, .999, "cycle")[1]) for seed in range(5)) <= 1


def test_models_that_explain_little_name_no_pairs(found):
    assert not any(found(seed, .5, "pairs")[1] for seed in range(3))


def test_pairs_are_named_by_id_and_kept_in_the_model(roofs, tmp_path):
    x, y, pairs = people(1, .9995, "pairs")
    rows = ["who,y," + ",".join(f"x{k}" for k in range(P))]
    rows += [f"person {i},{y[i]:.17g}," + ",".join(f"{v:.17g}" for v in x[:, i]) for i in range(N)]
    (tmp_path / "t.csv").write_text("\n".join(rows) + "\n")
    model = tmp_path / "m.json"
    err = roofs("fit", tmp_path / "t.csv", "--y", "y", "--id", "who", "-o", model).stderr
    stored = json.loads(model.read_text())["table"]["exchanged"]
    assert stored and all(tuple(pair) in pairs for pair in stored)
    sentence = "person {} and person {} look exchanged".format(*stored[0])
    assert sentence in err and sentence in roofs("inspect", model).stdout
    assert sentence in json.loads(roofs("inspect", model, "--json").stdout)["exchanged"]
    roofs("report", model, "-o", tmp_path / "r.html")
    assert sentence in (tmp_path / "r.html").read_text()
    roofs("predict", model, tmp_path / "t.csv", "-o", tmp_path / "out.csv")
