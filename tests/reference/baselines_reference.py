"""The baselines, slow and obvious: docs/baselines.md in plain NumPy. Nothing is shared with the library.

As in roofs_reference.py, every fit says how close its closest decision was (`Fit.gap`, relative to the largest number
met): where that is of the order of rounding, another correct program may decide differently.
"""
from dataclasses import dataclass, field

import numpy as np


@dataclass
class Fit:
    coef: dict                # feature -> coefficient in the user's units, zeros left out
    intercept: float
    trusted: np.ndarray
    residual: np.ndarray
    history: list = field(default_factory=list)
    settled: bool = True
    gap: float = np.inf
    size: float = 0.0         # largest weight of a standardised column
    scale: dict = field(default_factory=dict)
    shift: dict = field(default_factory=dict)


class Closest:
    """The smallest relative distance by which a decision was taken."""
    def __init__(self):
        self.gap = np.inf

    def note(self, distance, scale):
        self.gap = min(self.gap, abs(distance) / scale if scale > 0 else 0.0)


def arrivals(x, trusted, batch, standardize, intercept):
    """(feature numbers, constant left out; c; s) of one batch."""
    kept, shift, scale = [], {}, {}
    for j in batch:
        seen = x[j][trusted]
        if (standardize or intercept) and (seen == seen[0]).all():
            continue
        kept.append(j)
        shift[j] = seen.mean() if standardize and intercept else 0.0
        scale[j] = np.sqrt(np.mean((seen - shift[j]) ** 2)) if standardize else 1.0
    return kept, shift, scale


def result(x, y, w, b, z_shift, scale, trusted, history, settled, closest):
    """w: weights of z = (x - shift) / scale."""
    coef = {j: w[j] / scale[j] for j in sorted(w) if w[j] != 0}
    intercept = b - sum(w[j] * z_shift[j] / scale[j] for j in w)
    residual = y - intercept - sum((coef[j] * x[j] for j in coef), np.zeros(len(y)))
    return Fit(coef, intercept, trusted, residual, history, settled, closest.gap,
               max([abs(v) for v in w.values()], default=0.0), dict(scale), dict(z_shift))


# ---- os ---------------------------------------------------------------------------

def online_substitution(x, y, mu, intercept=True, standardize=True, eta=0.1):
    x, y = np.asarray(x, float), np.asarray(y, float)
    n, closest = len(y), Closest()
    everyone = np.ones(n, bool)
    b = y.mean() if intercept else 0.0
    w, z, shift, scale, largest = {}, {}, {}, {}, 0.0
    r = y - b
    for j in range(len(x)):
        kept, c, s = arrivals(x, everyone, [j], standardize, intercept)
        if not kept:
            continue
        shift[j], scale[j] = x[j].mean() if intercept else c[j], s[j]
        z[j] = (x[j] - shift[j]) / scale[j]
        trial, r_old = {**w, j: 0.0}, r
        g = {k: z[k] @ r for k in trial}
        q = sum(g[k] * z[k] for k in g)
        gg = sum(v * v for v in g.values())
        largest = max(largest / 2, q @ q / n / gg if gg > 0 else 0.0)
        closest.note(eta * largest - 2, 2)
        h = (1 / largest if eta * largest > 2 else eta) / n
        trial = {k: trial[k] + h * g[k] for k in trial}
        rest = dict(trial)
        if len(trial) > mu:
            order = sorted(trial, key=lambda k: (abs(trial[k]), -k))
            closest.note(abs(trial[order[1]]) - abs(trial[order[0]]) if len(order) > 1 else 1,
                         max(map(abs, trial.values())))
            del rest[order[0]]
        fall = lambda weights: (r_old @ r_old
                                - np.sum((y - b - sum((weights[k] * z[k] for k in weights), np.zeros(n))) ** 2)) / 2
        enough = 1e-4 * h * gg
        if j in rest:
            closest.note(fall(rest) - enough, r_old @ r_old)
        if j in rest and rest[j] != 0 and fall(rest) >= enough:
            w = rest
        else:
            del trial[j]
            closest.note(fall(trial), r_old @ r_old if trial else 1e-300)
            w = trial if fall(trial) >= 0 else w
        r = y - b - sum((w[k] * z[k] for k in w), np.zeros(n))
    return result(x, y, w, b, shift, scale, everyone, [], True, closest)


# ---- grafting ------------------------------------------------------------------------

