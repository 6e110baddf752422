"""The example of "From Python" in README.md, for tests of packages. Writes the model, and the data for the program.

    readme_example.py MODEL [X.npy Y.npy]
"""
import sys

import numpy as np
from sklearn.datasets import make_regression

from roofs import RoOFSRegressor

X, y = make_regression(500, 2000, n_informative=5, noise=1, random_state=0)
y[::5] = 1000   # a fifth of the responses is wrong
model = RoOFSRegressor().fit(X, y)
if not model.outliers_[::5].all():
    sys.exit("the corrupted responses are not found")
model.save(sys.argv[1])
if len(sys.argv) > 2:
    np.save(sys.argv[2], X)
    np.save(sys.argv[3], y)
print("features", *model.selected_indices_, "and", int(model.outliers_.sum()), "samples not to trust")
