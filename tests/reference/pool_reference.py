"""The pool of dropped neighbours, slow and obvious, in plain NumPy: columns in 8 bits of features that were dropped and
might be the cause in place of a kept one."""
from dataclasses import dataclass, field

import numpy as np

PER_KEPT = 4              # entries of the pool per feature to keep
NEAR = 0.5                # correlation with a head, to be in the pool: that of groups_reference
WORST = -12.0             # log likelihood of a column against its head, to be in the pool
HEAD = 0.1                # inclusion probability of a head
PER_HEAD = 32             # entries per head of the further read


@dataclass
class Column:
    """z in steps of `step`; z is the column as it was standardised when it arrived."""
    step: float
    codes: np.ndarray         # int8


@dataclass
class Pool:
    capacity: int
    columns: dict = field(default_factory=dict)       # feature -> Column
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


def gains(moment, Z):
    """(correlation with its head, log likelihood against its head) of each of the candidates Z."""
    heads = np.flatnonzero(moment.a > HEAD)
    if not len(heads):
        return np.zeros(Z.shape[1]), np.full(Z.shape[1], -np.inf)
    W, total = moment.W, np.sum(moment.W)
    H, size = standardise(moment.Z[:, heads], W, moment.intercept)
    be = moment.be[heads] * size
    C, G = (Z * W[:, None]).T @ H / total, (H * W[:, None]).T @ H / total
    own = np.argmax(np.abs(C), axis=1)
    cz, ch = Z.T @ (W * moment.r) / total, H.T @ (W * moment.r) / total
    delta = np.zeros(Z.shape[1])
    for j, h in enumerate(own):
        family = np.abs(G[h]) > NEAR
        cj, c = cz[j] + np.sum(be[family] * C[j, family]), ch[h] + np.sum(be[family] * G[h, family])
        delta[j] = (cj ** 2 - c ** 2) * total / (2 * moment.tau2)
    return np.abs(C[np.arange(len(own)), own]), delta


def update(pool, moment, dropped):
    """After each batch, and where the end of the fit drops features. dropped: feature -> column that leaves."""
    features, columns = candidates(pool, moment.index, dropped)
    if not features:
        pool.columns = {}
        return
    Z, _ = standardise(np.array([decode(c) for c in columns]).T, moment.W, moment.intercept)
    near, delta = gains(moment, Z)
    fit = np.flatnonzero((near > NEAR) & (delta > WORST))
    order = fit[np.argsort(-delta[fit], kind="stable")]      # among equals the earlier feature
    pool.complete = pool.complete and len(order) <= pool.capacity
    pool.columns = {features[k]: columns[k] for k in sorted(order[:pool.capacity])}


def begin_pass(pool):
    """Every feature comes again: what was lost before can still be found."""
    pool.complete = True


def further_read(moment, stream, capacity):
    """The pool of one more read with the state of the end; stream: (feature, column) of features that are not kept."""
    pool = Pool(capacity=max(capacity, PER_HEAD * int(np.sum(moment.a > HEAD))))
    for j, z in stream:
        update(pool, moment, {j: z})
    return pool