def lasso(z, target, penalty):
    """argmin |target - w z|^2 / 2n + penalty |w|_1 by coordinate descent; at the end exactly for its signs."""
    k, n = z.shape
    w = np.zeros(k)
    gram, slope = z @ z.T / n, z @ target / n
    for _ in range(200000):
        before = w.copy()
        for j in range(k):
            free = slope[j] - gram[j] @ w + gram[j, j] * w[j]
            w[j] = np.sign(free) * max(abs(free) - penalty, 0) / gram[j, j]
        if np.abs(w - before).max() <= 1e-15 * max(np.abs(w).max(), 1e-300):
            break
    active = np.flatnonzero(w)
    if len(active) and np.linalg.cond(gram[np.ix_(active, active)]) < 1e10:  # exact for these signs
        w[active] = np.linalg.solve(gram[np.ix_(active, active)], slope[active] - penalty * np.sign(w[active]))
    return w


def grafting(x, y, mu, intercept=True, standardize=True, lam=0.0):
    x, y = np.asarray(x, float), np.asarray(y, float)
    n, closest = len(y), Closest()
    everyone = np.ones(n, bool)
    b = y.mean() if intercept else 0.0
    penalty = (lam or 1 / np.sqrt(n)) * np.sqrt(np.mean((y - b) ** 2))
    w, z, shift, scale = {}, {}, {}, {}

    def optimise():
        names = list(w)
        found = lasso(np.array([z[k] for k in names]), y - b, penalty) if names else []
        size = max(map(abs, found), default=1)
        for value in found:
            if value != 0:
                closest.note(value * 1e-3, size)
        return {k: v for k, v in zip(names, found) if v != 0}

    for j in range(len(x)):
        kept, c, s = arrivals(x, everyone, [j], standardize, intercept)
        if not kept:
            continue
        shift[j], scale[j] = x[j].mean() if intercept else c[j], s[j]
        z[j] = (x[j] - shift[j]) / scale[j]
        r = y - b - sum((w[k] * z[k] for k in w), np.zeros(n))
        slope = abs(z[j] @ r) / n
        closest.note((slope - penalty) * 1e-3, penalty)
        if not slope > penalty * (1 + 1e-9):
            continue
        w[j] = 0.0
        w = optimise()
        while len(w) > mu:
            order = sorted(w, key=lambda k: (abs(w[k]), -k))
            closest.note(abs(w[order[1]]) - abs(w[order[0]]) if len(order) > 1 else 1, abs(w[order[-1]]))
            del w[order[0]]
            w = optimise()
    fit = result(x, y, w, b, shift, scale, everyone, [], True, closest)
    fit.penalty = penalty
    return fit


# ---- batch by batch -----------------------------------------------------------------

def smallest_set(r, tau, closest, scale):
    order = np.argsort(np.abs(r), kind="stable")
    if tau < len(r):
        closest.note(abs(r[order[tau]]) - abs(r[order[tau - 1]]), scale)
    trusted = np.zeros(len(r), bool)
    trusted[order[:tau]] = True
    return trusted


def tau_rlhh(r, closest, scale):
    """Eq. (5) with tau' = floor(tau/2), by brute force. r: sorted absolute residuals."""
    n = len(r)
    half = (n + 1) // 2
    for tau in range(n, half, -1):
        count = tau // 2
        away = np.abs(r ** 2 - np.mean(r[:count] ** 2))
        rank = 1 if count == 2 else int(np.argmin(away)) + 1
        bound = 2 * tau * r / np.arange(1, n + 1)
        closest.note(r[tau - 1] - bound[rank - 1], scale)
        fits = r[tau - 1] <= bound[rank - 1]
        others = (r[tau - 1] <= bound) != fits
        if count != 2 and others.any():
            closest.note(np.min(away[others]) - away[rank - 1], scale * scale)
        if fits:
            return tau
    return half + 1


def threshold_torrent(r, clean_ratio, closest, scale):
    return smallest_set(r, max(1, int(np.floor(clean_ratio * len(r) + 0.5))), closest, scale)


def threshold_rlhh(r, clean_ratio, closest, scale):
    if clean_ratio:
        return threshold_torrent(r, clean_ratio, closest, scale)
    return smallest_set(r, tau_rlhh(np.sort(np.abs(r)), closest, scale), closest, scale)


