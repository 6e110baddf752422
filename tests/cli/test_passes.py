"""How often a fit reads its files, and what it keeps without --mu."""
import json
import os
import re
import threading

import numpy as np
import pytest

SUPPORT = [3, 30, 77, 110]


@pytest.fixture
def data(tmp_path):
    rng = np.random.default_rng(4)
    x = rng.standard_normal((120, 300))
    y = x[SUPPORT].sum(axis=0) * 2 + 0.3 * rng.standard_normal(300)
    y[:60] = rng.uniform(-30, 30, 60)
    np.save(tmp_path / "y.npy", y)
    np.save(tmp_path / "X.npy", x)
    np.save(tmp_path / "a.npy", x[:70])
    np.save(tmp_path / "b.npy", x[70:])
    return tmp_path


@pytest.fixture
def fit(roofs, data):
    """Fits and returns the printed summary and the model without its settings."""
    def run(*args, **more):
        done = roofs("fit", "--y", "y.npy", "--batch", 10, "--json", *args, "-o", "m.json", cwd=data, **more)
        model = json.loads((data / "m.json").read_text())
        assert model["settings"].pop("passes") == (args[args.index("--passes") + 1] if "--passes" in args else "auto")
        return json.loads(done.stdout), model
    return run


def test_files_are_read_until_the_selection_stands_still(fit):
    printed, model = fit("--mu", 6, "X.npy")
    assert printed["passes"] in (2, 3) and len(model["history"]) == 12 * printed["passes"]
    given, same = fit("--mu", 6, "X.npy", "--passes", printed["passes"])
    assert same == model and given["passes"] == printed["passes"]
    assert fit("--mu", 6, "a.npy", "b.npy")[1] == model
    assert fit("--mu", 6, "X.npy", "--passes", 1)[0]["passes"] == 1


def test_pipes_are_read_once(fit, data):
    once = fit("--mu", 6, "X.npy", "--passes", 1)[1]
    printed, model = fit("--mu", 6, "-", input=(data / "X.npy").read_bytes())
    assert printed["passes"] == 1 and model == once
    os.mkfifo(data / "pipe.npy")   # a second reading would wait forever
    writer = threading.Thread(target=lambda: (data / "pipe.npy").write_bytes((data / "X.npy").read_bytes()))
    writer.start()
    printed, model = fit("--mu", 6, "--orient", "features", "pipe.npy", timeout=60)
    writer.join()
    assert printed["passes"] == 1 and model == once


def test_nothing_is_read_again_in_vain(fit):
    assert fit("--mu", 120, "X.npy")[0]["passes"] == 1          # all features are kept
    assert fit("X.npy")[0]["passes"] == 1
    assert fit("--mu", 6, "--method", "roofs", "X.npy")[0]["passes"] == 1


@pytest.mark.parametrize("args, words", [
    (["--mu", 6, "--batch", 20], "up to 3 times, until the selection stands still"), ([], "once: it keeps all of them"),
    (["--mu", 6, "--passes", 2], "2 times \\(--passes\\)"), (["--mu", 6, "--passes", 1], "1 time "),
    (["--mu", 6, "--method", "os"], "once: --passes auto does not repeat method os")])
def test_explain_says_how_often_and_why(roofs, data, args, words):
    assert re.search("The fit reads the features " + words, roofs("fit", "--y", "y.npy", *args, "X.npy", "--explain",
                                                                  cwd=data).stdout)


def test_explain_recognises_pipes(roofs, data):
    done = roofs("fit", "--y", "y.npy", "--mu", 6, "-", "--explain", cwd=data, input=(data / "X.npy").read_bytes())
    assert "once: a pipe cannot be read again" in done.stdout


def test_interrupted_passes_are_resumed(roofs, data, fit):
    """From a checkpoint of each pass."""
    printed, whole = fit("--mu", 6, "X.npy")
    roofs("fit", "--y", "y.npy", "--batch", 10, "--mu", 6, "X.npy", "-o", "m.json", "-q", "--checkpoint", "ck",
          cwd=data)
    assert json.loads(roofs("inspect", "ck", "--json", cwd=data).stdout)["pass"] == printed["passes"]
    assert "of at most 3" in roofs("inspect", "ck", cwd=data).stdout
    resumed = json.loads(roofs("resume", "ck", "-o", "r.json", "--json", cwd=data).stdout)
    model = json.loads((data / "r.json").read_text())
    assert model["settings"].pop("passes") == "auto" and model == whole and resumed["passes"] == printed["passes"]


