"""
Which samples are wrong
=======================

The diabetes data of scikit-learn: 442 patients, ten measurements and how the disease progressed in a year. Suppose that
a tenth of the responses was typed with a zero too many. Which ones?
"""

import matplotlib.pyplot as plt
import numpy as np
from roofs import RoOFSRegressor
from sklearn.datasets import load_diabetes
from sklearn.preprocessing import PolynomialFeatures

X, y = load_diabetes(return_X_y=True, as_frame=True, scaled=False)
more = PolynomialFeatures(2, include_bias=False).set_output(transform="pandas")
X = more.fit_transform(X)                          # squares and products, too: 65 features

rng = np.random.default_rng(1)
wrong = rng.random(len(y)) < 0.1
typed = np.where(wrong, 10 * y, y)

# %%
# A fit gives each sample a probability that its response is clean.

model = RoOFSRegressor().fit(X, typed)
suspects = np.argsort(model.clean_probability_)[:8]
print("sample  response  prediction  clean  typed wrong")
for i in suspects:
    prediction = typed[i] - model.residuals_[i]
    print(f"{i:6} {typed[i]:9.0f} {prediction:11.0f} {model.clean_probability_[i]:6.3f}  {wrong[i]}")

# %%
# How many of the wrong ones are found, and how many of the right ones are doubted without need?

found = model.outliers_
print(f"{(found & wrong).sum()} of {wrong.sum()} wrong samples are found")
print(f"{(found & ~wrong).sum()} of {(~wrong).sum()} right samples are not trusted either")

# %%
# The probability falls with the residual.

figure, axis = plt.subplots(figsize=(7, 3.6))
for mask, colour, label in ((~wrong, "#0b5c8a", "right"), (wrong, "#c2410c", "typed wrong")):
    axis.scatter(model.residuals_[mask], model.clean_probability_[mask], s=14, color=colour, label=label)
axis.set(xlabel="residual", ylabel="probability that the sample is clean")
axis.legend()
