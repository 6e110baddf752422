"""RoOFS, slow and obvious: docs/method-roofs.md in plain NumPy, one function per step.

Everything is kept (all of X, all of Z) and every residual is computed from scratch. Beside the answer, `fit` says
how close the closest call was: `Gaps.smallest` is the smallest distance, relative to the largest number met on the
way, by which any decision was taken. Where it is of the order of rounding, another correct program may decide
differently.
"""
from dataclasses import dataclass, field

import numpy as np


@dataclass
class Gaps:
    """The closest call so far. Ties between equal data are settled by the rules and do not count."""
    column_class: np.ndarray  # equal numbers: equal columns of X
    sample_class: np.ndarray  # equal numbers: samples equal in y and in every feature
    scale_r: float = 0.0      # largest |y|, |b|, |r| met
    scale_beta: float = 0.0   # largest |beta| met
    smallest: float = np.inf
    where: str = ""

    def saw(self, r, b, beta):
        self.scale_r = max(self.scale_r, abs(b), np.abs(r).max())
        self.scale_beta = max([self.scale_beta, *(abs(v) for v in beta.values())])

    def note(self, where, distance, scale):
        gap = distance / scale if scale > 0 else 0.0
        if gap < self.smallest:
            self.smallest, self.where = gap, where


@dataclass
class Fit:
    coef: dict                # feature -> coefficient in the user's units, zeros left out
    scale: dict               # feature -> s_j, for those in Psi at the end
    shift: dict               # feature -> c_j
    intercept: float
    trusted: np.ndarray       # n flags
    residual: np.ndarray
    constant: int
    stop: str
    history: list = field(default_factory=list)
    gaps: Gaps = None


def classes(rows):
    return np.unique(rows, axis=0, return_inverse=True)[1].reshape(-1)


