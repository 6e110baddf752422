"""Fits of tiny random problems: the program against the slow references.

What is drawn is the structure (method, sizes, settings, format, attack, how many numbers are equal), so that a failure
shrinks to the smallest problem that still fails. Where the reference says that a decision hung on rounding, or answers
differently itself when the response changes in its last bits, two correct programs may differ and nothing is compared.
"""
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import scipy.sparse
from hypothesis import strategies as st

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "reference"))
import baselines_reference as baselines  # noqa: E402
import bayes_reference  # noqa: E402
from problems import run_fit  # noqa: E402
import roofs_reference  # noqa: E402
import test_baselines_reference as of_baselines  # noqa: E402
import test_bayes_reference as of_bayes  # noqa: E402
import test_roofs_reference as of_roofs  # noqa: E402

METHODS = ("roofs", "roofs-bayes", "os", "grafting", "torrent", "rlhh", "homotopy", "dalm")
FORMATS = ("npy", "csv", "svm", "csc", "csr")


@dataclass(repr=False)
class Problem:
    x: np.ndarray
    y: np.ndarray
    method: str
    settings: dict
    format: str

    def __repr__(self):
        return (f"Problem(np.array({self.x.tolist()}), np.array({self.y.tolist()}), {self.method!r}, {self.settings}, "
                f"{self.format!r})")


@st.composite
def problems(draw):
    method = draw(st.sampled_from(METHODS))
    n, p = draw(st.integers(8, 24)), draw(st.integers(1, 8))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    settings = {"mu": draw(st.integers(1, p + 1)), "intercept": draw(st.booleans()), "standardize": draw(st.booleans())}
    if method not in ("os", "grafting"):
        settings["batch"] = draw(st.integers(1, p))
    if method == "torrent" or (method in ("roofs", "rlhh") and draw(st.booleans())):
        settings["clean_ratio"] = draw(st.sampled_from((0.6, 0.75, 0.9, 1.0)))
    if method == "roofs-bayes":
        settings.update(reserve=draw(st.sampled_from((0.0, 1.0))), passes=draw(st.sampled_from((1, 2, "auto"))),
                        hypotheses=draw(st.sampled_from((1, 2))), prior=draw(st.sampled_from(("mu", "samples"))))
    if method in ("homotopy", "dalm"):    # one batch, everything kept: the optimum is known
        settings.update(mu=p, batch=p, standardize=False)
    x = rng.standard_normal((p, n)) * (rng.random((p, n)) < draw(st.sampled_from((1.0, 0.5, 0.2))))
    if draw(st.booleans()):               # few different numbers
        x = np.round(2 * x) / 2
    if draw(st.booleans()):               # of several sizes
        x = x * 10.0 ** rng.integers(-2, 3, (p, 1))
    if draw(st.booleans()):               # equal columns
        x[p // 2] = x[0]
    spread = x.std(axis=1) + (x.std(axis=1) == 0)
    y = (rng.uniform(-1, 1, p) / spread) @ x + draw(st.sampled_from((0.0, 5.0))) + 0.1 * rng.standard_normal(n)
    clean = rng.random(n) >= draw(st.sampled_from((0.0, 0.2, 0.35)))
    y = of_roofs.corrupt(rng, draw(st.sampled_from(of_roofs.ATTACKS)), x / spread[:, None], y, clean)
    return Problem(x, y, method, settings, draw(st.sampled_from(FORMATS)))


# ---- the program ----------------------------------------------------------------------

def write(problem, folder):
    """The file of features, in the format of the problem."""
    x, path = problem.x, folder / f"X.{'npz' if problem.format in ('csc', 'csr') else problem.format}"
    if problem.format == "npy":
        np.save(path, x)
    elif problem.format == "csv":
        path.write_text("\n".join(",".join(f"{v:.17g}" for v in row) for row in x.T) + "\n")
    elif problem.format == "svm":         # the last feature is named once, so that it is not lost where it is 0
        rows = [" ".join(f"{j}:{v:.17g}" for j, v in enumerate(row) if v != 0 or j in (0, len(x) - 1)) for row in x.T]
        path.write_text("\n".join(f"{v:.17g} {row}" for v, row in zip(problem.y, rows)) + "\n")
    else:
        scipy.sparse.save_npz(path, scipy.sparse.csc_matrix(x.T).asformat(problem.format))
    return path


def run_program(program, problem):
    with tempfile.TemporaryDirectory(dir="/dev/shm" if Path("/dev/shm").is_dir() else None) as name:
        folder = Path(name)
        np.save(folder / "y.npy", problem.y)
        orient = ["--orient", "features" if problem.format == "npy" else "samples"]
        return run_fit(program, folder, problem.method, [write(problem, folder)], problem.settings, "--threads", 1,
                       *(orient if problem.format != "svm" else []))


# ---- comparisons: (can it be compared, what is wrong) ---------------------------------------

def leave_out_zeros(model, want, size):
    """On both sides: what is zero but for rounding, such as the second of two equal columns. size: of the largest
    weight."""
    nothing = {j: 1e-12 * size / s for j, s in want.scale.items()}
    want.coef = {j: value for j, value in want.coef.items() if abs(value) > nothing[j]}
    model["features"] = [f for f in model["features"] if abs(f["coef"]) > nothing.get(f["index"], 0)]


def check_roofs(model, problem):
    want = roofs_reference.fit(problem.x, problem.y, **problem.settings)
    leave_out_zeros(model, want, want.gaps.scale_beta)
    wrong = of_roofs.disagreements(model, want)
    blurred = want.gaps.smallest < of_roofs.NEAR_TIE or (
        wrong and of_roofs.is_sensitive(0, problem.x, problem.y, problem.settings, want))
    return not blurred, wrong


def check_bayes(model, problem):
    try:
        want = bayes_reference.fit(problem.x, problem.y, **problem.settings)
    except bayes_reference.Undefined:
        return False, []
    wrong = of_bayes.disagreements(model, want)
    return not (wrong and of_bayes.is_sensitive(0, problem.x, problem.y, problem.settings, want)), wrong


def check_baseline(model, problem):
    fit = baselines.online_substitution if problem.method == "os" else getattr(baselines, problem.method)
    want = fit(problem.x, problem.y, **problem.settings)
    leave_out_zeros(model, want, want.size)
    wrong = of_baselines.disagreements(model, want, problem.method in ("torrent", "rlhh"))
    return want.gap >= of_baselines.NEAR_TIE, wrong


def check_objective(model, problem):
    x, w, intercept = problem.x, np.zeros(len(problem.x)), problem.settings["intercept"]
    for f in model["features"]:
        w[f["index"]] = f["coef"]
    if intercept:
        w, x = w[np.ptp(x, axis=1) > 0], x[np.ptp(x, axis=1) > 0]
    b = np.median(problem.y - w @ x) if intercept else 0.0
    got, want = baselines.objective(x, problem.y, w, b), baselines.least_objective(x, problem.y, intercept)
    good = abs(got - want) <= 1e-6 * want + 1e-9 * np.abs(problem.y).sum()
    return True, [] if good else [f"objective {got}, linear program {want}"]


CHECKS = {"roofs": check_roofs, "roofs-bayes": check_bayes, "homotopy": check_objective, "dalm": check_objective}


def disagreements(program, problem):
    """(compared?, what differs) of the program's answer to a problem."""
    model = run_program(program, problem)
    return CHECKS.get(problem.method, check_baseline)(model, problem)
