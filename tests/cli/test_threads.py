"""The default number of threads: --explain prints it and what decided it."""
import os
import re
import shutil
import subprocess

import numpy as np
import pytest


@pytest.fixture
def data(write_npy, program):
    rng = np.random.default_rng(1)
    return program, write_npy("y.npy", rng.normal(size=50)), write_npy("X.npy", rng.normal(size=(20, 50)))


def explained(data, *options, before=(), **variables):
    environment = {k: v for k, v in os.environ.items() if not k.startswith("OMP_")}
    done = subprocess.run([*before, data[0], "fit", "--y", data[1], "--mu", "5", data[2], "--explain", *options],
                          capture_output=True, text=True, check=True, env={**environment, **variables})
    why, count = re.search(r"^threads +(.*?) +(\d+)$", done.stdout, re.M).groups()
    return why, int(count)


def test_given_number_is_explained(data):
    assert explained(data, "--threads", "3") == ("--threads", 3)


def test_default_is_within_the_cores(data):
    assert 1 <= explained(data)[1] <= len(os.sched_getaffinity(0))


@pytest.mark.skipif(len(os.sched_getaffinity(0)) < 2, reason="needs two cores")
def test_openmp_limits_the_default(data):
    why, count = explained(data, OMP_NUM_THREADS="1")
    assert "OMP_NUM_THREADS" in why and count == 1


@pytest.mark.skipif(len(os.sched_getaffinity(0)) < 2 or not shutil.which("taskset"), reason="needs cores and taskset")
def test_affinity_limits_the_default(data):
    core = str(min(os.sched_getaffinity(0)))
    why, count = explained(data, before=["taskset", "-c", core])
    assert "may run" in why and count == 1