def median_low(v):
    return np.sort(v)[(len(v) - 1) // 2]


def scale_of(y):
    away = np.abs(y - median_low(y))
    for scale in (1.4826 * median_low(away), away.mean()):
        if scale > 0:
            return scale
    return 1.0


def residual(y, b, z, beta):
    r = y - b
    for j, value in beta.items():
        r = r - value * z[j]
    return r


def gradient(z, psi, r, trusted):
    return {j: np.sum(z[j][trusted] * r[trusted]) for j in psi}


def curvature(z, g, trusted):
    """C of line 6: how strongly the trusted residual bends along g, per trusted sample."""
    q = sum(value * z[j] for j, value in g.items())
    gg = sum(value ** 2 for value in g.values())
    return np.sum(q[trusted] ** 2) / gg / trusted.sum() if gg > 0 else 0.0


def step_length(largest, trusted, eta, gaps):
    """The published step, or a shorter one where the published one lengthens the trusted residual."""
    gaps.note("step", abs(eta * largest - 2), 2)
    return (1 / largest if eta * largest > 2 else eta) / trusted.sum()


def to_drop(beta, mu, gaps):
    """The |Psi| - mu features with the smallest |beta|, the later arrival first among equals."""
    order = sorted(beta, key=lambda j: (abs(beta[j]), -j))
    excess = max(len(order) - mu, 0)
    if 0 < excess:
        out, kept = order[excess - 1], order[excess]
        if gaps.column_class[out] != gaps.column_class[kept] or beta[out] != beta[kept]:
            gaps.note("selection", abs(beta[kept]) - abs(beta[out]), gaps.scale_beta)
    return order[:excess]


def closest_rank(squares, count):
    """1-based rank whose square is closest to the mean of the `count` smallest; the lowest among equals."""
    if count == 2:  # midway between ranks 1 and 2: equally close, whatever rounding makes of it
        return 1
    return int(np.argmin(np.abs(squares - np.mean(squares[:count])))) + 1


def trust_count(r, gaps=None, kind=None):
    """Eq. (5) by brute force, from n downward. r: sorted absolute residuals, kind: their sample classes."""
    n = len(r)
    half = (n + 1) // 2
    squares = r ** 2
    for tau in range(n, half, -1):
        rank = closest_rank(squares, tau - half)
        fits = r[tau - 1] <= 2 * tau * r[rank - 1] / rank
        if gaps:
            note_trust_count(gaps, r, kind, tau, rank, fits)
        if fits:
            return tau
    return half + 1


def note_trust_count(gaps, r, kind, tau, rank, fits):
    n = len(r)
    if kind[tau - 1] != kind[rank - 1]:
        gaps.note("eq5", abs(r[tau - 1] - 2 * tau * r[rank - 1] / rank), gaps.scale_r)
    count = tau - (n + 1) // 2
    if count <= 2:
        return
    others = (kind != kind[rank - 1]) & ((r[tau - 1] <= 2 * tau * r / np.arange(1, n + 1)) != fits)
    if others.any():  # ranks that would have decided otherwise: was one almost as close?
        away = np.abs(r ** 2 - np.mean(r[:count] ** 2))
        nearest = np.argmin(np.where(others, away, np.inf))
        gaps.note("tau_o", away[nearest] - away[rank - 1], gaps.scale_r * (r[nearest] + r[rank - 1]))


def fixed_count(clean_ratio, n):
    return max(1, int(np.floor(clean_ratio * n + 0.5)))


def trust_set(r, clean_ratio, gaps):
    """The tau samples with the smallest |r|, the lower sample number first among equals."""
    size = np.abs(r)
    order = np.argsort(size, kind="stable")
    kind = gaps.sample_class[order]
    tau = fixed_count(clean_ratio, len(r)) if clean_ratio else trust_count(size[order], gaps, kind)
    if tau < len(r) and kind[tau - 1] != kind[tau]:
        gaps.note("trust", size[order[tau]] - size[order[tau - 1]], gaps.scale_r)
    trusted = np.zeros(len(r), bool)
    trusted[order[:tau]] = True
    return trusted


def settled(r, before, trusted, eps, gaps):
    moved = np.abs(r[trusted]) - np.abs(before[trusted])
    change = np.sqrt(np.sum(moved ** 2)) / trusted.sum()
    gaps.note("stop", abs(change - eps), gaps.scale_r)
    return change <= eps


def fit(x, y, mu, batch, intercept=True, standardize=True, clean_ratio=None, eta=0.1, tol=1e-3, max_iter=100):
    """x: (p, n), one feature per row, in the order of arrival."""
    x, y = np.asarray(x, float), np.asarray(y, float)
    p, n = x.shape
    eps = tol * scale_of(y) if standardize else tol
    gaps = Gaps(classes(x), classes(np.column_stack([y, x.T])), scale_r=np.abs(y).max())
    b = y.mean() if intercept else 0.0
    beta, z, c, s = {}, {}, {}, {}
    trusted = np.ones(n, bool)
    r = y - b
    constant, history, largest = 0, [], 0.0
    for start in range(0, p, batch):
        arrived = range(start, min(start + batch, p))
        for j in arrived:
            c[j], s[j] = 0.0, 1.0
            seen = x[j][trusted]
            if (standardize or intercept) and (seen == seen[0]).all():
                constant += 1
                continue
            if standardize:
                c[j] = seen.mean() if intercept else 0.0
                s[j] = np.sqrt(np.mean((seen - c[j]) ** 2))
            z[j] = (x[j] - c[j]) / s[j]
            beta[j] = 0.0
        before = np.zeros(n)
        largest /= 2
        rounds, shortest, done = 0, np.inf, not beta
        while not done and rounds < max_iter:
            rounds += 1
            g = gradient(z, beta, r, trusted)
            largest = max(largest, curvature(z, g, trusted))
            h = step_length(largest, trusted, eta, gaps)
            shortest = min(shortest, h * trusted.sum())
            for j in beta:
                beta[j] += h * g[j]
            gaps.saw(residual(y, b, z, beta), b, beta)
            for j in to_drop(beta, mu, gaps):
                del beta[j]
            r = residual(y, b, z, beta)
            if intercept:
                b += r[trusted].mean()
                r = residual(y, b, z, beta)
            gaps.saw(r, b, beta)
            trusted = trust_set(r, clean_ratio, gaps)
            done = settled(r, before, trusted, eps, gaps)
            before = r
        history.append({"features": len(arrived), "rounds": rounds, "selected": len(beta),
                        "entered": sum(j in beta for j in arrived), "trusted": int(trusted.sum()),
                        "cut": np.abs(r[trusted]).max(), "step": shortest, "settled": done})
    coef = {j: value / s[j] for j, value in sorted(beta.items()) if value != 0}
    return Fit(coef=coef, scale=s, shift=c, intercept=b - sum(beta[j] * c[j] / s[j] for j in beta),
               trusted=trusted, residual=r, constant=constant, history=history, gaps=gaps,
               stop="empty" if not beta else "settled" if all(h["settled"] for h in history) else "max_iter")


def f1(found, true):
    """Harmonic mean of precision and recall of two sets."""
    found, true = set(found), set(true)
    return 2 * len(found & true) / (len(found) + len(true)) if found or true else 1.0


def scores(coef, trusted, beta, clean):
    """What `roofs evaluate` prints. coef: feature -> coefficient; beta, clean: the truth."""
    dense = np.zeros(len(beta))
    for j, value in coef.items():
        dense[j] = value
    trusted, clean = np.asarray(trusted, bool), np.asarray(clean, bool)
    return {"l2_error": np.sqrt(np.sum((dense - beta) ** 2)),
            "feature_f1": f1(coef, np.flatnonzero(beta)),
            "clean_f1": f1(np.flatnonzero(trusted), np.flatnonzero(clean)),
            "corrupted_f1": f1(np.flatnonzero(~trusted), np.flatnonzero(~clean))}
