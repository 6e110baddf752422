"""Sparse matrices whose arrays do not fit each other: refused before SciPy or the library follows them."""
import subprocess
import sys

import numpy as np
import pytest
import scipy.sparse as sp

from roofs import RoOFSRegressor

WILD = [-1, 10 ** 9, -10 ** 9, 2 ** 31 - 1]


def matrix(kind):
    x = np.random.default_rng(0).standard_normal((24, 8)) * (np.random.default_rng(1).random((24, 8)) < 0.5)
    made = sp.bsr_matrix(x, blocksize=(2, 2)) if kind == "bsr" else getattr(sp, kind + "_matrix")(x)
    assert made.format == kind
    return made


def set_item(name, place, value):
    def damage(m):
        array = getattr(m, name)
        array[place if place >= 0 else len(array) + place] = value
    return damage


def cut(name, count=1):
    return lambda m: setattr(m, name, getattr(m, name)[:-count])


def lengthen(name):
    return lambda m: setattr(m, name, np.concatenate([getattr(m, name), getattr(m, name)]))


def as_type(name, dtype):
    return lambda m: setattr(m, name, getattr(m, name).astype(dtype))


def rows_of(change):
    return lambda m: change(m.rows, m.data)


def add_key(key):
    return lambda m: dict.__setitem__(getattr(m, "_dict", m), key, 1.0)


COMPRESSED = [*(set_item("indptr", place, wild) for place in (0, 1, 4, -1) for wild in WILD),
              *(set_item("indices", place, wild) for place in (0, -1) for wild in WILD), set_item("indices", 0, 24),
              cut("data"), cut("indices"), cut("indptr"), lengthen("indptr"), lengthen("data"),
              as_type("indptr", float), as_type("indices", float)]
DAMAGE = {
    "csc": COMPRESSED, "csr": COMPRESSED, "bsr": COMPRESSED,
    "coo": [*(set_item(name, 0, wild) for name in ("row", "col") for wild in WILD), cut("data")],
    "dia": [cut("offsets"), lengthen("offsets"), as_type("offsets", float), set_item("offsets", 1, "first")],
    "lil": [rows_of(lambda rows, data: rows[3].append(10 ** 9)), rows_of(lambda rows, data: data[3].append(1.0)),
            rows_of(lambda rows, data: rows.__setitem__(2, [-5] * len(data[2]))),
            rows_of(lambda rows, data: rows.__setitem__(2, [7, 10 ** 9][:len(data[2])] * 9))],
    "dok": [add_key((10 ** 9, 0)), add_key((0, -1)), add_key((0, 8)), add_key((24, 0))],
}
CASES = [(kind, k) for kind in DAMAGE for k in range(len(DAMAGE[kind]))]


def damaged(kind, k):
    m = matrix(kind)
    damage = DAMAGE[kind][k]
    if kind == "dia" and k == 3:
        m.offsets = m.offsets.copy()
        m.offsets[1] = m.offsets[0]
    else:
        damage(m)
    return m


def test_damaged_matrices_are_refused():
    """In a process of its own: a crash must not end the other tests."""
    done = subprocess.run([sys.executable, __file__], capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stdout[-2000:] + done.stderr[-2000:]


def refuse_all():
    good = RoOFSRegressor(2).fit(matrix("csc"), np.arange(24.0))
    y = np.arange(24.0)
    for kind, k in CASES:
        calls = (lambda m: RoOFSRegressor(2).fit(m, y), good.predict, lambda m: RoOFSRegressor(2).fit_stream([m], y))
        for call in calls:
            print(kind, k, flush=True)
            with pytest.raises(ValueError, match="damaged"):
                call(damaged(kind, k))
    for kind in DAMAGE:
        good.predict(matrix(kind))


@pytest.mark.parametrize("kind", sorted(DAMAGE))
def test_sound_matrices_are_accepted(kind):
    x = matrix(kind)
    y = x.toarray() @ np.arange(8.0)
    dense = x.toarray()
    assert np.allclose(RoOFSRegressor(2).fit(x, y).predict(x), RoOFSRegressor(2).fit(dense, y).predict(dense))


def test_values_after_the_last_start_are_allowed():
    """SciPy allows arrays that are longer than indptr says."""
    x, y = matrix("csc"), np.arange(24.0)
    longer = x.copy()
    longer.data, longer.indices = np.append(x.data, [1.0, 2.0]), np.append(x.indices, [0, 1]).astype(x.indices.dtype)
    assert (RoOFSRegressor(2).fit(longer, y).coef_ == RoOFSRegressor(2).fit(x, y).coef_).all()


if __name__ == "__main__":
    refuse_all()
