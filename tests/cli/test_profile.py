"""roofs fit --profile: where the time went, as a table, in the summary and in the report."""
import json
import re

import numpy as np
import pytest

PHASES = ["reading", "checking", "rounds", "samples", "storing", "joint", "groups", "other", "writing"]
N, P = 400, 300


@pytest.fixture
def data(write_npy):
    rng = np.random.default_rng(1)
    X = rng.normal(size=(P, N))
    return write_npy("y.npy", 2 * X[3] - X[70] + rng.normal(size=N)), write_npy("X.npy", X)


def arguments(data, tmp_path, *more):
    return "fit", "--y", data[0], data[1], "--orient", "features", "-o", tmp_path / "model.json", *more


def test_table_has_all_phases(roofs, data, tmp_path):
    printed = roofs(*arguments(data, tmp_path, "--mu", 20, "--profile")).stderr
    assert re.findall(r"^(\w+) +[\d.]+ s +[\d.]+%", printed, re.M) == PHASES
    assert re.search(r"threads? reads? [\d.]+ \w+/s from memory", printed)
    assert "profile" not in roofs(*arguments(data, tmp_path, "--mu", 20)).stderr


@pytest.mark.parametrize("method", ["roofs", "roofs-bayes"])
@pytest.mark.parametrize("threads", [1, 2])
def test_phases_add_up_to_the_time_of_the_fit(roofs, data, tmp_path, method, threads):
    summary = json.loads(roofs(*arguments(data, tmp_path, "--mu", 20, "--method", method, "--threads", threads,
                                          "--passes", 1, "--profile", "--json")).stdout)
    profile = summary["profile"]
    phases = profile["phases"]
    assert list(phases) == PHASES and profile["threads"] == threads and profile["bandwidth"] > 1e6
    fitting = sum(phases[name]["seconds"] for name in PHASES if name not in ("reading", "writing"))
    assert fitting == pytest.approx(summary["fit_seconds"], rel=1e-9)
    assert phases["reading"]["seconds"] == summary["read_seconds"]
    assert all(phases[name]["seconds"] >= 0 for name in PHASES) and phases["other"]["seconds"] < 0.5 * fitting
    assert phases["reading"]["bytes_read"] == 8 * N * P
    assert phases["checking"]["bytes_read"] % (8 * N * P) == 0 and phases["checking"]["bytes_read"] > 0
    assert phases["rounds"]["bytes_read"] >= 8 * N * P


def test_sparse_features_count_their_values(roofs, tmp_path, data):
    sparse = tmp_path / "X.svm"
    sparse.write_text("".join(f"{i % 3} {1 + i % 50}:1.5 {51 + i % 7}:2\n" for i in range(N)))
    summary = json.loads(roofs("fit", sparse, "--mu", 5, "--method", "roofs", "--profile", "--json").stdout)
    assert summary["profile"]["phases"]["checking"]["bytes_read"] == 12 * 2 * N


def test_profile_changes_no_bits(roofs, data, tmp_path):
    models = []
    for more in ([], ["--profile"]):
        roofs(*arguments(data, tmp_path, "--mu", 20, *more))
        models.append((tmp_path / "model.json").read_bytes())
    assert models[0] == models[1]


def test_report_shows_the_profile_of_the_trace(roofs, data, tmp_path):
    trace, page = tmp_path / "trace.jsonl", tmp_path / "report.html"
    roofs(*arguments(data, tmp_path, "--mu", 20, "--profile", "--trace", trace))
    roofs("report", tmp_path / "model.json", "--trace", trace, "-o", page)
    assert "Where the time went" in page.read_text() and "<td>rounds</td>" in page.read_text()
    lines = trace.read_text().splitlines()
    trace.write_text("\n".join(lines[:-1]) + "\n")
    roofs("report", tmp_path / "model.json", "--trace", trace, "-o", page)
    assert "Where the time went" not in page.read_text()
