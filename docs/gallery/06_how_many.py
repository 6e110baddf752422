"""
Choosing how many
=================

``mu`` bounds how many features a fit keeps. Three ways to choose it: leave it out, ask for a rate of false discoveries,
or let cross-validation find the number with the smallest error.
"""

import matplotlib.pyplot as plt
import numpy as np
from roofs import RoOFSRegressor, RoOFSRegressorCV

rng = np.random.default_rng(2)
X = rng.standard_normal((300, 400))
true = rng.choice(400, 8, replace=False)
y = X[:, true] @ rng.uniform(0.5, 2, 8) + 0.5 * rng.standard_normal(300)
y[:60] = rng.uniform(-20, 20, 60)

# %%
# Left out: probabilities decide.

model = RoOFSRegressor().fit(X, y)
print(f"kept {len(model.kept_indices_)}, selected {len(model.selected_indices_)}, "
      f"of them {len(set(true) & set(model.selected_indices_))} of the 8 true ones")

# %%
# With a rate: on average at most a tenth of the discoveries is false.

model = RoOFSRegressor(fdr=0.1).fit(X, y)
print(f"{len(model.groups_)} discoveries, {sum(bool(set(g.members) & set(true)) for g in model.groups_)} true")

# %%
# By cross-validation: errors on samples that were left out, of which only the smallest count, because the left out
# samples are corrupted, too.

chosen = RoOFSRegressorCV(mus=[1, 2, 4, 8, 16, 32, 64]).fit(X, y)
errors = chosen.trimmed_errors_.mean(axis=0)
figure, axis = plt.subplots(figsize=(7, 3.4))
axis.plot(chosen.mus_, errors, "o-", color="#0b5c8a")
axis.axvline(chosen.n_nonzero_coefs_, color="#c2410c", linewidth=1)
axis.set(xscale="log", xlabel="mu", ylabel="error on samples left out", title=f"chosen: {chosen.n_nonzero_coefs_}")
axis.set_xticks(chosen.mus_, [str(mu) for mu in chosen.mus_])
