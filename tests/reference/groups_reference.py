"""Groups, discoveries and intervals of roofs-bayes, slow and obvious, in plain NumPy: one function per step. Nothing
here is shared with the library. The pool of dropped neighbours is in pool_reference.py."""
from dataclasses import dataclass, field
from math import erfc

import numpy as np

NEAR = 0.5                # correlation with its head from which a column belongs to the neighbourhood
RATE = 0.03               # of false discoveries among the groups, unless given
SHRINK = 0.95             # of z before its probability is taken: weights, noise and other effects are estimates
MASS = 0.99               # probability of the members of a group, given that the effect exists
LIKELY = 0.1              # inclusion probability from which a kept feature starts an effect
GRID = np.logspace(-3, 0, 16)                  # variances of an effect, in units of that of the responses
MOST_ROUNDS, MOST_EFFECTS_SHARE = 30, 0.2      # the second in units of the clean samples
SETTLED = 1e-3            # change of an effect, in units of the noise
TAIL_NEAR, TAIL_FAR = 6, 10   # distance of condemned samples that may be the tail of the noise, and of the next ones
ONE_SIDE = 0.15           # share of these on the side with fewer, from which both sides count
CAUTION = 1.02            # of the width of intervals: correlations of coefficients are left out


@dataclass
class End:
    """The state at the end of a fit, in the unit of the method."""
    y: np.ndarray
    W: np.ndarray
    w: np.ndarray
    Z: np.ndarray             # kept columns, one row per sample
    index: np.ndarray         # their features
    be: np.ndarray
    a: np.ndarray             # inclusion probabilities
    seen: int                 # features, constant ones included
    b: float = 0.0
    intercept: bool = True
    r: np.ndarray = None      # residual, with the median intercept taken out
    s2: float = 1.0
    trace: float = 0.0        # sum W leverage of the joint solution; without one, sum W V / s2
    nu: float = np.inf
    skew: int = 0
    pool: np.ndarray = None   # dropped neighbours, one row per sample
    pool_index: np.ndarray = None
    always: int = 0           # features with smaller numbers are forced; `seen` counts the others


@dataclass
class Effect:
    head: int                 # feature
    near: np.ndarray          # columns of the neighbourhood
    f: np.ndarray             # its part of the fit
    alpha: np.ndarray = None  # which column it is
    mean: np.ndarray = None   # coefficient, if it is that column
    variance: np.ndarray = None
    a: float = 1.0            # probability that it exists
    spread: float = 0.0       # posterior variance of f, mean over the samples
    z: float = 0.0
    log_bf: float = 0.0


@dataclass
class Group:
    members: np.ndarray       # features, the most probable first
    probability: np.ndarray   # of each, given that the effect exists
    exists: float             # probability of the effect
    head: int
    correlation: float        # the smallest between two members, in absolute value
    effect: float             # of the standardised column, mean over the members
    error: float              # its standard deviation
    z: float
    log_bf: float
    discovered: float         # the smallest q at which it is a discovery


@dataclass
class Work:
    """What all effects share."""
    Z: np.ndarray             # kept columns and pool, W-mean 0 and W-scale 1
    index: np.ndarray
    kept: int                 # the first columns are kept ones
    t: np.ndarray             # responses without their W-mean
    W: np.ndarray
    clean: float              # sum w
    seen: int
    intercept: bool
    total: float              # variance of the responses
    r: np.ndarray = None
    s2: float = 0.0
    kappa: float = 1.0
    forced: int = 0           # dimension of what forced columns span
    effects: list = field(default_factory=list)


# ---- columns ---------------------------------------------------------------------------

def standardise(Z, W, intercept):
    """With the last weights; columns without a scale become 0."""
    Z = Z - W @ Z / np.sum(W) if intercept else Z
    scale = np.sqrt(W @ Z ** 2 / np.sum(W))
    return np.where(scale > 0, Z / np.where(scale > 0, scale, 1), 0.0)


def take_out(end, Z):
    """(Z less what forced columns explain, dimension of these)."""
    forced = standardise(end.Z[:, end.index < end.always], end.W, end.intercept)
    root = np.sqrt(end.W)[:, None]
    Q = np.linalg.qr(root * forced)[0]
    fitted = forced @ np.linalg.lstsq(root * forced, root * Z, rcond=None)[0]
    return Z - fitted, Q.shape[1]


