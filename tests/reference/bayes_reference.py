"""roofs-bayes, slow and obvious: docs/roofs-bayes.md in plain NumPy, one function per step, one coordinate at a
time. Its joint solutions are in joint_reference.py."""
from dataclasses import dataclass, field
import sys

import numpy as np

import joint_reference as joint
from roofs_reference import median_low, scale_of

MAX_HYPER = 16384         # more features than this: hyper looks at every 2^t-th
FAR = 1e12                # responses farther from the centre are moved to this distance


@dataclass
class Feature:
    """One feature seen. It stays when the feature is dropped, for hyper."""
    z: np.ndarray = None      # standardised column
    shift: float = 0.0
    scale: float = 1.0
    be: float = 0.0
    var: float = 0.0
    a: float = 0.0
    k: float = 1.0
    R: float = None           # unshrunk estimate, None before the first sweep
    S: float = None           # its variance
    kR: float = None          # k when R was made: a feature that arrives again has a new k before it has a new R


@dataclass
class State:
    y: np.ndarray             # in the unit of the method
    intercept: bool
    mu: int
    always: int = 0           # features with smaller numbers are forced
    k0: int = 0               # features that are expected to matter
    b: float = 0.0
    r: np.ndarray = None
    w: np.ndarray = None
    W: np.ndarray = None      # by how much a sample counts
    V: np.ndarray = None
    s2: float = 0.0
    tau2: float = 0.0
    ended: bool = False       # the stream
    move: float = 0.0         # largest change of a coefficient in the last sweep
    kap: float = 1.0
    total: float = 0.0
    pc: float = 0.7
    q: float = 0.5
    g: float = 0.0
    bc: float = 0.0
    S2: float = 0.0
    pi: float = None
    sb2: float = None
    m0: float = 0.0
    seen: set = field(default_factory=set)
    settled: object = None    # the joint solution, where nothing has changed since
    score: float = np.nan
    known: dict = field(default_factory=dict)     # number -> Feature, all that ever came in
    psi: list = field(default_factory=list)       # numbers, in the order of arrival


@dataclass
class Fit:
    coef: dict                # feature -> coefficient in the user's units, zeros left out
    probability: dict         # the same features -> inclusion probability
    scale: dict               # feature -> s_j in the user's units of coefficients, for all that ever came in
    shift: dict
    intercept: float
    w: np.ndarray
    residual: np.ndarray
    constant: int
    unit: float               # the user's units in one of the method
    state: State


class Undefined(Exception):
    pass


def gau(t, v):
    return np.exp(-t ** 2 / (2 * v)) / np.sqrt(2 * np.pi * v)


def logistic(x):
    with np.errstate(over="ignore"):
        return 1 / (1 + np.exp(-x))


def mean(w, v):
    return np.sum(w * v) / np.sum(w)


# ---- start --------------------------------------------------------------------

def unit_of(y):
    """The power of two in which the robust scale of y lies in [1, 2)."""
    return 2.0 ** (np.frexp(scale_of(y))[1] - 1)


def span(v, intercept):
    """What the uniform background covers."""
    return v.max() - v.min() if intercept else 2 * np.abs(v).max()


def shortest_half(y):
    """(midpoint, length) of the shortest window of ceil(n/2) sorted values."""
    v, h = np.sort(y), (len(y) + 1) // 2
    length = v[h - 1:] - v[:len(v) - h + 1]
    first = int(np.argmin(length))
    return (v[first] + v[first + h - 1]) / 2, length[first]


def settle(y, intercept, c, s2):
    """(w, pc, c, s2) of a normal distribution and a uniform one, from a first c and s2."""
    pc, reach, least = 0.7, span(y, intercept), 1e-12
    reach = reach if reach > 0 else 1.0
    s2 = max(s2, least)
    for _ in range(300):
        clean = pc * gau(y - c, s2)
        w = clean / (clean + (1 - pc) / reach)
        c = mean(w, y) if intercept else c
        before, s2 = s2, max(mean(w, (y - c) ** 2), least)
        pc = min(max(np.sum(w) / len(y), 0.5), 1 - 1e-6)
        if abs(s2 - before) < 1e-8 * before:
            break
    return w, pc, c, s2


