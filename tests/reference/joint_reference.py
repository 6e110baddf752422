"""The joint solutions of roofs-bayes, slow and obvious: that section of docs/roofs-bayes.md in plain NumPy, one
function per step. Ridge regressions are least squares by QR."""
from dataclasses import dataclass, field, replace
from math import gamma

import numpy as np

from roofs_reference import median_low

NU = (1, 2, 3, 5, 9, 19, np.inf)
LEAST_A = 1e-6
LAMBDAS = range(-14, 5)
WORK_ALL, WORK_STREAM, MOST_WORK = 4e7, 1e8, 2.5e8


@dataclass
class Kind:
    dense: bool = False
    rare: bool = False
    fresh: bool = False


@dataclass
class Prior:
    pi: float
    m0: float
    sb2: float


@dataclass
class Job:
    """What all solutions share."""
    st: object                # the stream's state, see bayes_reference.State
    Z: np.ndarray             # one row per sample
    k: np.ndarray
    a: np.ndarray             # inclusion probabilities of the stream
    prior: Prior
    steps: object             # bayes_reference: the steps that stream and joint solutions share
    forced: np.ndarray        # which columns are forced


@dataclass
class Ridge:
    b: np.ndarray
    c: float
    W: np.ndarray
    omega: np.ndarray
    b0: np.ndarray
    r: np.ndarray
    leverage: np.ndarray
    hat: np.ndarray
    trace: float
    squares: np.ndarray
    z: np.ndarray             # leave-one-out residuals


@dataclass
class Solution:
    kind: Kind
    a: np.ndarray
    lam: int
    samples: object = None    # a State
    nu: float = np.inf
    skew: int = 0
    ridge: Ridge = None
    variance: np.ndarray = None
    score: float = -np.inf
    undecided: bool = False


@dataclass
class Start:
    weights: np.ndarray
    lam: int = -4


def work(n, m):
    return n * m * min(n, m)


def is_possible(n, m):
    return 0 < m and work(n, m) <= MOST_WORK


# ---- ridge ------------------------------------------------------------------------

def ridge(job, t, W, omega, b0):
    n, m = job.Z.shape
    total = np.sum(W)
    has_mean = job.st.intercept
    zbar = W @ job.Z / total if has_mean else np.zeros(m)
    tbar = W @ t / total if has_mean else 0.0
    D, Zc = np.sqrt(omega), job.Z - zbar
    Q, R = np.linalg.qr(np.vstack([np.sqrt(W)[:, None] * Zc * D, np.eye(m)]))
    b = b0 + D * np.linalg.solve(R, Q[:n].T @ (np.sqrt(W) * (t - tbar - Zc @ b0)))
    c = tbar - zbar @ b if has_mean else 0.0
    leverage = np.sum(np.linalg.solve(R.T, (Zc * D).T) ** 2, axis=0) + (1 / total if has_mean else 0.0)
    hat = np.minimum(W * leverage, 1 - 1e-6)
    r = t - c - job.Z @ b
    return Ridge(b=b, c=c, W=W, omega=omega, b0=b0, r=r, leverage=leverage, hat=hat, trace=np.sum(W * leverage),
                 squares=np.sum(W[:, None] * Zc ** 2, axis=0), z=r / (1 - hat))


def solve_sparse(job, t, W, a, prior, s2):
    sb = prior.sb2 * job.k
    den = 1 + (1 - a) * sb * np.sum(W) / s2
    omega = a * sb / (den * s2) + 1e-12 * prior.sb2 / s2
    b0 = np.where(job.forced, 0.0, a * prior.m0 * np.sqrt(job.k) / den)
    return ridge(job, t, W, flat(job, W, omega), b0)


def flat(job, W, omega):
    """The prior variances, those of forced columns so large that they do not matter."""
    return np.where(job.forced, 1e9 / np.sum(W), omega)


