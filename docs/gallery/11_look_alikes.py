"""
Features that look alike
========================

Three sensors hang on the same pipe. Only one of them matters, but the data cannot show which. A group says so.
"""

import numpy as np
from roofs import RoOFSDisplay, RoOFSRegressor

rng = np.random.default_rng(4)
X = rng.standard_normal((300, 200))
for twin in (11, 12):                                 # nearly the same as sensor 10
    X[:, twin] = X[:, 10] + 0.05 * rng.standard_normal(300)
y = 2 * X[:, 10] - X[:, 150] + 0.5 * rng.standard_normal(300)
y[:45] += 25

model = RoOFSRegressor(fdr=0.1).fit(X, y)
for group in model.groups_:
    print(f"one of {group.members.tolist()} has an effect: probability {group.exists:.3f}")

# %%

RoOFSDisplay.from_estimator(model, kind="groups")
