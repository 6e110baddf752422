"""
From a database
===============

The measurements are in a table with one row per gene and patient. A query that sorts by gene is a stream of features:
no table of all genes is ever built.
"""

import sqlite3
from itertools import groupby

import numpy as np
from roofs import RoOFSRegressor

rng = np.random.default_rng(0)
patients, genes = 200, 400
values = rng.standard_normal((genes, patients))
y = 2 * values[123] - values[321] + 0.3 * rng.standard_normal(patients)
y[rng.random(patients) < 0.15] = 30                # some responses are wrong

db = sqlite3.connect(":memory:")
db.execute("create table measured (gene text, patient integer, value real)")
db.executemany("insert into measured values (?, ?, ?)",
               ((f"gene {j}", i, values[j, i]) for j in range(genes) for i in range(patients)))

# %%
# The stream: one feature after the other, under its name.


def features():
    rows = db.execute("select gene, value from measured order by gene, patient")
    for gene, group in groupby(rows, key=lambda row: row[0]):
        yield gene, np.fromiter((value for _, value in group), dtype=float, count=patients)


# %%
# ``fit_stream`` takes a function that returns an iterator, so it may read the table again where that helps.

model = RoOFSRegressor().fit_stream(features, y)
for name, coefficient in zip(model.selected_features_, model.selected_coefs_):
    print(f"{name:10} {coefficient:6.2f}")
print(f"{model.n_features_in_} genes, read {model.n_passes_} time{'s' if model.n_passes_ > 1 else ''}; "
      f"{model.outliers_.sum()} patients not trusted")