def belief(job, solved, prior, s2):
    """(a, nv) of sweep at the solution."""
    m, d = len(solved.b), solved.squares
    a, nv = np.zeros(m), np.zeros(m)
    for j in np.flatnonzero(d > 0):
        P, sb, mj = d[j] / s2, prior.sb2 * job.k[j], prior.m0 * np.sqrt(job.k[j])
        R = solved.b[j] + (solved.b[j] - solved.b0[j]) / solved.omega[j] / d[j]
        v = 1 / (P + 1 / sb)
        mean = v * (P * R + mj / sb)
        a[j] = job.steps.logistic(np.log(prior.pi / (1 - prior.pi)) + np.log(v / sb) / 2 + mean ** 2 / (2 * v)
                                  - mj ** 2 / (2 * sb))
        nv[j] = a[j] * (v + mean ** 2) - (a[j] * mean) ** 2
        if job.forced[j]:
            a[j], nv[j] = 1.0, 1 / P
    return np.where(job.forced, 1.0, a), nv


def inclusion(job, solved, prior, s2, a):
    return np.maximum((a + belief(job, solved, prior, s2)[0]) / 2, LEAST_A)


def with_penalty(job, t, W, lam):
    m = job.Z.shape[1]
    return ridge(job, t, W, flat(job, W, np.full(m, 1 / (10 ** (lam / 2) * np.sum(W)))), np.zeros(m))


def search(job, t, W, w, lam, steps):
    """The penalty of the least leave-one-out error, by generalised cross-validation."""
    known = {}

    def error(at):
        if at not in known:
            solved = with_penalty(job, t, W, at)
            free = 1 - solved.trace / np.sum(w)
            known[at] = np.inf if free < 1 - 0.6 else np.sum(W * solved.r ** 2) / free ** 2
        return known[at]

    for step in steps:
        while True:
            if lam + step in LAMBDAS and (error(lam + step) < error(lam) or np.isinf(error(lam))):
                lam += step
            elif lam - step in LAMBDAS and error(lam - step) < error(lam):
                lam -= step
            else:
                break
    return lam


def solve_dense(job, t, W, w, lam, steps):
    lam = search(job, t, W, w, lam, steps)
    return lam, with_penalty(job, t, W, lam)


def solve(job, so, steps):
    """One solution with the weights of the samples so far."""
    s = so.samples
    s.b = np.sum(s.W * s.y) / np.sum(s.W) if s.intercept else 0.0        # level
    if so.kind.dense:
        so.lam, so.ridge = solve_dense(job, s.y, s.W, s.w, so.lam, steps)
    else:
        so.ridge = solve_sparse(job, s.y, s.W, so.a, job.prior, s.s2)
    s.r = so.ridge.r


# ---- noise --------------------------------------------------------------------------

def height(nu):
    if np.isinf(nu):
        return 1 / np.sqrt(2 * np.pi)
    return gamma((nu + 1) / 2) / (gamma(nu / 2) * np.sqrt(nu * np.pi))


def density(nu, skew, z, v):
    x = z ** 2 / (v * np.exp(np.where(z > 0, 0.6, -0.6) * skew))
    shape = np.exp(-x / 2) if np.isinf(nu) else (1 + x / nu) ** (-(nu + 1) / 2)
    return height(nu) / (np.cosh(0.3 * skew) * np.sqrt(v)) * shape


def corrupt_density(job, s, z, f, reach):
    return (1 - s.q) / reach + (s.q * job.steps.gau(z - s.bc - s.g * f, s.S2) if s.q > 0 else 0.0)


def learn_noise(so, z, pc, background):
    def likelihood(nu, skew):
        return np.sum(np.log(pc * density(nu, skew, z, so.variance) + (1 - pc) * background + 1e-300))

    nu, skew = np.inf, 0
    for other in NU[-2::-1]:
        if (other > 1 or so.kind.rare) and likelihood(other, so.skew) > likelihood(nu, so.skew) + 0.5:
            nu = other
    for k in range(-4, 5):
        if likelihood(nu, k) > likelihood(nu, skew) + (1.5 if skew == 0 else 0.0):
            skew = k
    so.nu, so.skew = nu, skew


# ---- the rounds of a solution ---------------------------------------------------------

def scales(so, total):
    s, o = so.samples, so.ridge
    size = np.abs(o.z)
    half = np.mean(size[size <= median_low(size)] ** 2)
    clean = np.sum(s.w)
    s.s2 = max(np.sum(o.W * o.r ** 2) / max(clean - o.trace, 0.1 * clean), half, 1e-14 * total)
    s.tau2 = s.s2 * (1 + o.trace / np.sum(o.W))
    so.variance = s.s2 * (1 + o.leverage / (1 - o.hat))


