"""
A first fit
===========

300 samples, 1000 features, four of which matter, and a fifth of the responses is random. Which four, and which samples?
"""

import numpy as np
from roofs import RoOFSDisplay, RoOFSRegressor

rng = np.random.default_rng(0)
X = rng.standard_normal((300, 1000))
y = X[:, [10, 300, 700, 999]] @ [3.0, -2.0, 1.5, 1.0] + 5 + 0.3 * rng.standard_normal(300)
wrong = rng.random(300) < 0.2
y[wrong] = rng.uniform(-50, 50, wrong.sum())

# %%
# Nothing is given but the data: neither how many features matter, nor how many responses are wrong.

model = RoOFSRegressor().fit(X, y)
for k in np.argsort(-np.abs(model.selected_coefs_)):
    print(f"feature {model.selected_indices_[k]:4}  coefficient {model.selected_coefs_[k]:6.2f}  "
          f"probability {model.selected_probability_[k]:.3f}")
print(f"intercept {model.intercept_:.2f}")

# %%
# The samples that are not trusted are the wrong ones.

print(f"{model.outliers_.sum()} samples are not trusted, {(model.outliers_ & wrong).sum()} of the {wrong.sum()} wrong")

# %%
# The residuals. The lines mark the largest residual that is trusted.

RoOFSDisplay.from_estimator(model, kind="residuals")
