"""roofs inspect --theory, slow and obvious: written from docs/theory.md. (T1) to (T9) are the equations of that page,
(1) to (9) those of the paper."""
import math
from statistics import NormalDist

import numpy as np

RISK = 0.01
SINGULAR = 1e-11
LOG_RISK = math.log(3 / RISK)
NORMAL = NormalDist()


def inverse_root(matrix):
    values, vectors = np.linalg.eigh(matrix)
    return (vectors / np.sqrt(values)) @ vectors.T


def any_of(n, count):
    """Bound on the length of any `count` of n standard normal numbers."""
    if count == 0:
        return 0.0
    mean = float(n)
    if count < n:
        cut = -NORMAL.inv_cdf(count / n / 2)
        mean = count + 2 * n * cut * NORMAL.pdf(cut)
    return math.sqrt(mean) + math.sqrt(2 * LOG_RISK)


def trimmed_square(share):
    if share == 1:
        return 1.0
    cut = NORMAL.inv_cdf((1 + share) / 2)
    return 1 - 2 * cut * NORMAL.pdf(cut) / share


def leverage_by_moments(v, k):
    """(T7), on all pairs of columns instead of the unordered ones."""
    m = len(v)
    pairs = np.array([np.outer(sample, sample).ravel() for sample in v.T])
    moments = pairs.T @ pairs
    squares = np.eye(m).ravel()
    theta = squares @ moments @ squares / (m * (m + 2))
    largest = np.linalg.eigvalsh(moments - theta * np.outer(squares, squares))[-1]
    return math.sqrt(k * (theta + largest))


def noise_factor(n, trusted, corrupt, columns, seen, kept, outside, leverage):
    """(T5)"""
    projected = math.sqrt(columns) + math.sqrt(2 * (math.log(math.comb(seen, kept)) + LOG_RISK))
    lost = min(n, n - trusted + corrupt)
    return min(math.sqrt(1 + outside) * projected + math.sqrt(outside + leverage) * any_of(n, lost),
               any_of(n, trusted))


