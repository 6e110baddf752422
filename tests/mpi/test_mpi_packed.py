"""Features in 8 and 2 bits, split over ranks: the bits of the same values in 64 bits, on as many ranks."""
import json

import numpy as np
import pytest

import plink
from methods import methods_with, required
from test_mpi import split


@pytest.mark.parametrize("ranks", [2, 3])
@pytest.mark.parametrize("method", methods_with("splits"))
def test_packed_features_give_the_model_of_wide_values(tmp_path, method, ranks):
    complete, _, y = plink.draw(people=205, variants=60)
    np.save(tmp_path / "y.npy", y)
    np.save(tmp_path / "small.npy", complete.T.astype("int8"))
    np.save(tmp_path / "wide.npy", complete.T.astype(float))
    bed = plink.write(tmp_path / "g", complete)
    models = []
    for features in (tmp_path / "wide.npy", tmp_path / "small.npy", bed):
        split(ranks, "fit", "--y", tmp_path / "y.npy", "--mu", 8, "--batch", 9, "--method", method, *required(method),
              features, "-q", "-o", tmp_path / "m.json")
        models.append(json.loads((tmp_path / "m.json").read_text()))
    assert models[0] == models[1]
    assert [(f["index"], f["coef"]) for f in models[2]["features"]] == \
        [(f["index"], f["coef"]) for f in models[0]["features"]]
