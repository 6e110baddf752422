"""The pieces of the references of groups, pool and intervals against what they claim."""
import numpy as np
import pytest

import groups_reference as groups
import joint_reference as joint
import pool_reference as pool


def blocks(rng, n, count, size=5, rho=0.97):
    shared = np.repeat(rng.standard_normal((n, count)), size, axis=1)
    return np.sqrt(rho) * shared + np.sqrt(1 - rho) * rng.standard_normal((n, count * size))


def end_of(seed, n=300, count=8, noise=1.0, kept=None):
    """(End, X, beta): blocks of five columns, causes in three of them; one column of each block is kept, the others
    are in the pool."""
    rng = np.random.default_rng(seed)
    X = blocks(rng, n, count)
    beta = np.zeros(X.shape[1])
    beta[[2, 8, 14]] = 1.0, -1.0, 0.8
    y = X @ beta + noise * rng.standard_normal(n)
    kept = np.arange(0, X.shape[1], 5) if kept is None else kept
    rest = np.setdiff1d(np.arange(X.shape[1]), kept)
    Z = groups.standardise(X, np.ones(n), True)
    be = np.linalg.lstsq(Z[:, kept], y - np.mean(y), rcond=None)[0]
    r = y - np.mean(y) - Z[:, kept] @ be
    return groups.End(y=y, W=np.ones(n), w=np.ones(n), Z=Z[:, kept], index=kept, be=be, a=np.ones(len(kept)),
                      seen=X.shape[1], b=np.mean(y), r=r, s2=np.mean(r ** 2), trace=len(kept) + 1.0, pool=Z[:, rest],
                      pool_index=rest), X, beta


def test_groups_contain_the_causes_that_were_dropped():
    end, _, beta = end_of(1)
    found, _ = groups.groups(end)
    causes = {int(j) for g in found for j in g.members if beta[j]}
    assert len(found) == 3 and causes == set(np.flatnonzero(beta))
    assert not any(beta[j] for j in end.index)                   # the comparison can fail: no cause is kept


def test_groups_overlap_in_no_feature():
    members = [j for g in groups.groups(end_of(2)[0], 0.5)[0] for j in g.members]
    assert members and len(members) == len(set(members))


@pytest.mark.parametrize("seed", range(5))
def test_pure_noise_has_no_group(seed):
    end, _, _ = end_of(seed)
    end.y = np.random.default_rng(seed + 100).standard_normal(len(end.y))
    assert groups.groups(end)[0] == []


def test_single_effect_is_the_marginal_likelihood():
    """log N(r; 0, s2 I + v z z') of each column, up to what all columns share."""
    end, _, _ = end_of(3, n=40)
    work = groups.begin(end)
    e = groups.Effect(head=0, near=np.arange(6), f=np.zeros(40))
    groups.single_effect(work, e)
    S = groups.variance_of_estimate(work)
    v = S * e.variance[0] / (S - e.variance[0])
    logs = []
    for j in e.near:
        C = work.s2 * np.eye(40) + v * np.outer(work.Z[:, j], work.Z[:, j])
        logs.append(-np.linalg.slogdet(C)[1] / 2 - work.t @ np.linalg.solve(C, work.t) / 2)
    want = np.exp(logs - np.max(logs))
    assert e.alpha == pytest.approx(want / want.sum(), rel=1e-9) and np.ptp(e.alpha) > 0.01


@pytest.mark.parametrize("seed", range(3))
def test_discoveries_are_those_of_benjamini_and_hochberg(seed):
    z = np.random.default_rng(seed).standard_normal(30) * 3
    p = np.sort([groups.probability_of(v) for v in z])
    rates = groups.discoveries(z, 50)
    for q in (0.01, 0.05, 0.1, 0.3):
        passing = np.flatnonzero(p <= q * np.arange(1, 31) / 50)
        assert np.sum(rates <= q) == (passing[-1] + 1 if len(passing) else 0)