def begin(end):
    Z = end.Z if end.pool is None else np.hstack([end.Z, end.pool])
    index = end.index if end.pool is None else np.concatenate([end.index, end.pool_index])
    t, forced = end.y - np.sum(end.W * end.y) / np.sum(end.W) if end.intercept else end.y, 0
    if np.any(end.index < end.always):
        t = take_out(end, t[:, None])[0][:, 0]
        Z, forced = take_out(end, Z - end.W @ Z / np.sum(end.W) if end.intercept else Z)
        Z[:, index < end.always] = 0
    work = Work(Z=standardise(Z, end.W, end.intercept), index=index, kept=len(end.index), t=t, W=end.W,
                clean=np.sum(end.w), seen=end.seen, intercept=end.intercept, forced=forced,
                total=np.sum(end.W * t ** 2) / np.sum(end.W))
    work.r = t
    scale(work)
    return work


def products(work, v, which):
    return work.Z[:, which].T @ (work.W * v) / np.sum(work.W)


# ---- one effect --------------------------------------------------------------------------

def variance_of_estimate(work):
    """S: of the estimate of a coefficient, the same for all columns."""
    return work.s2 / (work.kappa * np.sum(work.W))


def single_effect(work, e):
    """The effect is in one of the columns of its neighbourhood, or in none."""
    c, S = products(work, work.r + e.f, e.near), variance_of_estimate(work)
    best = None
    for v in GRID * work.total:
        lb = -np.log(1 + v / S) / 2 + c ** 2 * v / (2 * S * (v + S))
        log_bf = np.max(lb) + np.log(np.mean(np.exp(lb - np.max(lb))))
        if best is None or log_bf > best[0]:
            best = log_bf, lb, v
    e.log_bf, lb, v = best
    e.alpha = np.exp(lb - np.max(lb))
    e.alpha = e.alpha / np.sum(e.alpha)
    e.mean, e.variance = c * v / (v + S), np.full(len(c), v * S / (v + S))
    e.z = np.max(np.abs(c)) / np.sqrt(S)
    odds = len(e.near) * rate(work)
    e.a = 1 / (1 + (1 - odds) / odds * np.exp(-e.log_bf)) if odds < 1 else 1.0
    work.r = work.r + e.f
    e.f = e.a * (work.Z[:, e.near] @ (e.alpha * e.mean))
    work.r = work.r - e.f
    second = e.a * np.sum(e.alpha * (e.mean ** 2 + e.variance))
    e.spread = max(0.0, second - np.sum(work.W * e.f ** 2) / np.sum(work.W))


def rate(work):
    """Effects per feature seen."""
    return max(1.0, sum(e.a for e in work.effects)) / max(work.seen, 1)


def scale(work):
    """s2, and kappa: how much a sample says, against its weight."""
    squares = np.sum(work.W * work.r ** 2)
    spread = sum(e.spread for e in work.effects)
    work.s2 = max((squares + np.sum(work.W) * spread) / max(work.clean - 1 - work.forced, 1.0), 1e-12 * work.total)
    work.kappa = min(1.0, np.sum(work.W ** 2 * work.r ** 2) / squares) if squares > 0 else 1.0


def converge(work):
    for _ in range(MOST_ROUNDS):
        moved = 0.0
        for e in work.effects:
            before = e.f
            single_effect(work, e)
            moved = max(moved, np.max(np.abs(e.f - before)))
        if work.intercept:
            work.r = work.r - np.sum(work.W * work.r) / np.sum(work.W)
        scale(work)
        if moved <= SETTLED * np.sqrt(work.s2):
            break


# ---- which effects -------------------------------------------------------------------------

def correlation(work, column):
    return np.abs(products(work, work.Z[:, column], slice(None)))


def add_effect(work, column, coefficient):
    near = np.flatnonzero(correlation(work, column) > NEAR)
    if not len(near):
        return False
    work.effects.append(Effect(head=int(work.index[column]), near=near, f=coefficient * work.Z[:, column]))
    work.r = work.r - coefficient * work.Z[:, column]
    return True


def first_effects(work, end):
    """The likely features, the largest first, none of them near an earlier one. A loop: near ones share an effect."""
    size = np.where((end.a > LIKELY) & (end.index >= end.always), np.abs(end.be), 0.0)
    taken = np.zeros(len(work.index), bool)
    for column in np.argsort(-size, kind="stable"):
        if size[column] == 0 or len(work.effects) >= MOST_EFFECTS_SHARE * work.clean:
            break
        if not taken[column]:
            near = correlation(work, column) > NEAR
            mine = near[:work.kept] & ~taken[:work.kept]
            signed = products(work, work.Z[:, column], np.flatnonzero(mine))
            add_effect(work, column, np.sum(end.be[mine] * signed))
            taken |= near


