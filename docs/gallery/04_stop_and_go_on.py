"""
A stream that is stopped and goes on
====================================

A fit writes checkpoints, is stopped in the middle, and continues. The model is the same to the bit as that of a fit
that ran through.
"""

import subprocess
import tempfile
from pathlib import Path

import numpy as np
from roofs import RoOFSRegressor

work = Path(tempfile.mkdtemp())


def shell(command):
    print("$", command)
    done = subprocess.run(command, shell=True, capture_output=True, text=True, cwd=work)
    print(done.stdout + done.stderr)


shell("roofs simulate -o data --n 400 --p 3000 --mu 20 --corruption 0.2 --seed 1")

# %%
# The first fit gets only the first files of a folder, as if the others had not arrived. ``--checkpoint`` saves its
# state.

X = np.load(work / "data/X.npy")
(work / "days").mkdir()
np.save(work / "days/1.npy", X[:1000])
shell("roofs fit --y data/y.npy --mu 20 --passes 1 days --checkpoint fit.ck -o model.json")

# %%
# Two more files arrive. ``resume`` reads only these.

np.save(work / "days/2.npy", X[1000:2000])
np.save(work / "days/3.npy", X[2000:])
shell("roofs resume fit.ck days -o model.json")

# %%
# One fit of everything gives the same file.

shell("roofs fit --y data/y.npy --mu 20 --passes 1 days -o whole.json --quiet")
shell("cmp model.json whole.json && echo same")

# %%
# In Python the same is ``begin``, ``partial_fit_features``, ``save`` and ``load``.

y = np.load(work / "data/y.npy")
running = RoOFSRegressor(20).begin(y)
running.partial_fit_features(X[:1000].T)
running.save(work / "python.ck")

again = RoOFSRegressor.load(work / "python.ck")           # in another process, another day
again.partial_fit_features(X[1000:].T)
again.finish()
print(again.n_features_in_, "features seen,", len(again.selected_indices_), "selected")