class Theory:
    """The bounds of a model, from the features (one per row) and the responses of its fit."""
    def __init__(self, x, y, model, corrupt=None, sigma=None):
        x, y = np.asarray(x, float), np.asarray(y, float)
        self.model, self.n, self.seen = model, len(y), len(x)
        self.kept = [f["index"] for f in model["features"]]
        self.coef = np.array([f["coef"] for f in model["features"]])
        self.intercept, self.standardize = model["settings"]["intercept"], model["settings"]["standardize"]
        self.trust = np.ones(self.n, bool)
        self.trust[model["outliers"]] = False
        self.trusted = int(self.trust.sum())
        self.corrupt = self.n - self.trusted if corrupt is None else corrupt
        self.r = y - model["intercept"] - self.coef @ x[self.kept]
        self.x, self.y, self.sigma = x, y, sigma
        self.value = self.published = self.each = None
        self.reasons, self.published_reasons = set(), set()
        if self.kept:
            self.compute()
        else:
            self.reasons.add("empty")

    def scaled(self, columns):
        """Columns with scale 1 on the trusted samples, centred if there is an intercept; and their scales."""
        centre = columns[:, self.trust].mean(axis=1) if self.intercept else np.zeros(len(columns))
        columns = columns - centre[:, None]
        scale = np.sqrt((columns[:, self.trust] ** 2).mean(axis=1))
        with np.errstate(all="ignore"):
            return columns / scale[:, None], scale

    def compute(self):
        features, self.scale = self.scaled(self.x[self.kept])
        z = np.vstack([np.ones((int(self.intercept), self.n)), features])
        inside = z[:, self.trust]
        gram, columns = inside @ inside.T, len(z)
        if 2 * self.corrupt >= self.n:
            self.reasons.add("half")
        values = np.linalg.eigvalsh(gram) if np.isfinite(gram).all() else np.zeros(columns)
        if self.trusted <= columns or values[0] <= SINGULAR * values[-1]:
            self.reasons.add("dependent")
            return
        if self.sigma is None:
            squares = (self.r[self.trust] ** 2).sum()
            self.sigma = math.sqrt(squares / (self.trusted - columns) / trimmed_square(self.trusted / self.n))
        root = inverse_root(gram)
        v = root @ z
        self.find_leverage(v)
        worst = np.sort(self.r[self.trust] ** 2)[::-1][:self.corrupt].sum()
        self.gradient = np.linalg.norm(root @ inside @ self.r[self.trust])
        self.corruption = math.sqrt(self.leverage * worst)
        self.noise = self.sigma * self.factor(columns, self.leverage, self.corrupt)
        if self.leverage >= 1:
            self.reasons.add("leverage")
        if not self.reasons:
            self.find_bound(gram)
        self.find_published(features, self.factor(columns, 0, 0))

    def find_leverage(self, v):
        inside, outside = v[:, self.trust], v[:, ~self.trust]
        self.outside = max(0.0, np.linalg.eigvalsh(outside @ outside.T)[-1])
        by_sum = np.sort((inside ** 2).sum(axis=0))[::-1][:self.corrupt].sum()                   # (T6)
        self.leverage = min(by_sum, leverage_by_moments(inside, self.corrupt)) if len(v) <= 50 else by_sum

    def factor(self, columns, leverage, corrupt):
        return noise_factor(self.n, self.trusted, corrupt, columns, self.seen, len(self.kept), self.outside, leverage)

    def find_bound(self, gram):
        first = int(self.intercept)
        self.distance = (self.gradient + self.corruption + self.noise) / (1 - self.leverage)     # (T3)
        inverse = np.linalg.inv(gram)[first:, first:] / np.outer(self.scale, self.scale)
        self.each = self.distance * np.sqrt(np.diag(inverse))                                    # (T8)
        self.value = self.distance * math.sqrt(np.linalg.eigvalsh(inverse)[-1])                  # (T9)

    def find_published(self, features, factor):
        """Theorem 3 with the trusted samples for S*."""
        if self.model["method"] != "roofs":
            self.published_reasons.add("method")
            return
        unit = np.ones(len(self.kept)) if self.standardize else self.scale
        inside = features[:, self.trust] * unit[:, None]
        beta = self.coef * (self.scale if self.standardize else 1)
        step = self.model["history"][-1]["step"] / self.trusted
        slope = inside @ self.r[self.trust]
        others = self.x[np.setdiff1d(np.arange(self.seen), self.kept)]
        if self.intercept or self.standardize:
            others = others[np.ptp(others[:, self.trust], axis=1) > 0]
        scaled, scale = self.scaled(others)
        gradients = np.abs(scaled[:, self.trust] @ self.r[self.trust]) * (1 if self.standardize else scale)
        self.changes = (step * np.abs(slope).max(), step * gradients.max(initial=0), np.abs(beta).min(), slope @ beta)
        for name, fails in (("trusted", self.trusted > self.n - self.corrupt),
                            ("kept", self.changes[0] > self.changes[2]), ("other", self.changes[1] > self.changes[2]),
                            ("sign", self.changes[3] < 0), ("half", "half" in self.reasons)):
            self.published_reasons |= {name} if fails else set()
        values = np.linalg.eigvalsh(inside @ inside.T)
        centre = self.y[self.trust].mean() if self.intercept else 0
        zero = ((self.y[self.trust] - centre) ** 2).sum()
        self.alpha = (1 / (step * values[0])) ** 2
        limit = self.alpha / (1 + self.alpha) * zero
        self.residual_bound = limit + (self.sigma * any_of(self.n, self.trusted)) ** 2 / (1 + self.alpha)
        b = math.sqrt(values[-1]) * self.sigma * factor
        error = (b + math.sqrt(b * b + values[0] * limit)) / values[0]
        if not self.published_reasons:
            self.published = error / (self.scale.min() if self.standardize else 1)
