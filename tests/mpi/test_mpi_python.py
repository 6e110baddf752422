"""RoOFSRegressor with an mpi4py communicator, where the package is installed for the tests and mpi4py is there."""
import json
import subprocess

import numpy as np
import pytest
from test_mpi import BUILD, QUIET, environment

PYTHON = BUILD / "python-system" / "bin" / "python"

SCRIPT = """
import json, sys
import numpy as np
from mpi4py import MPI
from roofs import RoOFSRegressor
comm = MPI.COMM_WORLD
data = np.load(sys.argv[1])
n = len(data["y"])
own = slice(n * comm.Get_rank() // comm.Get_size(), n * (comm.Get_rank() + 1) // comm.Get_size())
X, y = data["X"][own], data["y"][own]
printed = {}
for method in ("roofs", "roofs-bayes"):
    model = RoOFSRegressor(4, method=method, batch_size=7).fit(X, y, comm=comm)
    stream = RoOFSRegressor(4, method=method, batch_size=7).fit_stream([X[:, :9], X[:, 9:]], y, comm=comm)
    masks = comm.allgather(model.inlier_mask_.tolist())
    printed[method] = [model.coef_.tolist(), stream.selected_indices_.tolist(), sum(masks, [])]
if comm.Get_rank() == 0:
    print(json.dumps(printed))
"""


def usable():
    check = [PYTHON, "-c", "import mpi4py, roofs"]
    return PYTHON.exists() and subprocess.run(check, capture_output=True).returncode == 0


def test_communicator_of_mpi4py_is_accepted(tmp_path):
    if not usable():
        pytest.skip("mpi4py, or the environment of the Python tests, is not there")
    rng = np.random.default_rng(0)
    x = rng.normal(size=(211, 20))
    y = x[:, 3] - 2 * x[:, 11] + 0.5 + 0.01 * rng.normal(size=211)
    y[::7] += 9
    np.savez(tmp_path / "data.npz", X=x, y=y)
    (tmp_path / "script.py").write_text(SCRIPT)
    printed = []
    for ranks in (1, 3):
        done = subprocess.run(["mpirun", *QUIET, "-n", str(ranks), PYTHON, tmp_path / "script.py",
                               tmp_path / "data.npz"], capture_output=True,
                              text=True, timeout=120, env=environment())
        assert done.returncode == 0, done.stderr
        printed.append(json.loads(done.stdout))
    for method, (coef, stream, mask) in printed[0].items():
        np.testing.assert_allclose(printed[1][method][0], coef, rtol=1e-9, atol=1e-12)
        assert printed[1][method][1:] == [stream, mask] and {3, 11} <= set(stream)