@pytest.mark.parametrize("nu", joint.NU)
@pytest.mark.parametrize("skew", [-4, 0, 3])
def test_quantiles_invert_the_density(nu, skew):
    u = np.linspace(-25, 25, 400001)
    z = np.sinh(u)
    values = joint.density(nu, skew, z, np.ones(len(z))) * np.cosh(u)
    below = np.concatenate([[0.0], np.cumsum((values[1:] + values[:-1]) / 2 * np.diff(u))])
    for p in (0.05, 0.3, 0.5, 0.95):
        at = np.interp(groups.noise_quantile(nu, skew, p), z, below)
        assert at == pytest.approx(p, abs=2e-3)


@pytest.mark.parametrize("level", [0.5, 0.9])
def test_intervals_cover_new_samples(level):
    inside = []
    for seed in range(10):
        end, X, beta = end_of(seed, kept=np.array([2, 8, 14]))
        rng = np.random.default_rng(seed + 50)
        new = blocks(rng, 500, 8)
        t = new @ beta + rng.standard_normal(500)
        z = (new[:, end.index] - X[:, end.index].mean(0)) / X[:, end.index].std(0)
        lower, upper = groups.intervals(end, z, level)
        error = t - end.b - z @ end.be
        inside.append(np.mean((error >= lower) & (error <= upper)))
    assert level - 0.02 < np.mean(inside) < level + 0.05


def test_intervals_are_wider_where_noise_was_fitted():
    """Kept columns that do not matter, the best of many: the residual alone is too small."""
    rng = np.random.default_rng(5)
    n, X, y = 200, rng.standard_normal((200, 2000)), rng.standard_normal(200)
    kept = np.sort(np.argsort(-np.abs(X.T @ y))[:20])
    Z = groups.standardise(X, np.ones(n), True)[:, kept]
    be = np.linalg.lstsq(Z, y - y.mean(), rcond=None)[0]
    r = y - y.mean() - Z @ be
    end = groups.End(y=y, W=np.ones(n), w=np.ones(n), Z=Z, index=kept, be=be, a=np.ones(20), seen=2000, b=y.mean(),
                     r=r, trace=21.0)
    assert np.sum(r ** 2) / (n - 21) < 0.7 and 0.8 < groups.spread(end).s2 < 1.3


# ---- the pool ------------------------------------------------------------------------------

def test_codes_are_within_half_a_step():
    z = np.random.default_rng(1).standard_normal(1000)
    column = pool.encode(z)
    assert np.abs(pool.decode(column) - z).max() <= column.step / 2 * (1 + 1e-12)
    assert column.codes.dtype == np.int8 and np.abs(column.codes).max() == 127


def moment_of(seed):
    end, X, beta = end_of(seed)
    return pool.Moment(W=end.W, r=end.r, tau2=1.0, Z=end.Z, index=end.index, be=end.be, a=end.a), end, beta


def test_pool_keeps_the_causes_and_reports_what_is_lost():
    moment, end, beta = moment_of(4)
    dropped = dict(zip(end.pool_index, end.pool.T))
    large, small = pool.Pool(100), pool.Pool(4)
    pool.update(large, moment, dropped)
    pool.update(small, moment, dropped)
    assert set(np.flatnonzero(beta)) <= set(large.columns) and large.complete
    assert len(small.columns) == 4 and not small.complete


def test_kept_features_leave_the_pool():
    moment, end, _ = moment_of(4)
    box = pool.Pool(100)
    pool.update(box, moment, dict(zip(end.pool_index, end.pool.T)))
    j = sorted(box.columns)[0]
    moment.index = np.append(moment.index, j)
    moment.Z = np.column_stack([moment.Z, end.pool[:, 0]])
    moment.be, moment.a = np.append(moment.be, 0), np.append(moment.a, 0)
    pool.update(box, moment, {})
    assert j not in box.columns


def test_further_read_finds_what_a_small_pool_has_lost():
    moment, end, beta = moment_of(4)
    found = pool.further_read(moment, zip(end.pool_index, end.pool.T), 4)
    assert set(np.flatnonzero(beta)) <= set(found.columns) and found.complete
