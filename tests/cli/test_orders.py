"""--orders: how the selection depends on the order of the features."""
import json
import os
import signal
import subprocess
import time

import numpy as np
import pytest
import scipy.sparse as sp

N, P, ORDERS = 60, 24, 4


@pytest.fixture(scope="module")
def data(tmp_path_factory):
    """Neighbours of correlation .97: the fit takes the one that comes first or fits better by chance."""
    folder = tmp_path_factory.mktemp("orders")
    rng = np.random.default_rng(2)
    x = rng.standard_normal((P, N))
    x[1::2] = 0.97 * x[::2] + 0.24 * x[1::2]
    y = x[[3, 8, 17]].sum(axis=0) + 0.5 * rng.standard_normal(N)
    y[:6] += 30
    np.save(folder / "y.npy", y)
    np.save(folder / "X.npy", x)
    np.save(folder / "a.npy", x[:10])
    np.save(folder / "b.npy", x[10:])
    sp.save_npz(folder / "X.npz", sp.csc_matrix(x.T))
    header = ",".join(f"gene {j}" for j in range(P))
    np.savetxt(folder / "X.csv", x.T, delimiter=",", header=header, comments="", fmt="%.17g")
    for k in range(ORDERS):
        np.save(folder / f"X{k}.npy", np.roll(x, -(P * k // ORDERS), axis=0))
    return folder


@pytest.fixture
def fit(roofs, data, tmp_path):
    def run(*args, **more):
        done = roofs("fit", "--y", "y.npy", "--orient", "features", "--mu", 4, "--batch", 6, "--json", "-o",
                     tmp_path / "m.json", *args, cwd=data, **more)
        return json.loads(done.stdout), json.loads((tmp_path / "m.json").read_text())
    return run


def without_orders(model):
    features = [{key: value for key, value in f.items() if key != "frequency"} for f in model["features"]]
    return {**{key: value for key, value in model.items() if key != "orders"}, "features": features}


def frequencies(model):
    return [f["frequency"] for f in model["features"]]


def mean_jaccard(sets):
    pairs = [(a, b) for k, a in enumerate(sets) for b in sets[:k]]
    return np.mean([len(a & b) / len(a | b) for a, b in pairs])


def test_orders_are_rotations_of_batches(fit, data):
    """In batches of one feature an order is a rotation: fits of rotated files give the same numbers."""
    options = "--batch", 1, "--passes", 2, "--method", "roofs"
    printed, model = fit(*options, "X.npy", "--orders", ORDERS)
    x, y = np.load(data / "X.npy"), np.load(data / "y.npy")
    sets, fitted = [], []
    for k in range(ORDERS):
        one = fit(*options, f"X{k}.npy")[1]
        places = [(f["index"] + P * k // ORDERS) % P for f in one["features"]]
        sets.append(set(places))
        fitted.append(one["intercept"] + np.array([f["coef"] for f in one["features"]]) @ x[places])
    trusted = np.setdiff1d(np.arange(N), model["outliers"])
    noise = np.sqrt(np.mean((y - fitted[0])[trusted] ** 2))
    assert len(set(map(frozenset, sets))) > 1   # the order matters here
    assert frequencies(model) == [np.mean([f["index"] in s for s in sets]) for f in model["features"]]
    assert model["orders"]["count"] == ORDERS and printed["orders"] == model["orders"]
    assert model["orders"]["jaccard"] == pytest.approx(mean_jaccard(sets), rel=1e-12)
    assert model["orders"]["change"] == pytest.approx(np.ptp(fitted, axis=0).max() / noise, rel=1e-6)


def test_features_of_a_batch_are_shuffled(fit):
    """`os` takes features one by one: only the shuffled batches differ."""
    one, six = (fit("X.npy", "--method", "os", "--orders", 3, "--batch", size)[1] for size in (1, 6))
    assert [f["coef"] for f in one["features"]] == pytest.approx([f["coef"] for f in six["features"]], rel=1e-12)
    assert one["orders"]["change"] != six["orders"]["change"]


def test_fit_itself_does_not_change(fit):
    plain, several = fit("X.npy")[1], fit("X.npy", "--orders", 3)[1]
    assert without_orders(several) == plain and "orders" not in plain
    assert fit("X.npy", "--orders", 1)[1] == plain


def test_orders_do_not_depend_on_files_and_threads(fit):
    expected = fit("X.npy", "--orders", ORDERS)[1]
    assert fit("X.npy", "--orders", ORDERS, "--threads", 3)[1] == expected
    assert fit("a.npy", "b.npy", "--orders", ORDERS)[1] == expected
    assert fit("X.npy", "--orders", ORDERS, "--ahead")[1] == expected
    table = fit("X.csv", "--orient", "samples", "--orders", ORDERS)[1]
    assert [f["name"] for f in table["features"]] == [f"gene {f['index']}" for f in expected["features"]]
    assert frequencies(table) == frequencies(expected) and table["orders"] == expected["orders"]


def test_sparse_files_have_orders(roofs, data, tmp_path):
    def frequencies_of(path, *more):
        roofs("fit", "--y", "y.npy", "--mu", 4, "--batch", 6, path, *more, "--orders", ORDERS, "-o",
              tmp_path / "m.json", cwd=data)
        return frequencies(json.loads((tmp_path / "m.json").read_text()))
    assert frequencies_of("X.npz") == frequencies_of("X.npy", "--orient", "features")


def test_report_and_inspection_show_frequencies(roofs, data, tmp_path):
    done = roofs("fit", "--y", "y.npy", "--mu", 4, "--orient", "features", "X.npy", "--orders", 3, "-o",
                 tmp_path / "m.json", cwd=data)
    model = json.loads((tmp_path / "m.json").read_text())
    assert "orders     3 compared: selections agree by" in done.stderr and "of the orders" in done.stderr
    shown = roofs("inspect", tmp_path / "m.json").stdout
    assert "orders     3 compared" in shown and "share of the orders that select it" in shown
    read = json.loads(roofs("inspect", tmp_path / "m.json", "--json").stdout)
    assert read["orders"] == model["orders"]
    assert {f["index"]: f["frequency"] for f in read["top"]} == {f["index"]: f["frequency"] for f in model["features"]}
    roofs("report", tmp_path / "m.json", "-o", tmp_path / "page.html")
    page = (tmp_path / "page.html").read_text()
    assert "Selections agree" in page and "mean Jaccard of 3 orders" in page and ">Orders<" in page
    (tmp_path / "plain.json").write_text(json.dumps(without_orders(model)))
    roofs("report", tmp_path / "plain.json", "-o", tmp_path / "plain.html")
    assert "Selections agree" not in (tmp_path / "plain.html").read_text()
    assert "orders" not in json.loads(roofs("inspect", tmp_path / "plain.json", "--json").stdout)


@pytest.mark.parametrize("change, field", [({"orders": {"count": 1, "jaccard": 1, "change": 0}}, "orders"),
                                           ({"orders": {"count": 3, "jaccard": 2, "change": 0}}, "jaccard"),
                                           ({"orders": {"count": 3, "jaccard": 1}}, "change"),
                                           ({"orders": {"count": 3, "jaccard": 1, "change": 0}}, "frequency")])
def test_broken_orders_are_refused(roofs, fit, tmp_path, change, field):
    model = without_orders(fit("X.npy")[1])
    (tmp_path / "broken.json").write_text(json.dumps({**model, **change}))
    done = roofs("inspect", tmp_path / "broken.json", ok=False)
    assert done.returncode == 3 and f"'{field}'" in done.stderr


def test_pipes_are_refused(roofs, data, tmp_path):
    options = "--y", "y.npy", "--orient", "features", "--orders", 2, "-o", tmp_path / "m.json"
    done = roofs("fit", *options, "-", cwd=data, input=(data / "X.npy").read_bytes(), ok=False)
    assert done.returncode == 2 and "--orders reads the features several times" in done.stderr
    os.mkfifo(tmp_path / "pipe.npy")
    writer = subprocess.Popen(["cp", data / "X.npy", tmp_path / "pipe.npy"])
    done = roofs("fit", *options, tmp_path / "pipe.npy", cwd=data, ok=False)
    writer.wait()
    assert done.returncode == 2 and "--orders reads the features several times" in done.stderr
    assert not (tmp_path / "m.json").exists()


def test_reads_are_explained(roofs, data):
    def told(*more):
        return roofs("fit", "--y", "y.npy", "--orient", "features", "--mu", 4, "--batch", 2, "X.npy", "--explain",
                     *more, cwd=data).stdout
    assert "--orders makes 5 fits, one after the other in the same memory: up to 15 reads" in told("--orders", 5)
    assert ": 10 reads in all." in told("--orders", 5, "--passes", 2)
    assert "--orders" not in told()


def test_fits_follow_each_other_in_the_same_memory(roofs, program, tmp_path):
    if "asan" in str(program):
        pytest.skip("sanitizers take memory of their own")
    rng = np.random.default_rng(0)
    np.save(tmp_path / "X.npy", rng.standard_normal((400, 20_000)))
    np.save(tmp_path / "y.npy", rng.standard_normal(20_000))

    def peak(*more):
        return json.loads(roofs("fit", "--y", "y.npy", "--mu", 150, "--hypotheses", 1, "--passes", 1, "--batch", 10,
                                "--orient", "features", "X.npy", "--json", *more, cwd=tmp_path).stdout)["peak_bytes"]
    assert peak("--orders", 3) < 1.25 * peak()


def test_interrupted_orders_leave_a_checkpoint(program, roofs, data, tmp_path):
    command = [program, "fit", "--y", data / "y.npy", "--orient", "features", "--mu", "4", data / "X.npy", "--orders",
               "1000", "--checkpoint", tmp_path / "fit.ck", "-o", tmp_path / "m.json"]
    with subprocess.Popen(list(map(str, command)), stderr=subprocess.PIPE, text=True) as running:
        while not (tmp_path / "fit.ck").exists() and running.poll() is None:
            time.sleep(0.01)
        time.sleep(0.5)
        running.send_signal(signal.SIGINT)
        _, errors = running.communicate(timeout=60)
    assert running.returncode == 130 and not (tmp_path / "m.json").exists()
    assert "roofs resume" in errors and "without other orders" in errors
    roofs("resume", tmp_path / "fit.ck", "-o", tmp_path / "resumed.json")
    roofs("fit", "--y", "y.npy", "--orient", "features", "--mu", 4, "X.npy", "-o", tmp_path / "m.json", cwd=data)
    assert (tmp_path / "resumed.json").read_bytes() == (tmp_path / "m.json").read_bytes()
