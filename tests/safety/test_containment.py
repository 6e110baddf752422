"""What a model or a header says can neither write outside the output that the user named nor start anything."""
import hashlib
import io
import json
import os
import zipfile

import numpy as np
import pytest

EVIL = ["../outside", "../../outside", "/tmp/roofs-outside", "a/../../outside", "$(touch outside)", "`touch outside`",
        "; touch outside",
        "| touch outside", "%s%n%p", "-o", "outside\nset output 'outside'", "'; system \"touch outside\"; '",
        "<script>alert(1)</script>"]


def tree(root):
    """Every file below `root`: path -> digest."""
    return {str(p.relative_to(root)): hashlib.sha256(p.read_bytes()).hexdigest() if p.is_file() else "folder"
            for p in root.rglob("*")}


@pytest.fixture
def cage(tmp_path):
    """cage(roofs, *args): runs in a folder of its own and gives (result, files that are new or changed anywhere around
    it)."""
    inside = tmp_path / "outer" / "inner"
    inside.mkdir(parents=True)

    def run(roofs, *args, **more):
        before = tree(tmp_path)
        done = roofs(*args, cwd=inside, ok=False, **more)
        after = tree(tmp_path)
        return done, sorted(path for path in after if after[path] != before.get(path) and after[path] != "folder")
    run.folder = inside
    return run


def evil_model(names):
    return {"format": "roofs-model", "version": 1, "library": EVIL[1], "method": EVIL[4], "n": 5,
            "features_seen": len(names),
            "constant_features": 0, "trusted": 4, "rounds": 2, "intercept": 0.5,
            "features": [{"index": k, "name": name, "coef": 1.0 + k} for k, name in enumerate(names)], "outliers": [1],
            "residuals": {"cut": 0.1, "quantiles": [-0.1, 0.0, 0.1, 0.2, 7.5]},
            "settings": {"mu": len(names), "method": EVIL[0], "output": "../outside", EVIL[2]: EVIL[5]},
            "history": [{"features": len(names), "rounds": 2, "selected": len(names), "entered": len(names),
                         "trusted": 4, "cut": 0.1, "step": 0.1}],
            "stop": "settled"}


@pytest.mark.parametrize("args, written", [
    (["inspect", "evil.json"], []),
    (["inspect", "evil.json", "--json"], []),
    (["predict", "evil.json", "X.csv"], []),
    (["predict", "evil.json", "X.csv", "-o", "yhat.npy"], ["yhat.npy"]),
    (["report", "evil.json", "-o", "page.html"], ["page.html"]),
], ids=lambda v: " ".join(v) if v else "nothing")
def test_models_stay_contained(roofs, cage, args, written):
    (cage.folder / "evil.json").write_text(json.dumps(evil_model(EVIL)))
    header = ",".join('"' + name.replace('"', '""').replace("\n", " ") + '"' for name in EVIL)
    (cage.folder / "X.csv").write_text(header + "\n" + "\n".join(",".join("1" for _ in EVIL) for _ in range(5)) + "\n")
    names = [name.replace("\n", " ") for name in EVIL]
    (cage.folder / "evil.json").write_text(json.dumps(evil_model(names)))
    done, changed = cage(roofs, *args)
    assert done.returncode == 0, done.stderr
    assert changed == [f"outer/inner/{name}" for name in written]


def test_report_runs_nothing(roofs, cage):
    """Names go into a page and into a script of gnuplot: both as text."""
    (cage.folder / "evil.json").write_text(json.dumps(evil_model(EVIL)))
    done, changed = cage(roofs, "report", "evil.json", "-o", "page.html")
    assert done.returncode == 0 and changed == ["outer/inner/page.html"]
    assert "<script>alert" not in (cage.folder / "page.html").read_text()


def test_names_in_headers_stay_contained(roofs, cage):
    rng = np.random.default_rng(0)
    names = [name.replace("\n", " ") for name in EVIL]
    x = rng.standard_normal((len(names), 40))
    header = ",".join('"' + name.replace('"', '""') + '"' for name in names)
    (cage.folder / "X.csv").write_text(header + "\n" + "\n".join(",".join(map(str, row)) for row in x.T) + "\n")
    np.savetxt(cage.folder / "y.csv", x[0] + 0.1 * rng.standard_normal(40))
    done, changed = cage(roofs, "fit", "--y", "y.csv", "--mu", 5, "X.csv", "-o", "model.json", "--trace", "trace.json",
                         "--quiet")
    assert done.returncode == 0, done.stderr
    assert changed == ["outer/inner/model.json", "outer/inner/trace.json"]
    done, changed = cage(roofs, "report", "model.json", "--trace", "trace.json", "-o", "page.html")
    assert done.returncode == 0, done.stderr
    assert changed == ["outer/inner/page.html"]


def test_members_of_archives_stay_contained(roofs, cage):
    """Members with paths are neither unpacked nor taken for the arrays they resemble."""
    def npy(values):
        to = io.BytesIO()
        np.save(to, values)
        return to.getvalue()
    with zipfile.ZipFile(cage.folder / "X.npz", "w") as archive:
        for name in ("../outside.npy", "../indices.npy", "/tmp/roofs-outside.npy"):
            archive.writestr(name, npy(np.arange(3)))
    np.save(cage.folder / "y.npy", np.arange(5.0))
    done, changed = cage(roofs, "fit", "--y", "y.npy", "--mu", 1, "X.npz", "-o", "model.json")
    assert done.returncode == 3 and changed == []


def test_arrays_of_objects_are_not_unpickled(roofs, cage):
    class Bomb:
        def __reduce__(self):
            return os.system, ("touch outside",)
    np.save(cage.folder / "X.npy", np.array([Bomb(), 1], dtype=object), allow_pickle=True)
    np.save(cage.folder / "y.npy", np.arange(5.0))
    done, changed = cage(roofs, "fit", "--y", "y.npy", "--mu", 1, "X.npy", "-o", "model.json")
    assert done.returncode == 3 and "objects" in done.stderr and changed == []


def test_escapes_are_noticed(roofs, cage):
    """That the look around would notice: a user may name a place outside."""
    (cage.folder / "evil.json").write_text(json.dumps(evil_model(["a"])))
    done, changed = cage(roofs, "report", "evil.json", "-o", "../page.html")
    assert done.returncode == 0 and changed == ["outer/page.html"]