def judge(job, so, learns):
    """Weighs the samples, and sets the score."""
    s, z, rare = so.samples, so.ridge.z, so.kind.rare
    span = job.steps.span(z, s.intercept)
    reach = max(span, 20 * np.sqrt(s.s2)) if rare else max(span, 6 * np.sqrt(s.tau2))
    f = s.y - s.b - z
    if learns:
        learn_noise(so, z, s.pc, corrupt_density(job, s, z, f, reach))
    clean = density(so.nu, so.skew, z, so.variance)
    h, M2 = job.steps.classify(s, z, f, clean, reach, rare)
    u = np.ones(len(z)) if np.isinf(so.nu) else (so.nu + 1) / (so.nu + z ** 2 / so.variance)
    s.W = s.w * u + (0.0 if rare else h * max(0.0, 1 + s.g) * 2 * s.tau2 * s.S2 / M2 ** 2)
    logs = np.log(s.pc * clean + (1 - s.pc) * corrupt_density(job, s, z, f, reach) + 1e-300)
    so.score = np.mean(logs) - (0.0 if rare else price(s.w) / len(z))
    so.score -= 1e6 if so.ridge.trace > 0.6 * np.sum(s.w) else 0.0
    kept, seen = np.sum(~job.forced), len(job.steps.free(s, s.seen))
    so.score -= 0.2 * (1 - kept / seen) if so.kind.dense and seen > kept else 0.0


def price(w):
    return 20 + 1.2 * np.sum(w <= 0.5)


def is_hopeless(so, best):
    if best is None:
        return False
    same = (so.kind.dense, so.kind.rare) == (best.kind.dense, best.kind.rare)
    same = same and np.abs(so.samples.w - best.samples.w).max() < 0.05
    return so.score < best.score - 0.5 or (same and so.score <= best.score)


def begin(job, kind, start, a):
    st = job.st
    if np.sum(start.weights) == 0:
        start = Start(np.ones(len(st.y)), start.lam)
    w = np.ones(len(st.y)) if kind.rare else np.minimum(start.weights, 1)
    center = np.sum(start.weights * st.y) / np.sum(start.weights) if st.intercept else 0.0
    total = max(np.sum(start.weights * (st.y - center) ** 2) / np.sum(start.weights), 1e-12)
    s2 = min(max(st.s2, 1e-10 * total), total)
    pc = 0.99 if kind.rare else min(max(np.mean(w), 0.5), 1 - 1e-6)
    samples = replace(st, W=start.weights, w=w, pc=pc, q=0.0 if kind.rare else 0.5, bc=0.0, g=0.0, s2=s2, S2=4 * s2)
    return Solution(kind=kind, a=a, lam=start.lam, samples=samples), total


def follow(job, kind, start, most, a=None, best=None):
    if a is None:
        a = np.ones(len(job.a)) if kind.fresh else np.maximum(job.a, LEAST_A)
    so, total = begin(job, kind, start, a)
    s = so.samples
    for number in range(most):
        r, w = s.r, s.w
        solve(job, so, (2, 1) if number == 0 else (1,) if number == 1 or number % 4 == 3 else ())
        scales(so, total)
        if not kind.dense and number > 0:
            so.a = inclusion(job, so.ridge, job.prior, s.s2, so.a)
        if number == 0 and not kind.rare:
            job.steps.first_background(s, so.ridge.z)
        judge(job, so, number in (0, 1, 2, 4, 7, 10) or number % 8 == 0)
        settled = np.sqrt(np.mean((s.r - r) ** 2) / s.s2) < 1e-2 and np.abs(s.w - w).max() < 2e-2
        if number >= 3 and (settled or (most == 10 and is_hopeless(so, best))):
            break
    return so


# ---- starts -------------------------------------------------------------------------------

def shortest_half(job, so):
    c, length = job.steps.shortest_half(so.ridge.z)
    return Start((np.abs(so.ridge.z - c) <= length / 2 * (1 + 1e-9)).astype(float), so.lam)


def least_absolute(job):
    y, n = job.st.y, len(job.st.y)
    W, lam = np.ones(n), -4
    for step in range(12):
        steps = {0: (2, 1), 3: (1,), 8: (1,)}.get(step, ())
        lam, solved = solve_dense(job, y, W, np.ones(n), lam, steps)
        size = np.abs(solved.z)
        middle = median_low(size)
        W = 0.05 / np.maximum(size / max(middle, 1e-300), 0.05)
    return Start((size <= 3 * 1.4826 * middle).astype(float), lam)