def start(y, intercept, mu):
    c, length = shortest_half(y) if intercept else (0.0, 2 * median_low(np.abs(y)))
    y = np.clip(y, c - FAR, c + FAR)
    st = State(y=y, intercept=intercept, mu=mu)
    level = np.mean(y) if intercept else 0.0
    square = np.mean((y - level) ** 2)
    wide = settle(y, intercept, level, square)
    st.w, st.pc, c, s2 = settle(y, intercept, c, (length / (2 * 0.6745)) ** 2)
    if wide[1] > st.pc + 0.15:
        st.w, st.pc, c, s2 = wide
    elif np.sum((y
                 - c) ** 2 <= 9 * s2) < 0.55 * len(y) and square > 0 and np.mean(((y
                                                                                   - level) ** 2 / square) ** 2) < 1.8:
        st.w, st.pc, c, s2 = np.ones(len(y)), 1 - 1e-6, level, square
    st.b, st.r, st.V = c, y - c, np.zeros(len(y))
    st.s2 = st.tau2 = st.total = s2
    first_background(st, st.r)
    st.W = st.w                   # until judge has looked
    judge(st)
    return st


def first_background(st, residual):
    """The normal part of the corrupt samples, before judge has learned one."""
    corrupt = residual[st.w < 0.5]
    st.bc, st.g, st.q, st.S2 = 0.0, 0.0, 0.5, 4 * st.s2
    if len(corrupt) >= 10:
        st.bc = median_low(corrupt)
        st.S2 = max(st.s2, (1.4826 * median_low(np.abs(corrupt - st.bc))) ** 2)


def start_with_all(y, intercept, mu):
    """The second hypothesis: all samples are clean."""
    st = start(y, intercept, mu)
    n = len(y)
    st.b = np.mean(st.y) if intercept else 0.0
    st.r, st.w, st.W, st.V = st.y - st.b, np.ones(n), np.ones(n), np.zeros(n)
    st.s2 = st.tau2 = st.total = max(np.mean(st.r ** 2), 1e-12)
    st.kap, st.pc, st.bc, st.g, st.q, st.S2 = 1.0, 0.7, 0.0, 0.0, 0.5, 4 * st.s2
    judge(st)
    return st


# ---- a feature arrives ----------------------------------------------------------

def arrive(st, j, x, standardize):
    """Takes feature j into Psi; False where it is constant."""
    st.seen.add(j)
    counted = x[st.W > 1e-6]
    shift = mean(st.W, x) if standardize and st.intercept else 0.0
    scale = np.sqrt(mean(st.W, (x - shift) ** 2))
    if scale == 0 and np.any(x != shift) and np.all(st.W[x != shift] < 1e-250):
        raise Undefined("a feature varies only on samples whose weight is below the range of doubles")
    if (standardize or st.intercept) and (counted == counted[:1]).all() or scale == 0:
        return False
    f = st.known.setdefault(j, Feature())
    f.shift, f.scale = shift, scale
    f.z = (x - f.shift) / f.scale
    f.be = f.var = f.a = 0.0
    z2, z4 = np.sum(st.W * f.z ** 2), np.sum(st.W * f.z ** 4)
    f.k = min(1.0, 3 * z2 ** 2 / (np.sum(st.W) * z4))
    st.psi.append(j)
    return True


# ---- the steps --------------------------------------------------------------------

def with_statistic(st):
    """The features hyper learns from."""
    rows = [j for j in sorted(st.known) if st.known[j].R is not None]
    stride = 1
    while len(rows) > MAX_HYPER * stride:
        stride *= 2
    return [st.known[j] for j in rows if j % stride == 0]


def hyper(st):
    T = st.total / st.k0
    pi0 = min(st.k0 / max(len(free(st, st.seen)), st.k0), 0.9)
    if st.pi is None:
        st.pi, st.sb2, st.m0 = pi0, T, 0.0
    rows = with_statistic(st)
    R, S, k = (np.array([getattr(f, name) for f in rows], float) for name in ("R", "S", "kR"))
    s = np.sqrt(k)
    for _ in range(3):
        s1 = st.sb2 * k
        t = R - st.m0 * s
        p = logistic(np.log(st.pi / (1 - st.pi)) - np.log((s1 + S) / S) / 2 - t ** 2 / (2 * (s1 + S))
                     + R ** 2 / (2 * S))
        v = 1 / (1 / s1 + 1 / S)
        u = v * (R / S + st.m0 * s / s1) / s
        p0, p1, pp, p2 = np.sum(p), np.sum(p * u), np.sum(p ** 2 * u ** 2), np.sum(p * (u ** 2 + v / k))
        st.pi = min(max((p0 + 100 * pi0) / (len(rows) + 100), 1e-4), 0.9)
        st.m0 = p1 / (p0 + 1) * max(0.0, 1 - 4 * pp / p1 ** 2) if p1 ** 2 > 0 else 0.0
        st.sb2 = (p2 - 2 * st.m0 * p1 + st.m0 ** 2 * p0 + 20 * pi0 * T) / (p0 + 20 * pi0)


