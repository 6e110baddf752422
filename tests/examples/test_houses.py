"""examples/houses: a messy table, one command to fit it, one to predict."""
import csv
import json
import os
import subprocess

import numpy as np

from conftest import PROGRAM, ROOT


def test_houses_are_fitted_and_predicted(tmp_path):
    done = subprocess.run([ROOT / "examples" / "houses" / "run.sh", tmp_path], capture_output=True, text=True,
                          env={**os.environ, "ROOFS": str(PROGRAM)}, timeout=100)
    assert done.returncode == 0, done.stderr
    model = json.loads((tmp_path / "model.json").read_text())
    coefs = {f["name"]: f["coef"] for f in model["features"]}
    assert abs(coefs["living area (m²)"] - 2500) < 50 and abs(coefs["garden"] - 35000) < 3000
    assert abs(coefs["street=Große Allee"] - coefs["street=Am Markt"] - 60000) < 4000
    assert 'said to be "quiet"' in coefs and "House ID" not in coefs and "price €" not in coefs
    assert 500 < model["trusted"] < 570 and len(model["table"]["outliers"]) == 600 - model["trusted"]
    assert 'column "street": 1 values are words that the fit did not have' in done.stderr
    with open(tmp_path / "new.csv", encoding="utf-8-sig", newline="") as file:
        rows = list(csv.DictReader(file, delimiter=";"))
    prices = {row["House ID"]: float(row["price €"].replace(",", "")) for row in rows}
    with open(tmp_path / "predictions.csv", newline="") as file:
        found = {row["House ID"]: float(row["prediction"]) for row in csv.DictReader(file)}
    assert found.keys() == prices.keys()
    errors = np.array([found[k] - prices[k] for k in prices])
    assert np.median(np.abs(errors)) < 8000, errors
    assert "<svg" in (tmp_path / "report.html").read_text()
