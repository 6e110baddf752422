"""A fit of bayes_reference that fills the pool on its way, and what it leaves for groups and intervals."""
from unittest import mock

import numpy as np

import bayes_reference as bayes
import groups_reference as groups
import pool_reference as pool


class Recorder:
    """Puts the updates of the pool into the steps of bayes_reference. Each hypothesis has a pool of its own."""

    def __init__(self, capacity):
        self.capacity, self.pools = capacity, {}
        self.one_batch, self.one_pass, self.finish = bayes.one_batch, bayes.one_pass, bayes.finish

    def of(self, st):
        return self.pools.setdefault(id(st), pool.Pool(self.capacity))

    def after(self, st, before):
        if st.psi:
            dropped = {j: st.known[j].z for j in before if j not in st.psi}
            pool.update(self.of(st), moment(st), dropped)

    def batch(self, st, batch, cap):
        before = list(st.psi)
        self.one_batch(st, batch, cap)
        self.after(st, before)

    def read(self, fits, *args):
        for st in fits:
            pool.begin_pass(self.of(st))
        return self.one_pass(fits, *args)

    def end(self, st, hypotheses):
        before = list(st.psi)
        self.finish(st, hypotheses)
        self.after(st, before)


def moment(st):
    kept = [st.known[j] for j in st.psi]
    a = np.array([0.0 if j < st.always else st.known[j].a for j in st.psi])      # forced features are no heads
    return pool.Moment(W=st.W, r=st.r, tau2=st.tau2, Z=np.array([f.z for f in kept]).T, index=np.array(st.psi),
                       be=np.array([f.be for f in kept]), a=a, intercept=st.intercept)


def final_weights(st):
    """(W, w) without samples that share a response far from the fit: a constant in place of responses."""
    W, w = rare_weights(st)
    values, counts = np.unique(st.y, return_counts=True)
    most, same = np.max(counts), st.y == values[np.argmax(counts)]
    if max(5, 0.05 * len(w)) <= most <= 0.5 * len(w) and np.any(same & (w > 0.5)) and np.any(~same & (w > 0.5)):
        if np.mean(st.r[same & (w > 0.5)] ** 2) > 4 * np.mean(st.r[~same & (w > 0.5)] ** 2):
            W, w = np.where(same, 0, W), np.where(same, 0, w)
    return W, w


def rare_weights(st):
    """(W, w), but those of the labels where corruption is rare: the samples that are trusted in the end. There the
    solution's W gives honest samples in the tail too little weight, and the labels' w others too much."""
    if not (st.settled and st.settled.kind.rare):
        return st.W, st.w
    trusted, nu, leverage = (st.w > 0.5).astype(float), st.settled.nu, st.V / st.s2
    hat = np.minimum(st.W * leverage, 1 - 1e-6)
    z, variance = st.r / (1 - hat), st.s2 * (1 + leverage / (1 - hat))
    return trusted * (1 if np.isinf(nu) else (nu + 1) / (nu + z ** 2 / variance)), trusted


def end_of(st, found):
    now, solution = moment(st), st.settled
    W, w = final_weights(st)
    columns = [pool.decode(column) for column in found.columns.values()]
    return groups.End(y=st.y, W=W, w=w, Z=now.Z, index=now.index, be=now.be, a=now.a, seen=len(bayes.free(st, st.seen)),
                      b=st.b, intercept=st.intercept, r=st.r, s2=st.s2, trace=float(np.sum(st.W * st.V) / st.s2),
                      nu=solution.nu if solution else np.inf, skew=solution.skew if solution else 0,
                      pool=np.array(columns).T if columns else None, pool_index=np.array(list(found.columns), int),
                      always=st.always)


def fit(x, y, mu, exact=False, per_kept=pool.PER_KEPT, **settings):
    """(fit of bayes_reference, End, whether the pool is complete); End is None where no feature is kept."""
    recorder = Recorder(per_kept * mu)
    with mock.patch.multiple(bayes, one_batch=recorder.batch, one_pass=recorder.read, finish=recorder.end):
        done = bayes.fit(x, y, mu=mu, **settings)
    st = done.state
    if not st.psi:
        return done, None, True
    found = recorder.of(st)
    if exact:
        stream = ((j, st.known[j].z) for j in sorted(st.known) if j not in set(st.psi))
        found = pool.further_read(moment(st), stream, recorder.capacity)
    return done, end_of(st, found), found.complete