def free(st, numbers):
    """Those that are not forced."""
    return [j for j in numbers if j >= st.always]


def solve_forced(st, everything, new):
    """Least squares of the forced features, given all others; V with their variances."""
    forced = [st.known[j] for j in st.psi if j < st.always]
    if not forced:
        return new
    Z = np.array([f.z for f in forced]).T
    Zc = Z - st.W @ Z / np.sum(st.W) if st.intercept else Z
    gram = Zc.T @ (st.W[:, None] * Zc)
    square = np.diag(gram)
    level = mean(st.W, st.r) if st.intercept else 0.0
    delta = np.linalg.solve(gram + 1e-9 * np.diag(square), Zc.T @ (st.W * (st.r - level)))
    st.r = st.r - Z @ delta
    st.move = max(st.move, np.abs(delta).max())
    for f, move, d in zip(forced, delta, square):
        nv = st.tau2 / d
        new = new + (nv if everything else nv - f.var) * f.z ** 2
        f.be, f.a, f.var = f.be + move, 1.0, nv
    return new


def update(st, f):
    """One coordinate: the new variance of its coefficient. f.var is left to the caller."""
    d, c = np.sum(st.W * f.z ** 2), np.sum(st.W * f.z * st.r)
    if d == 0:
        st.move = max(st.move, abs(f.be))
        st.r = st.r + f.be * f.z
        f.be = f.a = 0.0
        return 0.0
    P = d / st.tau2
    f.R, f.S, f.kR = f.be + st.kap * c / d, 1 / P, f.k
    sb, mj = st.sb2 * f.k, st.m0 * np.sqrt(f.k)
    v = 1 / (P + 1 / sb)
    m = v * (P * f.R + mj / sb)
    f.a = logistic(np.log(st.pi / (1 - st.pi)) + np.log(v / sb) / 2 + m ** 2 / (2 * v) - mj ** 2 / (2 * sb))
    nv = f.a * (v + m ** 2) - (f.a * m) ** 2
    delta = (f.a * m - f.be) / (1 + (st.kap - 1) * nv * P)
    f.be += delta
    st.move = max(st.move, abs(delta))
    st.r = st.r - delta * f.z
    return nv


def sweep(st, numbers=None):
    """Over Psi, or over some of it."""
    everything = numbers is None
    st.move = 0.0
    new = solve_forced(st, everything, np.zeros(len(st.y)) if everything else st.V)
    for j in free(st, st.psi):
        if everything or j in numbers:
            f = st.known[j]
            nv = update(st, f)
            new = new + (nv if everything else nv - f.var) * f.z ** 2
            f.var = nv
    st.V = np.maximum(new, 0)
    if st.intercept:
        e = mean(st.W, st.r)
        st.b += e
        st.r = st.r - e


def variances(st):
    r2, vb = mean(st.w, st.r ** 2), mean(st.w, st.V)
    st.s2 = max((r2 + np.sqrt(r2 ** 2 + 4 * r2 * vb)) / 2, 1e-10 * st.total)
    st.tau2 = st.s2 + vb
    st.kap = st.tau2 / st.s2


def left_out(st):
    """z, f: the residual and the fitted value of each sample as if it had not been fitted."""
    z = st.r * (1 + st.W * st.V / st.s2)
    return z, st.y - st.b - z


def background(st, z, f, h):
    """The normal part of the corrupt samples, from the weights h; its mean square around the fit."""
    q0 = np.sum(h)
    if not q0 > 1e-6:
        st.bc, st.g, st.S2 = 0.0, 0.0, 4 * st.tau2
        return st.S2
    mz, mf = np.sum(h * z) / q0, np.sum(h * f) / q0
    czz, cfz, cff = (np.sum(h * one) / q0 for one in ((z - mz) ** 2, (f - mf) * (z - mz), (f - mf) ** 2))
    st.g = min(0.0, q0 * cfz / (q0 * cff + st.S2 / 16))
    st.bc = mz - st.g * mf
    res = czz - 2 * st.g * cfz + st.g ** 2 * cff
    sm = max(0.0, mz ** 2 + czz - res)
    st.S2 = max((q0 * res + 2 * st.tau2) / (q0 + 1), 2 * st.tau2 - sm, st.tau2)
    return st.S2 + sm


