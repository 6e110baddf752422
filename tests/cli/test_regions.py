"""Genotypes: several phenotypes in one reading, regions, the picture of the genome, and --loco."""
import json
import sys

import numpy as np
import pytest

from conftest import ROOT

sys.path.insert(0, str(ROOT / "examples" / "gwas"))
import simulate  # noqa: E402

N, P = 203, 60


@pytest.fixture
def gwas(tmp_path):
    """Genotypes with missing ones, and phenotypes that are missing for some people."""
    rng = np.random.default_rng(4)
    x = simulate.genotypes(rng, N, P)
    ids = [f"p{i}" for i in range(N)]
    simulate.write_plink(tmp_path / "g", x, ids)
    bed = bytearray((tmp_path / "g.bed").read_bytes())
    for place in rng.choice(np.arange(3, len(bed)), 100, replace=False):
        bed[place] = bed[place] & 0xFC | 1          # the first person of the byte is missing
    (tmp_path / "g.bed").write_bytes(bytes(bed))
    y = np.array([x[5] - x[40] + .3 * rng.standard_normal(N), x[20] + .3 * rng.standard_normal(N)])
    text = [[f"{v:.6g}" for v in row] for row in y]
    text[0][3] = text[0][99] = "NA"
    text[1][7] = "-9"
    rows = [f"{i} {i} {a} {b}" for i, a, b in zip(ids, *text)]
    (tmp_path / "pheno.txt").write_text("FID IID A B\n" + "\n".join(rows) + "\n")
    return tmp_path


@pytest.fixture
def fit(roofs, gwas):
    def run(names, output, *more):
        return roofs("fit", "g.bed", "--pheno", "pheno.txt", "--pheno-name", names, "-o", output, *more, cwd=gwas)
    return run


@pytest.mark.parametrize("method", ["roofs-bayes", "roofs"])
def test_each_phenotype_is_fitted_as_if_alone(fit, gwas, method):
    fit("A,B", "m.json", "--method", method)
    for name, people in ("A", N - 2), ("B", N - 1):
        fit(name, "alone.json", "--method", method)
        assert (gwas / f"m.{name}.json").read_bytes() == (gwas / "alone.json").read_bytes()
        assert json.loads((gwas / "alone.json").read_text())["n"] == people


def test_regions_have_places(fit, gwas, roofs):
    fit("A,B", "m.json")
    chromosome, position = simulate.place(P)
    groups = json.loads(roofs("inspect", "m.A.json", "--json", cwd=gwas).stdout)["groups"]
    leads = {g["members"][0]["name"]: g["region"] for g in groups}
    for j in 5, 40:
        region = leads[f"rs{j + 1}"]
        assert region["chr"] == str(chromosome[j]) and region["from"] <= position[j] <= region["to"]
    text = roofs("inspect", "m.A.json", cwd=gwas).stdout
    assert "Regions (" in text and f"chr{chromosome[5]}:" in text
    roofs("report", "m.A.json", "-o", "r.html", cwd=gwas)
    page = (gwas / "r.html").read_text()
    assert "Probability along the genome" in page and f"<strong>chr{chromosome[5]}:" in page


def test_loco_leaves_one_chromosome_out(fit, gwas, roofs):
    fit("A", "m.json")
    roofs("predict", "m.json", "g.bed", "--loco", "-o", "a.loco", cwd=gwas)
    roofs("predict", "m.json", "g.bed", "-o", "all.csv", cwd=gwas)
    head, *rows = [line.split() for line in (gwas / "a.loco").read_text().splitlines()]
    assert head == ["FID_IID"] + [f"p{i}_p{i}" for i in range(N)]
    assert [row[0] for row in rows] == [str(c) for c in range(1, 24)]
    everything = [float(line.split(",")[-1]) for line in (gwas / "all.csv").read_text().splitlines()[1:]]
    model = json.loads((gwas / "m.json").read_text())
    place = {v["name"]: v["chr"] for v in model["table"]["genotypes"]["variants"]}
    for row in rows:
        part = json.loads(json.dumps(model))
        for feature in part["features"]:
            feature["coef"] *= place[feature["name"]] != row[0]
        (gwas / "part.json").write_text(json.dumps(part))
        roofs("predict", "part.json", "g.bed", "-o", "part.csv", cwd=gwas)
        expected = [float(line.split(",")[-1]) for line in (gwas / "part.csv").read_text().splitlines()[1:]]
        assert np.allclose(np.array(row[1:], float), expected, rtol=1e-8)
        assert np.allclose(expected, everything) == (row[0] not in place.values())


def test_loco_needs_genotypes(roofs, write_npy, tmp_path):
    x = np.random.default_rng(1).standard_normal((5, 40))
    roofs("fit", "--y", write_npy("y.npy", x[0]), write_npy("X.npy", x), "-o", tmp_path / "m.json")
    done = roofs("predict", tmp_path / "m.json", tmp_path / "X.npy", "--loco", "-o", tmp_path / "o", ok=False)
    assert done.returncode == 3 and "no chromosomes" in done.stderr