def least_squares(columns, target, intercept, closest):
    """(weights, intercept), by the singular values; columns and target on the trusted samples only."""
    means = columns.mean(axis=1) if intercept else np.zeros(len(columns))
    level = target.mean() if intercept else 0.0
    centred = columns - means[:, None]
    length = np.linalg.norm(centred, axis=1)
    length[length <= 1e-13 * np.linalg.norm(columns, axis=1)] = 0
    length[length == 0] = 1
    unit = (centred / length[:, None]).T
    u, d, vt = np.linalg.svd(unit, full_matrices=False)
    good = d > 1e-9
    if ((d > 1e-12) & (d < 1e-5)).any():
        closest.note(0.0, 1.0)  # neither dependent nor independent
    weights = vt.T @ np.where(good, (u.T @ (target - level)) / np.where(good, d, 1), 0) / length
    return weights, level - weights @ means


def torrent_rounds(z, y, trusted, intercept, max_iter, threshold, closest):
    """(weights, S, rounds, settled)"""
    scale = np.abs(y).max()
    for rounds in range(1, max_iter + 1):
        w, b = least_squares(z[:, trusted], y[trusted], intercept, closest)
        r = y - b - w @ z
        scale = max(scale, np.abs(r).max())
        after = threshold(r, closest, scale)
        if (after == trusted).all() or np.abs(r[after]).max() <= 1e-12 * np.abs(y[after]).max():
            return w, after, rounds, True
        trusted = after
    return w, trusted, max_iter, False


def batchwise(x, y, mu, batch, solve, threshold, reading="alone", intercept=True, standardize=True, max_iter=100):
    x, y = np.asarray(x, float), np.asarray(y, float)
    p, n = x.shape
    closest, w, shift, scale, history, settled = Closest(), {}, {}, {}, [], True
    trusted = np.ones(n, bool)
    b = y.mean() if intercept else 0.0
    for start in range(0, p, batch):
        members = range(start, min(start + batch, p))
        new, c, s = arrivals(x, trusted, members, standardize, intercept)
        shift.update(c)
        scale.update(s)
        fitted = (list(w) if reading == "joint" else []) + new
        rounds = 0
        if fitted:
            z = np.array([(x[j] - shift[j]) / scale[j] for j in fitted])
            begin = trusted if reading == "joint" else np.ones(n, bool)
            values, trusted, rounds, done = solve(z, y, begin, intercept, max_iter, threshold, closest)
            settled &= done
            w.update(zip(fitted, values))
            order = sorted(w, key=lambda j: (-abs(w[j]), j))
            if len(order) > mu:
                closest.note(abs(w[order[mu - 1]]) - abs(w[order[mu]]), abs(w[order[0]]))
            w = {j: w[j] for j in sorted(order[:mu])}
            model = sum((w[j] * (x[j] - shift[j]) / scale[j] for j in w), np.zeros(n))
            b = (y - model)[trusted].mean() if intercept else 0.0
            r = y - b - model
            trusted = threshold(r, closest, np.abs(r).max())
        history.append({"rounds": rounds, "selected": len(w), "trusted": int(trusted.sum())})
    return result(x, y, w, b, shift, scale, trusted, history, settled, closest)


def torrent(x, y, mu, batch, clean_ratio, **more):
    return batchwise(x, y, mu, batch, torrent_rounds, lambda r, c, s: threshold_torrent(r, clean_ratio, c, s), **more)


def rlhh(x, y, mu, batch, clean_ratio=None, **more):
    return batchwise(x, y, mu, batch, torrent_rounds, lambda r, c, s: threshold_rlhh(r, clean_ratio, c, s), **more)


# ---- least absolute deviations, by linear programming ---------------------------------------

def objective(z, y, w, b):
    return np.abs(w).sum() + np.abs(y - b - w @ z).sum()


def least_objective(z, y, intercept):
    """min |w|_1 + |y - b - w z|_1, as a linear program in the positive and negative parts."""
    from scipy.optimize import linprog
    p, n = z.shape
    level = np.ones((n, 1)) if intercept else np.zeros((n, 0))
    a = np.hstack([z.T, -z.T, np.eye(n), -np.eye(n), level, -level])
    cost = np.concatenate([np.ones(2 * p + 2 * n), np.zeros(2 * level.shape[1])])
    done = linprog(cost, A_eq=a, b_eq=y, bounds=(0, None), method="highs")
    assert done.status == 0, done.message
    return done.fun