def probability_of(z):
    return erfc(SHRINK * abs(z) / np.sqrt(2))


def discoveries(z, seen):
    """The smallest q at which each z is a discovery, by Benjamini and Hochberg; features without a z count as 1."""
    p = np.array([probability_of(v) for v in z])
    q, least = np.ones(len(p)), 1.0
    for position, k in reversed(list(enumerate(np.argsort(p, kind="stable"), start=1))):
        least = min(least, p[k] * seen / position)
        q[k] = least
    return q


def next_column(work):
    """(column, z) of the kept column with the largest score."""
    z = np.abs(products(work, work.r, slice(0, work.kept))) / np.sqrt(variance_of_estimate(work))
    return int(np.argmax(z)), float(np.max(z)) if len(z) else 0.0


def find_effects(work, end, q):
    """The likely features start effects; then what is left over does, as long as it would be a discovery."""
    first_effects(work, end)
    converge(work)
    while len(work.effects) < MOST_EFFECTS_SHARE * work.clean:
        found = np.sum(discoveries([e.z for e in work.effects], work.seen) <= q)
        column, z = next_column(work)
        is_head = any(e.head == work.index[column] for e in work.effects)
        if is_head or probability_of(z) > q * (found + 1) / work.seen or not add_effect(work, column, 0.0):
            break
        converge(work)


# ---- groups ------------------------------------------------------------------------------------

def as_group(work, e, discovered):
    order = np.argsort(-e.alpha, kind="stable")
    count = int(np.searchsorted(np.cumsum(e.alpha[order]), MASS)) + 1
    order = order[:count]
    members = e.near[order]
    pairs = np.abs((work.Z[:, members] * work.W[:, None]).T @ work.Z[:, members]) / np.sum(work.W)
    effect = np.sum(e.alpha * e.mean)
    return Group(members=work.index[members], probability=e.alpha[order], exists=e.a, head=e.head,
                 correlation=float(np.min(pairs)), effect=effect, z=e.z, log_bf=e.log_bf, discovered=discovered,
                 error=np.sqrt(np.sum(e.alpha * (e.variance + (e.mean - effect) ** 2))))


def groups(end, q=RATE):
    """The groups, the largest Bayes factor first; work, for intervals. Of groups that overlap the first stays."""
    work = begin(end)
    find_effects(work, end, q)
    rates = discoveries([e.z for e in work.effects], work.seen)
    found = [as_group(work, e, rates[k]) for k, e in enumerate(work.effects) if rates[k] <= q]
    kept, used = [], set()
    for g in sorted(found, key=lambda g: -g.log_bf):
        if not used & set(g.members):
            kept.append(g)
            used |= set(g.members)
    return kept, work


# ---- intervals ----------------------------------------------------------------------------------

@dataclass
class Spread:
    """What an interval needs."""
    s2: float                 # of the noise, squared scale
    each: np.ndarray          # mean square error of each coefficient
    a: np.ndarray             # probability that a kept feature matters
    middle: float             # of the intercept


def spread(end):
    """The kept features are the best of all seen: a feature that does not matter has fitted noise. Its share of the
    residual is put back, and its coefficient is an error."""
    W, b, total = end.W, end.be, np.sum(end.W)
    d, c = W @ end.Z ** 2, end.Z.T @ (W * end.r)
    d = np.where(d > 0, d, 1e-12 * total)        # a column that has become constant on the trusted samples
    squares = np.sum(W * end.r ** 2)
    kappa = min(1.0, np.sum(W ** 2 * end.r ** 2) / squares)
    clean = np.sum(end.w)
    free = end.index >= end.always
    R, a = b + c / d, np.where(free, 0.5, 1.0)
    gain = np.maximum(b * (2 * R - b) * d, 0.0)
    shrunk = np.where(free, np.where(R != 0, b / np.where(R != 0, R, 1), 0.0), 1.0)
    s2 = squares / max(clean - end.trace, 0.1 * clean)
    for _ in range(10):
        S = s2 / (kappa * d)
        pi = min(max(np.sum(a[free]), 0.5) / max(end.seen, 1), 0.9)
        sb2 = np.sum((a * np.maximum(R ** 2 - S, 0))[free]) / max(np.sum(a[free]), 1e-9)
        sb2 = max(sb2, 1e-12 * squares / total)
        odds = np.log(pi / (1 - pi)) - np.log(1 + sb2 / S) / 2 + R ** 2 * sb2 / (2 * S * (S + sb2))
        a = np.where(free, 1 / (1 + np.exp(-odds)), 1.0)
        left = clean - end.intercept - np.sum(a * shrunk)
        s2 = (squares + np.sum((1 - a) * gain)) / max(left, 0.1 * clean)
    v = 1 / (1 / S + 1 / sb2)
    m = v * R / S
    each = np.where(free, a * (v + (m - b) ** 2) + (1 - a) * b ** 2, S)
    part = bound(end, s2 + np.sum(each * d) / total)
    return Spread(s2=part * s2, each=part * each, a=a, middle=part * s2 / total if end.intercept else 0.0)