def without_ties(job):
    values, counts = np.unique(job.st.y, return_counts=True)
    n, most = len(job.st.y), counts.max()
    if not max(5, 0.05 * n) <= most <= 0.5 * n:
        return None
    return Start((job.st.y != values[np.argmax(counts)]).astype(float))


@dataclass
class Models:
    t0: np.ndarray
    square: float
    s2: float
    prior: Prior
    f: list = field(default_factory=list)


def direction(job, mo, u, other):
    v = job.Z.T @ mo.t0

    def tidy(v):
        v = v - (v @ other) * other if other is not None else v
        norm = np.linalg.norm(v)
        return v / norm if norm > 0 else np.ones(len(v))

    for _ in range(60):
        v = tidy(v)
        f = job.Z @ v
        v = job.Z.T @ (u * f)
    size = np.mean(f ** 2)
    f = f * (np.sqrt(0.7 * mo.square / size) if size > 0 else 0.0)
    return (-f if f @ mo.t0 < 0 else f), tidy(v)


def begin_models(job):
    y, n, m = job.st.y, len(job.st.y), job.Z.shape[1]
    t0 = y - median_low(y) if job.st.intercept else y
    square = max(np.mean(t0 ** 2), 1e-300)
    mo = Models(t0, square, square / 2, Prior(job.prior.pi, 0.0, square / max(1, min(m, n / 10))))
    u = np.minimum(t0 ** 2, 9 * median_low(np.abs(t0)) ** 2)
    f0, v0 = direction(job, mo, u - np.mean(u), None)
    f1, _ = direction(job, mo, u - np.mean(u), v0)
    mo.f = [f0, f1]
    return mo


def larger_group(weights):
    return Start(1 - weights if np.mean(weights) < 0.5 else weights)


def mirrored(job):
    mo, n = begin_models(job), len(job.st.y)
    f, a = mo.f[0], np.ones(job.Z.shape[1])
    for _ in range(30):
        t = mo.t0 * np.tanh(mo.t0 * f / mo.s2)
        solved = solve_sparse(job, t, np.ones(n), a, mo.prior, mo.s2)
        fitted, f = t - solved.r, t - solved.z
        left = np.mean(mo.t0 ** 2 - 2 * t * fitted + fitted ** 2)
        mo.s2 = max(left / max(1 - solved.trace / n, 0.1), 1e-6 * mo.square)
        a = inclusion(job, solved, mo.prior, mo.s2, a)
    return larger_group((mo.t0 * f > 0).astype(float))


def divide(mo, share):
    odds = np.log(share / (1 - share)) + ((mo.t0 - mo.f[1]) ** 2 - (mo.t0 - mo.f[0]) ** 2) / (2 * mo.s2)
    p = 1 / (1 + np.exp(-np.clip(odds, -30, 30)))
    return p, min(max(np.mean(p), 0.2), 0.8)


def two_models(job):
    mo, n, share = begin_models(job), len(job.st.y), 0.5
    a = [np.ones(job.Z.shape[1])] * 2
    for _ in range(20):
        p, share = divide(mo, share)
        left, parameters = 0.0, 0.0
        for which, W in enumerate((p, 1 - p)):
            solved = solve_sparse(job, mo.t0, W, a[which], mo.prior, mo.s2)
            mo.f[which] = mo.t0 - solved.z
            left, parameters = left + np.sum(W * solved.r ** 2), parameters + solved.trace
            a[which] = inclusion(job, solved, mo.prior, mo.s2, a[which])
        mo.s2 = max(left / max(n - parameters, 0.1 * n), 1e-6 * mo.square)
    return larger_group(divide(mo, share)[0])


def deviation(x):
    return median_low(np.abs(x - median_low(x)))


