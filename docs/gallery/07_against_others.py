"""
Against Huber and RANSAC
========================

The same data for four methods while more and more responses become wrong. The error is that of predictions for new,
clean samples.
"""

import warnings

import matplotlib.pyplot as plt
import numpy as np
from roofs import RoOFSRegressor
from sklearn.linear_model import HuberRegressor, Lasso, LassoCV, RANSACRegressor

warnings.simplefilter("ignore")
rng = np.random.default_rng(0)
truth = np.zeros(60)
truth[[3, 20, 45]] = 3, -2, 1.5
shares = (0.0, 0.1, 0.2, 0.3, 0.4)


def data(share, seed):
    rng = np.random.default_rng(seed)
    X, new = rng.standard_normal((200, 60)), rng.standard_normal((1000, 60))
    y = X @ truth + 0.3 * rng.standard_normal(200)
    wrong = rng.random(200) < share
    y[wrong] += rng.uniform(10, 30, wrong.sum())
    return X, y, new


methods = {"roofs": lambda: RoOFSRegressor(), "HuberRegressor": lambda: HuberRegressor(max_iter=500),
           "RANSAC (Lasso)": lambda: RANSACRegressor(Lasso(0.1), min_samples=0.5, random_state=0), "LassoCV": LassoCV}
errors = {name: [np.mean([np.abs(make().fit(*data(share, seed)[:2]).predict(data(share, seed)[2])
                                 - data(share, seed)[2] @ truth).mean() for seed in range(3)])
                 for share in shares] for name, make in methods.items()}

# %%
# Mean absolute error, means of three seeds.

print(f"{'wrong responses':16}" + "".join(f"{share:8.0%}" for share in shares))
for name, row in errors.items():
    print(f"{name:16}" + "".join(f"{value:8.2f}" for value in row))

# %%

figure, axis = plt.subplots(figsize=(7, 3.6))
for (name, row), colour in zip(errors.items(), ("#0b5c8a", "#c2410c", "#6b7c2f", "#6d5b8c")):
    axis.plot([100 * s for s in shares], row, "o-", label=name, color=colour, linewidth=2.4 if name == "roofs" else 1.2)
axis.set(xlabel="wrong responses, %", ylabel="error of predictions", yscale="log")
axis.legend()

# %%
# This is one easy problem. :doc:`The comparison </rivals>` has ten real tables, three kinds of corruption and fourteen
# methods, and says where ``roofs`` loses.