def bound(end, variance):
    """The factor of a variance after which intervals are not wider than those of the responses alone."""
    y = end.y - np.sum(end.W * end.y) / np.sum(end.W) if end.intercept else end.y
    tails = t_quantile(end.nu, 0.95) / t_quantile(np.inf, 0.95)
    return min(1.0, np.sum(end.W * y ** 2) / np.sum(end.w) / tails ** 2 / variance)


def t_cdf(nu, x):
    """Of Student's t with one of the degrees of freedom of the noise."""
    if np.isinf(nu):
        return erfc(-x / np.sqrt(2)) / 2
    angle = np.arctan(x / np.sqrt(nu))
    if nu == 2:
        return (1 + np.sin(angle)) / 2
    term, series = np.cos(angle), 0.0
    for k in range(3, int(nu) + 1, 2):           # odd nu; none for nu = 1
        series += term
        term *= np.cos(angle) ** 2 * (k - 1) / k
    return 0.5 + (angle + np.sin(angle) * series) / np.pi


def t_quantile(nu, p):
    low, high = -1.0, 1.0
    while t_cdf(nu, low) > p:
        low *= 2
    while t_cdf(nu, high) < p:
        high *= 2
    for _ in range(100):
        middle = (low + high) / 2
        low, high = (middle, high) if t_cdf(nu, middle) < p else (low, middle)
    return (low + high) / 2


def noise_quantile(nu, skew, p):
    """Of noise with scale 1: two halves of scales e^(-0.3 skew) and e^(0.3 skew)."""
    left, right = np.exp(-0.3 * skew), np.exp(0.3 * skew)
    below = left / (left + right)
    if p < below:
        return left * t_quantile(nu, p / (2 * below))
    return right * t_quantile(nu, 1 - (1 - p) / (2 * (1 - below)))


def condemned_nearby(end):
    """The share of the clean samples that are condemned though they are near: the tail of the noise. What is on one
    side only may be corrupt, and so may be as many as there are farther away."""
    condemned, distance = end.w <= 0.5, np.abs(end.r) / np.sqrt(end.s2)
    near = [np.sum(condemned & (distance <= TAIL_NEAR) & (side * end.r > 0)) for side in (-1, 1)]
    far = [np.sum(condemned & (distance > TAIL_NEAR) & (distance <= TAIL_FAR) & (side * end.r > 0)) for side in (-1, 1)]
    tail = sum(near) if min(near) >= ONE_SIDE * sum(near) else 2 * min(near)
    tail = max(0.0, tail - 1.5 * min(far))
    return tail / (np.sum(~condemned) + tail) if tail else 0.0


def intervals(end, z, level):
    """(lower, upper) offsets from the predictions of new samples, whose standardised columns are the rows of z."""
    s = spread(end)
    level = min(level / (1 - condemned_nearby(end)), (1 + level) / 2)
    width = CAUTION * np.sqrt(s.s2 + z ** 2 @ s.each + s.middle)
    middle = noise_quantile(end.nu, end.skew, 0.5) if end.intercept else 0.0
    ends = [noise_quantile(end.nu, end.skew, (1 + side * level) / 2) - middle for side in (-1, 1)]
    return width * ends[0], width * ends[1]


def coefficient_interval(group, level):
    """Of the standardised column, only for a group of one."""
    half = t_quantile(np.inf, (1 + level) / 2) * group.error
    return (group.effect - half, group.effect + half) if len(group.members) == 1 else None
