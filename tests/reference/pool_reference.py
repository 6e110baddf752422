"""The pool of dropped neighbours, slow and obvious, in plain NumPy: columns in 8 bits of features that were dropped and
might be the cause in place of a kept one."""
from dataclasses import dataclass, field

import numpy as np

PER_KEPT = 4              # entries of the pool per feature to keep
NEAR = 0.5                # correlation with a head, to be in the pool: that of groups_reference
FAMILY = 0.7              # correlation from which two heads share an effect
WORST = -12.0             # log likelihood of a column against its head, to be in the pool
HEAD = 0.1                # inclusion probability of a head
PER_HEAD = 32             # entries per head of the further read
SAMPLES = 512             # with more samples, correlations are computed where those of so many are large enough
MARGIN = 0.1              # how much smaller those may be
FEW, FEW_MARGIN = 4, 0.25                 # first on one in so many of these, which may be so much smaller
RARE = 20 * FEW / SAMPLES                 # sum of the fourth powers of a column that a few samples do not show


@dataclass
class Column:
    """z in steps of `step`; z is the column as it was standardised when it arrived."""
    step: float
    codes: np.ndarray         # int8
    head: int = -1            # the kept feature that it is nearest to
    near: float = 0.0         # their correlation when it became the nearest, in absolute value


@dataclass
class Pool:
    capacity: int
    columns: dict = field(default_factory=dict)       # feature -> Column
    heads: set = field(default_factory=set)           # of the update before
    complete: bool = True


@dataclass
class Moment:
    """The state after a batch."""
    W: np.ndarray
    r: np.ndarray
    tau2: float
    Z: np.ndarray             # kept columns
    index: np.ndarray
    be: np.ndarray
    a: np.ndarray
    intercept: bool = True


def encode(z):
    """127 steps to the largest value; half steps go to the even code."""
    largest = np.max(np.abs(z))
    step = largest / 127 if largest > 0 else 1.0
    return Column(step=step, codes=np.rint(z / step).astype(np.int8))


def decode(column):
    return column.step * column.codes.astype(float)


def standardise(Z, W, intercept):
    Z = Z - W @ Z / np.sum(W) if intercept else Z
    scale = np.sqrt(W @ Z ** 2 / np.sum(W))
    return np.where(scale > 0, Z / np.where(scale > 0, scale, 1), 0.0), scale


def candidates(pool, index, dropped):
    """(features, columns): what is in the pool, and what the batch has dropped, in the order of the stream."""
    both = {j: column for j, column in pool.columns.items() if j not in set(index)}
    both.update({j: encode(z) for j, z in dropped.items()})
    features = sorted(both)
    return features, [both[j] for j in features]


def unit_length(z, W, intercept):
    """Weighted, with length 1."""
    v = np.sqrt(W) * (z - np.sum(W * z) / np.sum(W) if intercept else z)
    length = np.sqrt(np.sum(v ** 2))
    return v / length if length > 0 else 0 * v


def is_rare(z, W, intercept):
    v = unit_length(z, W, intercept)
    return not np.any(v) or np.sum(v ** 4) > RARE


def correlation(z, h, W, intercept):
    """Of two standardised columns, in absolute value; 0 where some of the samples show that it is small."""
    def on(some):
        return abs(np.sum(unit_length(z[some], W[some], intercept) * unit_length(h[some], W[some], intercept)))

    stride = max(1, len(z) // SAMPLES)
    some, few = slice(0, len(z), stride), slice(0, len(z), FEW * stride)
    shows = len(z) >= SAMPLES and not any(is_rare(x[few], W[few], intercept) for x in (z, h))
    if (shows and on(few) < NEAR - FEW_MARGIN) or (stride > 1 and on(some) < NEAR - MARGIN):
        return 0.0
    return abs(np.sum(W * z * h)) / np.sum(W)


def nearest(column, z, moment, H, heads, old):
    """Compares with the heads that are new, or with all where its own head has gone."""
    if column.head not in heads:
        column.head, column.near, old = -1, 0.0, set()
    for j in sorted(set(heads) - old):
        near = correlation(z, H[:, heads[j]], moment.W, moment.intercept)
        if near > column.near:
            column.head, column.near = j, near


def families(moment, H, be):
    """For each head, the part of the fit that it shares with its near heads."""
    G = np.abs((H * moment.W[:, None]).T @ H) / np.sum(moment.W) > FAMILY
    return [H[:, family] @ be[family] for family in G]


def gain(z, h, shared, moment):
    """Log likelihood of a column in place of its head."""
    t = moment.W * (moment.r + shared)
    return ((z @ t) ** 2 - (h @ t) ** 2) / (2 * moment.tau2 * np.sum(moment.W))


def update(pool, moment, dropped):
    """After each batch, and where the end of the fit drops features. dropped: feature -> column that leaves."""
    features, columns = candidates(pool, moment.index, dropped)
    which = np.flatnonzero(moment.a > HEAD)
    heads = {int(moment.index[k]): place for place, k in enumerate(which)}
    old, pool.heads, pool.columns = pool.heads & set(heads), set(heads), {}
    if not features or not heads:
        return
    H, size = standardise(moment.Z[:, which], moment.W, moment.intercept)
    shared = families(moment, H, moment.be[which] * size)
    Z, _ = standardise(np.array([decode(c) for c in columns]).T, moment.W, moment.intercept)
    fit = []
    for k, column in enumerate(columns):
        nearest(column, Z[:, k], moment, H, heads, old)
        if column.near > NEAR:
            place = heads[column.head]
            delta = gain(Z[:, k], H[:, place], shared[place], moment)
            fit += [(-delta, k)] if delta > WORST else []
    fit.sort()                                               # among equals the earlier feature
    pool.complete = pool.complete and len(fit) <= pool.capacity
    pool.columns = {features[k]: columns[k] for _, k in sorted(fit[:pool.capacity], key=lambda pair: pair[1])}


def begin_pass(pool):
    """Every feature comes again: what was lost before can still be found."""
    pool.complete = True


def further_read(moment, stream, capacity):
    """The pool of one more read with the state of the end; stream: (feature, column) of features that are not kept."""
    pool = Pool(capacity=max(capacity, PER_HEAD * int(np.sum(moment.a > HEAD))))
    for j, z in stream:
        update(pool, moment, {j: z})
    return pool