def classify(st, z, f, clean, reach, rare=False):
    """The loop of judge. h: the probability of being corrupt with normal density; M2. rare: there is no such part."""
    n = len(st.y)
    for _ in range(20):
        pc, S2 = st.pc, st.S2
        normal = st.q * gau(z - st.bc - st.g * f, st.S2)
        bg = (1 - st.q) / reach + normal
        st.w = st.pc * clean / (st.pc * clean + (1 - st.pc) * bg)
        h = (1 - st.w) * normal / bg
        total = np.sum(st.w)
        st.pc = min(max((total + 1) / (n + 1), 0.5), 1 - 1e-6)
        st.q = 0.0 if rare else (np.sum(h) + 0.5) / (n - total + 1)
        M2 = background(st, z, f, h)
        if abs(st.pc - pc) < 1e-4 and abs(st.S2 - S2) < 1e-3 * S2:
            break
    return h, M2


def judge(st):
    variances(st)
    reach = max(span(st.r, st.intercept), 6 * np.sqrt(st.tau2))
    z, f = left_out(st)
    h, M2 = classify(st, z, f, gau(z, st.s2 + st.V), reach)
    share = max(0.0, 1 + st.g) * 2 * st.tau2 / M2 * (st.S2 / M2 if st.ended else 1.0)
    st.W = st.w + h * share


def score(st):
    """How well the samples are explained, where there is no joint solution."""
    reach = max(span(st.r, st.intercept), 6 * np.sqrt(st.tau2))
    z, f = left_out(st)
    bg = (1 - st.q) / reach + st.q * gau(z - st.bc - st.g * f, st.S2)
    logs = np.log(st.pc * gau(z, st.s2 + st.V) + (1 - st.pc) * bg + 1e-300)
    return (np.sum(logs) - joint.price(st.w)) / len(z)


def by_size(st):
    """Psi without forced features, the largest |be| first; among equals the earlier first."""
    return sorted(free(st, st.psi), key=lambda j: -abs(st.known[j].be))     # sorted() leaves equals as they were


def keep(st, count):
    """The `count` largest |be| stay."""
    dropped = set(by_size(st)[count:])
    for f in (st.known[j] for j in st.psi if j in dropped):
        st.r = st.r + f.be * f.z
        st.V = st.V - f.var * f.z ** 2
    st.psi = [j for j in st.psi if j not in dropped]
    st.V = np.maximum(st.V, 0)
    variances(st)


def calibrate(st):
    z, f = left_out(st)
    forced = sum((st.known[j].be * st.known[j].z for j in st.psi if j < st.always), np.zeros(len(st.y)))
    f, target = f - forced, st.y - st.b - forced
    mf, my = (mean(st.W, f), mean(st.W, target)) if st.intercept else (0.0, 0.0)
    vf = mean(st.W, (f - mf) ** 2)
    if vf == 0:
        return
    x = mean(st.W, (f - mf) * (target - my)) / vf
    x = min(max(x, 0.0), 1.25)
    if x > 1:
        x = 1 + (x - 1) * max(0.0, 1 - (st.tau2 - st.s2) / vf)
    for j in free(st, st.psi):
        st.known[j].be *= x
    st.r = target - x * (target - st.r)
    if len(free(st, st.psi)) < len(st.psi):
        solve_forced(st, True, st.V)
        e = mean(st.W, st.r) if st.intercept else 0.0
        st.b, st.r = st.b + e, st.r - e


# ---- the stream -------------------------------------------------------------------

def rounds(st, count, numbers=None):
    for _ in range(count):
        hyper(st)
        sweep(st, numbers)
        judge(st)


def one_batch(st, batch, cap):
    if not st.psi:
        return
    st.settled = None
    rounds(st, 1)
    if len(free(st, st.psi)) > cap:
        weakest = by_size(st)[::-1][:len(free(st, st.psi)) - cap + batch]
        rounds(st, 1, set(weakest))
        keep(st, cap)


# ---- the end --------------------------------------------------------------------------

def sweeps(st, most):
    st.ended = True
    for _ in range(most):
        rounds(st, 1)
        if st.move <= 1e-2 * np.sqrt(st.sb2):
            break
    st.ended = False


def is_joint(st):
    return joint.is_possible(len(st.y), len(st.psi))


def solve_jointly(st, starts):
    features = [st.known[j] for j in st.psi]
    job = joint.Job(st=st, Z=np.array([f.z for f in features]).T, k=np.array([f.k for f in features]),
                    a=np.array([f.a for f in features]), prior=joint.Prior(st.pi, st.m0, st.sb2),
                    steps=sys.modules[__name__], forced=np.array(st.psi) < st.always)
    if st.settled:
        solution = joint.continue_on(job, st.settled.kind, st.settled.lam)
        solution.undecided = st.settled.undecided
    else:
        solution = joint.settle(job, starts)
        st.score = solution.score
    joint.store(job, solution, features)
    st.settled = solution