def test_features_are_added_after_automatic_passes(roofs, data):
    """New files are read once. Passes that are left follow if all files are given."""
    def fit(*files):
        roofs("fit", "--y", "y.npy", "--batch", 10, "--mu", 2, "--hypotheses", 1, *files, "-o", "m.json", "-q",
              "--checkpoint", "ck", cwd=data)
        return json.loads(roofs("inspect", "ck", "--json", cwd=data).stdout)["pass"]

    def resume(*files):
        printed = json.loads(roofs("resume", "ck", *files, "-o", "r.json", "--json", cwd=data).stdout)
        return printed, json.loads((data / "r.json").read_text())
    before = fit("a.npy")
    assert before > 1
    once, model = resume("b.npy")
    assert once["passes"] == before and once["features_seen"] == 120
    assert sum(batch["features"] for batch in model["history"]) == 70 * before + 50
    assert model["features"][-1]["index"] >= 70   # 77 and 110 matter
    assert resume("b.npy")[1] == model            # nothing is left to do
    again, model = resume("a.npy", "b.npy")
    assert again["passes"] == before + 1
    assert sum(batch["features"] for batch in model["history"]) == 70 * before + 50 + 120 * (again["passes"] - before)


def test_files_that_are_not_given_again_are_not_read_again(roofs, data, fit):
    roofs("fit", "--y", "y.npy", "--batch", 10, "--mu", 70, "a.npy", "-o", "m.json", "-q", "--checkpoint", "ck",
          cwd=data)
    printed = json.loads(roofs("resume", "ck", "b.npy", "-o", "r.json", "--json", cwd=data).stdout)
    assert printed["passes"] == 1 and printed["features_seen"] == 120
    roofs("fit", "--y", "y.npy", "--batch", 10, "--mu", 70, "a.npy", "-o", "m.json", "-q", "--checkpoint", "ck",
          cwd=data)
    printed = json.loads(roofs("resume", "ck", "a.npy", "b.npy", "-o", "r.json", "--json", cwd=data).stdout)
    assert printed["passes"] > 1
    model = json.loads((data / "r.json").read_text())
    assert model["settings"].pop("passes") == "auto" and model == fit("--mu", 70, "a.npy", "b.npy")[1]


# ---- mu --------------------------------------------------------------------------------------------------------------

def test_probabilities_select_without_mu(roofs, data, fit):
    printed, model = fit("X.npy")
    likely = {f["index"] for f in model["features"] if f["probability"] > 0.5}
    assert model["settings"]["mu"] == 120 and model["settings"]["select"] == "likely"
    assert printed["kept"] == len(model["features"]) > 100
    assert printed["selected"] == len(likely) < 20 and set(SUPPORT) <= likely
    shown = json.loads(roofs("inspect", "m.json", "--json", "--top", len(likely), cwd=data).stdout)
    assert shown["selected"] == len(likely) and shown["kept"] == printed["kept"]
    assert {f["index"] for f in shown["top"]} == likely
    assert f"{len(likely)} selected of {printed['kept']} kept" in roofs("inspect", "m.json", cwd=data).stdout


def test_given_mu_keeps_its_meaning(fit):
    printed, model = fit("--mu", 20, "X.npy")
    assert printed["selected"] == printed["kept"] == 20 and model["settings"]["select"] == "kept"
    printed, model = fit("--mu", 20, "--select", "likely", "X.npy")
    assert printed["selected"] < printed["kept"] == 20


def test_memory_limit_lowers_the_default(roofs, data, fit):
    text = roofs("fit", "--y", "y.npy", "--mu", 30, "--batch", 10, "--threads", 1, "X.npy", "--explain",
                 cwd=data).stdout
    limit = int(re.search(r"total of the fit +([0-9,]+) bytes", text).group(1).replace(",", ""))
    assert fit("X.npy", "--max-memory", limit, "--threads", 1)[1]["settings"]["mu"] == 30
    assert fit("X.npy", "--max-memory", limit - 1, "--threads", 1)[1]["settings"]["mu"] == 29
    done = roofs("fit", "--y", "y.npy", "X.npy", "--max-memory", "10k", cwd=data, ok=False)
    assert done.returncode == 5 and "one feature" in done.stderr


def test_evaluation_counts_the_selected(roofs, tmp_path):
    roofs("simulate", "-o", tmp_path / "d", "--n", 400, "--p", 100, "--mu", 10, "--corruption", 0.2)
    roofs("fit", "--y", tmp_path / "d/y.npy", tmp_path / "d/X.npy", "-o", tmp_path / "m.json", "-q")
    assert json.loads(roofs("evaluate", tmp_path / "m.json", tmp_path / "d").stdout)["feature_f1"] > 0.5
