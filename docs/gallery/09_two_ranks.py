"""
Two ranks
=========

``roofs-mpi`` splits the samples over processes, on one machine or on many. Every rank holds half of the samples here.
The model is that of one process.
"""

import json
import os
import shutil
import subprocess
import tempfile
from pathlib import Path

work = Path(tempfile.mkdtemp())
os.environ.update(OMPI_ALLOW_RUN_AS_ROOT="1", OMPI_ALLOW_RUN_AS_ROOT_CONFIRM="1", OMP_NUM_THREADS="1",
                  OMPI_MCA_rmaps_base_oversubscribe="1")
HAS_MPI = bool(shutil.which("mpirun") and shutil.which("roofs-mpi"))
if not HAS_MPI:
    print("This machine has no MPI: the commands are shown, but not run.")


def shell(command):
    print("$", command)
    if HAS_MPI or "mpi" not in command:
        done = subprocess.run(command, shell=True, capture_output=True, text=True, cwd=work)
        print(done.stdout + done.stderr)


shell("roofs simulate -o data --n 1000 --p 2000 --mu 20 --corruption 0.2 --seed 1")
shell("roofs fit --y data/y.npy --mu 20 data/X.npy -o one.json")

# %%

shell("mpirun -n 2 roofs-mpi fit --y data/y.npy --mu 20 data/X.npy -o two.json")

# %%
# The same features and samples; coefficients agree to the last digits.

if HAS_MPI:
    one, two = (json.loads((work / name).read_text()) for name in ("one.json", "two.json"))
    print("same features:", [f["index"] for f in one["features"]] == [f["index"] for f in two["features"]])
    print("same samples: ", one["outliers"] == two["outliers"])
    print("largest difference of a coefficient:",
          f"{max(abs(a['coef'] - b['coef']) for a, b in zip(one['features'], two['features'])):.0e}")

# %%
# In Python: ``RoOFSRegressor(20).fit(X, y, comm=MPI.COMM_WORLD)`` with the samples of this rank.
# :doc:`More than one machine </scaling>` has the details.