def settle_pass(st, starts):
    possible = is_joint(st)
    if st.psi:
        sweeps(st, 3 if possible else 20)
    st.score = score(st)
    if possible:
        solve_jointly(st, starts)


def centre_median(st):
    trusted = st.w > 0.5
    if st.intercept and trusted.any():
        middle = median_low((st.r / (1 - np.minimum(st.W * st.V / st.s2, 0.5)))[trusted])
        st.b += middle
        st.r = st.r - middle


def drop_reserve(st):
    if len(free(st, st.psi)) > st.mu:
        sweeps(st, 20)
        keep(st, st.mu)


def finish(st, hypotheses):
    if not st.psi:
        return
    possible = is_joint(st)
    if hypotheses == 1 or not possible:
        drop_reserve(st)
        sweeps(st, 20 if hypotheses == 1 else 200)
    if not possible:
        calibrate(st)
    elif hypotheses == 1:
        solve_jointly(st, "weights")
    elif len(free(st, st.psi)) > st.mu:
        largest = by_size(st)[:st.mu]
        st.psi = [j for j in st.psi if j < st.always or j in largest]
        solve_jointly(st, None)
    if possible:
        centre_median(st)
    for f in (st.known[j] for j in st.psi):
        f.be = f.be if abs(f.be) >= 1e-12 else 0.0


def fit(*args, **settings):
    """What `run` answers, or Undefined where the page leads to 0/0 or beyond the range of doubles."""
    with np.errstate(divide="raise", over="raise", invalid="raise"):
        try:
            return run(*args, **settings)
        except FloatingPointError as error:
            raise Undefined(str(error)) from error


def one_pass(fits, x, batch, cap, standardize):
    """The number of features that are constant, for each of the fits."""
    constant = [set() for _ in fits]
    for first in range(0, len(x), batch):
        for st, left_out in zip(fits, constant):
            for j in range(first, min(first + batch, len(x))):
                if j not in st.psi and not arrive(st, j, x[j], standardize):
                    left_out.add(j)
            one_batch(st, batch, cap)
    return [len(left_out) for left_out in constant]


def settle_all(fits, number):
    """Settles the hypotheses of pass `number`; the index of the best."""
    for st, starts in zip(fits, ("stream" if number == 1 else "all", "all")):
        if not st.settled:
            settle_pass(st, starts)
    return max(range(len(fits)), key=lambda which: fits[which].score)


def selected(st):
    return {j for j in st.psi if st.known[j].a > 0.5}


def run(x, y, mu, batch, reserve=0.0, passes=1, intercept=True, standardize=True, hypotheses=1,
        prior="mu", always=0):
    """x: (p, n), one feature per row, in the order of arrival."""
    x, y = np.asarray(x, float), np.asarray(y, float)
    unit, cap = unit_of(y), int(np.floor(mu * (1 + reserve) + 0.5))
    cap = max(cap, 2 * batch) if hypotheses > 1 else cap
    fits = [begin(y / unit, intercept, mu) for begin in (start, start_with_all)[:hypotheses]]
    for st in fits:
        st.always = always
        st.k0 = mu if prior == "mu" and len(y) * (cap + always) ** 2 > 4e7 else max(1, min(mu, len(y) // 10))
    before = None
    for number in range(1, (3 if passes == "auto" else passes) + 1):
        if number > 1:
            best = settle_all(fits, number - 1) if hypotheses > 1 else 0
            fits, before = [fits[best]], selected(fits[best])
        constant = one_pass(fits, x, batch, cap, standardize)
        dropped = len(fits[0].psi) + constant[0] < len(fits[0].seen)
        if passes == "auto" and not (dropped and selected(fits[0]) != before):
            break
    best = settle_all(fits, number) if hypotheses > 1 else 0
    st, constant = fits[best], constant[best]
    finish(st, hypotheses)
    kept = {j: st.known[j] for j in sorted(st.psi) if st.known[j].be != 0}
    return Fit(coef={j: f.be * unit / f.scale for j, f in kept.items()},
               probability={j: f.a for j, f in kept.items()},
               scale={j: f.scale / unit for j, f in st.known.items()}, shift={j: f.shift for j, f in st.known.items()},
               intercept=unit * (st.b - sum(f.be * f.shift / f.scale for f in kept.values())),
               w=st.w, residual=unit * st.r, constant=constant, unit=unit, state=st)
