"""The number of threads: what joblib says about it."""
import joblib
import pytest
from joblib import Parallel, delayed
from roofs._library import lib, threads_of


def test_numbers_are_taken_as_they_are():
    assert [threads_of(k) for k in (1, 2, 7)] == [1, 2, 7]


def test_default_is_that_of_the_library():
    assert threads_of(None) == threads_of(-1) == min(lib.roofs_default_threads(), joblib.cpu_count())
    assert threads_of(-1000) == 1


def test_limit_of_joblib_is_respected(monkeypatch):
    monkeypatch.setenv("LOKY_MAX_CPU_COUNT", "1")
    assert threads_of(None) == threads_of(-1) == 1 and threads_of(3) == 3


def test_worker_threads_leave_the_cores_to_their_siblings():
    assert Parallel(n_jobs=2, prefer="threads")(delayed(threads_of)(k) for k in (None, None, 3)) == [1, 1, 3]


@pytest.mark.skipif(not hasattr(joblib, "parallel_config"), reason="joblib before 1.3")
def test_context_of_joblib_is_respected():
    with joblib.parallel_config(n_jobs=3):
        assert threads_of(None) == 3 and threads_of(2) == 2
    assert threads_of(None) == threads_of(-1)