def is_undecided(job, best):
    """Whether the condemned samples of a solution follow a regression of their own that is as narrow."""
    rest = best.samples.w <= 0.5
    if np.sum(rest) < 0.43 * len(rest):
        return False
    size = deviation(job.st.y[rest])
    square, W, a = max((1.4826 * size) ** 2, 1e-300), rest.astype(float), np.ones(job.Z.shape[1])
    s2 = square / 2
    for _ in range(20):
        solved = solve_sparse(job, job.st.y, W, a, job.prior, s2)
        s2 = max(np.sum(W * solved.r ** 2) / max(np.sum(W) - solved.trace, 0.1 * np.sum(W)), 1e-6 * square)
        a = inclusion(job, solved, job.prior, s2, a)
    left = deviation(solved.z[rest])
    return bool(left < 0.5 * size and 1.4826 * left <= 2 * np.sqrt(best.samples.s2))


# ---- all starts ------------------------------------------------------------------------------

def better(best, so):
    return so if best is None or so.score > best.score else best


def from_stream(job, best):
    for dense in (False, True):
        so = follow(job, Kind(dense), Start(job.st.W), 10, best=best)
        half, best = shortest_half(job, so), better(best, so)
        best = better(best, follow(job, Kind(dense), half, 10, best=best))
        if work(*job.Z.shape) <= WORK_ALL:
            best = better(best, follow(job, Kind(dense, rare=True), Start(job.st.W, so.lam), 10, best=best))
    return best


def is_unexplained(job, best):
    y = job.st.y
    return best.samples.s2 > 0.2 * (1.4826 * median_low(np.abs(y - np.mean(y)))) ** 2


def from_all(job, best):
    everyone, absolute, ties = Start(np.ones(len(job.st.y))), least_absolute(job), without_ties(job)
    starts = [(everyone, Kind(dense=True, rare=True)), (everyone, Kind(rare=True, fresh=True))]
    starts += [(absolute, Kind(dense, rare)) for dense in (False, True) for rare in (False, True)]
    starts += [(ties, Kind(dense)) for dense in (False, True) if ties]
    for start, kind in starts:
        best = better(best, follow(job, kind, start, 10, best=best))
    if is_unexplained(job, best):
        for start in (mirrored, two_models):
            best = better(best, follow(job, Kind(fresh=True), start(job), 10, best=best))
    return best


def settle(job, starts):
    """The best solution of all starts; starts: "weights", "stream" or "all"."""
    size = work(*job.Z.shape)
    if starts == "weights" or size > WORK_STREAM:
        best = follow(job, Kind(), Start(job.st.W), 10)
    else:
        best = from_stream(job, None)
    if starts == "all" and size <= WORK_ALL:
        best = from_all(job, best)
    more = follow(job, best.kind, Start(best.samples.W, best.lam), 40, a=best.a)
    more.score, more.undecided = best.score, starts != "weights" and size <= WORK_STREAM and is_undecided(job, best)
    return more


def continue_on(job, kind, lam):
    """The solution that was stored, on fewer columns."""
    return follow(job, Kind(kind.dense, kind.rare), Start(job.st.W, lam), 40)


# ---- result ---------------------------------------------------------------------------------

def labels(job, so):
    """w where corruption is rare."""
    s, z = replace(so.samples), so.ridge.z
    condemned = s.w <= 0.5
    if np.sum(np.abs(z[condemned]) > 10 * np.sqrt(s.s2)) > 0.5 * np.sum(condemned):
        return s.w
    wider = max(s.s2, (1.4826 * median_low(np.abs(z))) ** 2) - s.s2
    clean = density(min(so.nu, 3), so.skew, z, so.variance + wider)
    s.pc = 0.99
    job.steps.classify(s, z, np.zeros(len(z)), clean, max(job.steps.span(z, s.intercept), 20 * np.sqrt(s.s2 + wider)),
                       True)
    return s.w


def store(job, so, features):
    """Into the state of the stream and its features."""
    st, s = job.st, so.samples
    solve(job, so, ())
    a, nv = belief(job, so.ridge, job.prior, s.s2)
    for f, b, probability, variance in zip(features, so.ridge.b, a, nv):
        f.be, f.a, f.var = b, probability, variance
    for name in ("r", "W", "w", "pc", "s2", "tau2", "bc", "g", "S2", "q"):
        setattr(st, name, getattr(s, name))
    st.b, st.V, st.kap = so.ridge.c, s.s2 * so.ridge.leverage, s.tau2 / s.s2
    if so.kind.rare:
        st.q, st.w = 0.5, labels(job, so)
