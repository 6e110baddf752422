"""
On a GPU
========

``device="cuda"`` runs a fit on a GPU; ``device="auto"`` does so where there is one. The answer is the same: the same
features, the same trusted samples.

The machine that builds these pages has no GPU, so this page shows the code and times of :doc:`the GPU page </gpu>`
(one H200, 10,000 samples and features, at most 1,000 kept):

=================================================== ============== ===============
\\                                                   RoOFS (2018)   roofs-bayes
=================================================== ============== ===============
``fit(X, y)``, an array in host memory              56 ms          99 ms
a PyTorch tensor on the GPU, in place               63 ms          129 ms
=================================================== ============== ===============
"""

import numpy as np
from roofs import RoOFSRegressor

rng = np.random.default_rng(0)
X = np.asfortranarray(rng.standard_normal((10_000, 10_000)))
y = X[:, :50].sum(axis=1) + 0.1 * rng.standard_normal(10_000)
y[:2000] = 0

model = RoOFSRegressor(1000, device="cuda").fit(X, y)

# %%
# A tensor that is already on the GPU is read in place.

import torch

model = RoOFSRegressor(1000, device="cuda").fit(torch.from_numpy(X).cuda(), y)

# %%
# A checkpoint of a GPU goes on without one, and the other way round.

running = RoOFSRegressor(1000, device="cuda").begin(y)
running.partial_fit_features(X[:, :5000])
running.save("fit.ck")
RoOFSRegressor.load("fit.ck", device="cpu").partial_fit_features(X[:, 5000:]).finish()
