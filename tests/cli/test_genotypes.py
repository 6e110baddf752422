"""Genotypes (.bed, .bim, .fam): the values of other programs, people by ID, filters, predictions, bad files."""
import json
import shutil
import subprocess
from pathlib import Path

import numpy as np
import pytest

import plink

HERE = Path(__file__).resolve().parent / "plink"


@pytest.fixture
def values_of(roofs, tmp_path):
    """values_of(path, options...): what the program reads, one row per variant."""
    def read(path, *options):
        roofs("convert", path, *options, "-q", "-o", tmp_path / "values.npy")
        return np.load(tmp_path / "values.npy")
    return read


@pytest.fixture
def fit(roofs, tmp_path):
    """fit(path, options...): the model and the messages."""
    def run(*args, name="m.json"):
        done = roofs("fit", *args, "-o", tmp_path / name)
        return json.loads((tmp_path / name).read_text()), done.stderr
    return run


def refused(roofs, *args, code=3):
    done = roofs(*args, ok=False)
    assert done.returncode == code, done.stderr
    return done.stderr


def raw_values(path, bim):
    """The values of `plink2 --export A`, as copies of A1; the header names the allele that was counted."""
    head, *lines = [line.split("\t") for line in path.read_text().splitlines()]
    a1 = [line.split()[4] for line in bim.read_text().splitlines()]
    x = np.array([[np.nan if v == "NA" else float(v) for v in line[6:]] for line in lines]).T
    for k, name in enumerate(head[6:]):
        if name.rpartition("_")[2] != a1[k]:
            x[k] = 2 - x[k]
    return x


def same_values(read, raw):
    means = np.nanmean(raw, axis=1, keepdims=True)
    assert read.shape == raw.shape
    np.testing.assert_array_equal(read, np.where(np.isnan(raw), means, raw))


# ---- values ----

def test_every_value_of_a_file_of_plink2_is_read(values_of):
    raw = raw_values(HERE / "dummy.raw", HERE / "dummy.bim")
    assert np.isnan(raw).sum() > 20 and raw.shape == (40, 23)
    same_values(values_of(HERE / "dummy.bed"), raw)


@pytest.mark.parametrize("people", [31, 32, 33, 500])
def test_plink2_and_the_program_read_the_same(values_of, tmp_path, people):
    plink2 = shutil.which("plink2")
    if not plink2:
        pytest.skip("plink2 is not installed")
    for words in (["--dummy", people, 60, 0.1, "--seed", people, "--make-bed"], ["--bfile", "d", "--export", "A"]):
        subprocess.run([plink2, *map(str, words), "--out", "d"], cwd=tmp_path, check=True, capture_output=True)
    same_values(values_of(tmp_path / "d.bed"), raw_values(tmp_path / "d.raw", tmp_path / "d.bim"))


def test_bed_reader_and_the_program_read_the_same(values_of, tmp_path):
    bed_reader = pytest.importorskip("bed_reader")
    _, holes, _ = plink.draw(people=77)
    bed_reader.to_bed(tmp_path / "a.bed", np.where(holes == plink.MISSING, np.nan, holes.astype(float)))
    same_values(values_of(tmp_path / "a.bed"), bed_reader.open_bed(tmp_path / "a.bed").read(dtype="float64").T)


def models_of(fit, tmp_path, holes, y, *options):
    """Models of the same values from .bed and from 64-bit numbers."""
    bed = plink.write(tmp_path / "a", holes, phenotype=[repr(float(v)) for v in y])
    np.save(tmp_path / "X.npy", plink.filled(holes).T.copy())
    np.save(tmp_path / "y.npy", y)
    (tmp_path / "names").write_text("".join(f"rs{j}\n" for j in range(holes.shape[1])))
    wide = ("--y", tmp_path / "y.npy", "--orient", "features", "--names", tmp_path / "names")
    one, _ = fit(bed, *options)
    two, _ = fit(tmp_path / "X.npy", *wide, *options)
    return one, two


def without(model, *fields):
    return {k: v for k, v in model.items() if k not in ("table", *fields)}


@pytest.mark.parametrize("method", ["roofs", "roofs-bayes"])
def test_model_has_the_same_bits_from_bed_and_from_arrays(fit, tmp_path, method):
    complete, holes, y = plink.draw()
    one, two = models_of(fit, tmp_path, holes, y, "--method", method, "--mu", 20)
    assert len(one["features"]) == 20
    one["settings"].pop("storage"), two["settings"].pop("storage")
    assert without(one) == without(two)
    one, _ = models_of(fit, tmp_path, complete, y, "--method", method, "--mu", 20)
    np.save(tmp_path / "I.npy", complete.T.astype(np.int8))
    three, _ = fit(tmp_path / "I.npy", "--y", tmp_path / "y.npy", "--orient", "features", "--names",
                   tmp_path / "names", "--method", method, "--mu", 20)
    one["settings"].pop("storage"), three["settings"].pop("storage")
    assert without(one) == without(three)


# ---- people ----

def test_phenotypes_are_matched_by_id(fit, tmp_path):
    complete, _, y = plink.draw()
    people = plink.people_of(len(y))
    bed = plink.write(tmp_path / "a", complete, people)
    order = np.random.default_rng(3).permutation(len(y))
    rest = [k for k in order if k % 10]                      # a tenth has no line
    coded = ["-9" if k % 7 == 1 else "NA" if k % 7 == 2 else repr(float(y[k])) for k in rest]
    strangers = [("Z1", "Z1"), ("Z2", "Z2")]
    pheno = plink.write_table(tmp_path / "p", [people[k] for k in rest] + strangers,
                              {"other": np.zeros(len(rest) + 2), "height": coded + ["1", "2"]})
    model, text = fit(bed, "--pheno", pheno, "--pheno-name", "height", "--mu", 20)
    used = [k for k in range(len(y)) if k % 10 and k % 7 not in (1, 2)]
    assert f"people     {len(used)} of 203" in text and f"{203 - len(used)} without a phenotype" in text
    assert "are -9, which means missing" in text and "2 of" in text
    np.save(tmp_path / "X.npy", complete[used].T.astype(float))
    np.save(tmp_path / "y.npy", y[used])
    (tmp_path / "names").write_text("".join(f"rs{j}\n" for j in range(complete.shape[1])))
    array, _ = fit(tmp_path / "X.npy", "--y", tmp_path / "y.npy", "--orient", "features", "--names",
                   tmp_path / "names", "--mu", 20)
    model["settings"].pop("storage"), array["settings"].pop("storage")
    assert without(model) == without(array)
    ids = [" ".join(people[k]) for k in used]
    assert model["table"]["outliers"] == [ids[i] for i in model["outliers"]]
    assert model["table"]["genotypes"]["response"] == "height"


def test_missing_code_can_be_turned_off_and_changed(fit, tmp_path):
    complete, _, y = plink.draw()
    y[3:6] = [-9, -99, -9]
    bed = plink.write(tmp_path / "a", complete, phenotype=y)
    assert fit(bed, "--mu", 5)[0]["n"] == len(y) - 2
    assert fit(bed, "--mu", 5, "--missing-code", "none")[0]["n"] == len(y)
    assert fit(bed, "--mu", 5, "--missing-code", "-99")[0]["n"] == len(y) - 1


@pytest.mark.parametrize("header", [None, "FID IID", "#IID"])
def test_keep_and_remove_choose_people(values_of, tmp_path, header):
    _, holes, _ = plink.draw(people=50)
    people = plink.people_of(50)
    bed = plink.write(tmp_path / "a", holes, people)
    keep, remove = [k for k in range(50) if k % 3], [4, 5, 47]
    left = [k for k in keep if k not in remove]

    def lines(chosen):
        ids = [people[k][1] if header == "#IID" else " ".join(people[k]) for k in chosen]
        return "\n".join(([header] if header else []) + ids) + "\n"
    (tmp_path / "keep").write_text(lines(keep))
    (tmp_path / "remove").write_text(lines(remove))
    read = values_of(bed, "--keep", tmp_path / "keep", "--remove", tmp_path / "remove")
    np.testing.assert_array_equal(read, plink.filled(holes[left]).T)


def test_several_files_are_one_stream_and_people_are_matched(values_of, fit, tmp_path):
    _, holes, y = plink.draw()
    people, variants = plink.people_of(len(y)), plink.variants_of(120)
    whole = plink.write(tmp_path / "w", holes, people, variants, y)
    shuffled = np.random.default_rng(2).permutation(len(y))
    folder = tmp_path / "chromosomes"
    folder.mkdir()
    plink.write(folder / "chr1", holes[:, :40], people, variants[:40], y)
    plink.write(folder / "chr2", holes[shuffled, 40:80], [people[k] for k in shuffled], variants[40:80])
    more = np.vstack([holes[:3, 80:], holes[:, 80:]])        # three more people
    plink.write(folder / "chr10", more, [("X", "1"), ("X", "2"), ("X", "3")] + people, variants[80:])
    np.testing.assert_array_equal(values_of(folder), values_of(whole))
    one, two = fit(whole, "--mu", 20)[0], fit(folder, "--mu", 20)[0]
    assert one == two


def test_response_in_a_file_has_a_number_for_each_person(fit, roofs, tmp_path):
    complete, _, y = plink.draw()
    bed = plink.write(tmp_path / "a", complete, phenotype=y)
    np.save(tmp_path / "y.npy", y)
    assert without(fit(bed, "--mu", 5)[0]) == without(fit(bed, "--y", tmp_path / "y.npy", "--mu", 5)[0])
    np.save(tmp_path / "y.npy", y[1:])
    assert "202 numbers" in refused(roofs, "fit", bed, "--y", tmp_path / "y.npy", "--mu", 5)


# ---- covariates ----

def test_covariates_come_first_and_are_not_shrunk(fit, roofs, tmp_path):
    complete, _, y = plink.draw()
    r = np.random.default_rng(5)
    people, age, sex = plink.people_of(len(y)), r.uniform(20, 80, len(y)), r.integers(1, 3, len(y))
    y = y + 0.05 * age + 0.2 * sex
    bed = plink.write(tmp_path / "a", complete, people, phenotype=y)
    age_text = [repr(float(v)) for v in age]
    age_text[7] = "NA"
    covar = plink.write_table(tmp_path / "c", people[::-1],
                              {"age": age_text[::-1], "sex": sex[::-1], "x": sex})
    model, text = fit(bed, "--covar", covar, "--covar-name", "age,sex", "--mu", 10)
    assert "1 without a covariate" in text
    assert [f["name"] for f in model["features"]][:2] == ["age", "sex"]
    assert abs(model["features"][0]["coef"] - 0.05) < 0.01
    assert model["table"]["genotypes"]["covariates"] == ["age", "sex"]
    told = roofs("predict", tmp_path / "m.json", bed, "--covar", covar, "--covar-name", "age,sex")
    assert len(told.stdout.splitlines()) == 203 and "I7," not in told.stdout
    assert "age" in refused(roofs, "predict", tmp_path / "m.json", bed)


# ---- filters ----

def frequencies(holes):
    present = (holes != plink.MISSING).sum(0)
    copies = np.where(holes == plink.MISSING, 0, holes).sum(0)
    share = copies / (2 * present)
    return np.minimum(share, 1 - share), 1 - present / len(holes)


def test_filters_leave_variants_out_and_are_counted(fit, values_of, tmp_path):
    _, holes, y = plink.draw(missing=0.05)
    bed = plink.write(tmp_path / "a", holes, phenotype=y)
    maf, missing = frequencies(holes)
    chromosome = np.array([v[0] for v in plink.variants_of(120)])
    left = (chromosome != 2) & (maf >= 0.2) & (missing <= 0.05)
    assert 10 < left.sum() < 60
    options = ("--chr", "1,3", "--maf", 0.2, "--geno", 0.05)
    np.testing.assert_array_equal(values_of(bed, *options), plink.filled(holes)[:, left].T)
    model, text = fit(bed, *options, "--mu", 5)
    counts = model["table"]["genotypes"]["counts"]["variants"]
    assert model["features_seen"] == left.sum() and counts["in_files"] == 120 and counts["by_chr"] == 40
    assert counts["by_geno"] == ((chromosome != 2) & (missing > 0.05)).sum()
    assert counts["by_maf"] == ((chromosome != 2) & (missing <= 0.05) & (maf < 0.2)).sum()
    assert "40 by --chr" in text and f"{counts['by_maf']} by --maf" in text
    np.testing.assert_array_equal(values_of(bed, "--chr", "chr2-3"), plink.filled(holes)[:, chromosome >= 2].T)


def test_files_of_other_chromosomes_are_counted(fit, roofs, tmp_path):
    complete, _, y = plink.draw()
    variants = plink.variants_of(120)
    files = [plink.write(tmp_path / f"c{k}", complete[:, 40 * k:40 * k + 40], None, variants[40 * k:40 * k + 40], y)
             for k in range(3)]
    model, _ = fit(*files, "--chr", 2, "--mu", 5)
    counts = model["table"]["genotypes"]["counts"]["variants"]
    assert counts["in_files"] == 120 and counts["by_chr"] == 80 and model["features_seen"] == 40
    assert "--chr 7 leaves no variant" in refused(roofs, "fit", *files, "--chr", 7, "--mu", 5)


def test_constant_and_empty_variants_are_counted_and_never_selected(fit, tmp_path):
    _, holes, y = plink.draw()
    holes[:, 3], holes[:, 4], holes[:, 7] = 2, plink.MISSING, 1
    holes[:9, 7] = plink.MISSING
    model, text = fit(plink.write(tmp_path / "a", holes, phenotype=y))
    counts = model["table"]["genotypes"]["counts"]["variants"]
    assert counts["constant"] == 3 and counts["all_missing"] == 1 and "3 are the same for all people" in text
    assert not {"rs3", "rs4", "rs7"} & {f["name"] for f in model["features"]}


# ---- names ----

def test_duplicate_names_are_told_apart_by_place(fit, roofs, tmp_path):
    complete, _, y = plink.draw()
    variants = plink.variants_of(120)
    variants[5] = (1, "twice", 7, "A", "G")
    variants[50] = (1, "twice", 8, "A", "G")
    variants[90] = (2, ".", 9, "C", "T")
    variants[91], variants[92] = (2, ".", 10, "C", "T"), (2, ".", 10, "C", "T")
    bed = plink.write(tmp_path / "a", complete, variants=variants, phenotype=y)
    model, text = fit(bed, "--mu", 10)
    assert "5 have no ID of their own" in text
    assert {"1:7:A:G", "1:8:A:G", "2:9:C:T"} <= {f["name"] for f in model["features"]}
    table = roofs("convert", bed, "-q", "-o", tmp_path / "x.csv")
    assert table.returncode == 0
    head = (tmp_path / "x.csv").read_text().splitlines()[0].split(",")
    assert head[91:93] == ["2:10:C:T#92", "2:10:C:T#93"] and len(set(head)) == 120
    split = [plink.write(tmp_path / f"s{k}", complete[:, a:b], variants=variants[a:b], phenotype=y)
             for k, (a, b) in enumerate([(0, 20), (20, 120)])]
    assert {f["name"] for f in fit(*split, "--mu", 10)[0]["features"]} == {f["name"] for f in model["features"]}


# ---- predictions ----

def scores(text):
    head, *lines = [line.split(",") for line in text.splitlines()]
    assert head == ["FID", "IID", "prediction"]
    return {(f, i): float(v) for f, i, v in lines}


def test_swapped_alleles_give_the_same_score(fit, roofs, tmp_path):
    _, holes, y = plink.draw()
    variants = plink.variants_of(120)
    bed = plink.write(tmp_path / "a", holes, phenotype=y)
    fit(bed, "--mu", 10)
    straight = roofs("predict", tmp_path / "m.json", bed)
    assert len(scores(straight.stdout)) == 203 and "exchanged" not in straight.stderr
    turned = np.where(holes == plink.MISSING, plink.MISSING, 2 - holes)
    turned = turned[:, ::-1]                                   # and in another order, without IDs
    other = [(f"chr{c}", ".", at, b, a) for c, _, at, a, b in variants[::-1]]
    done = roofs("predict", tmp_path / "m.json", plink.write(tmp_path / "b", turned, variants=other))
    assert done.stdout == straight.stdout and "10 of the 10 variants" in done.stderr


def test_absent_variants_count_as_their_mean_and_others_are_named(fit, roofs, tmp_path):
    _, holes, y = plink.draw()
    variants = plink.variants_of(120)
    model, _ = fit(plink.write(tmp_path / "a", holes, phenotype=y), "--mu", 10)
    means = {v["name"]: v["mean"] for v in model["table"]["genotypes"]["variants"]}
    variants[5] = (1, "rs5", 1050, "T", "C")                   # the other strand
    left = [j for j in range(120) if j != 50]
    new = plink.write(tmp_path / "b", holes[:, left], variants=[variants[j] for j in left])
    done = roofs("predict", tmp_path / "m.json", new)
    assert "not in the files" in done.stderr and "rs50" in done.stderr and "other alleles" in done.stderr
    x = plink.filled(holes)
    expected = np.full(len(y), model["intercept"])
    for f in model["features"]:
        j = int(f["name"][2:])
        expected += f["coef"] * (means[f["name"]] if j in (5, 50) else x[:, j])
    np.testing.assert_allclose(list(scores(done.stdout).values()), expected, rtol=1e-12)


def test_people_are_scored_by_id(fit, roofs, tmp_path):
    _, holes, y = plink.draw()
    bed = plink.write(tmp_path / "a", holes, phenotype=y)
    fit(bed, "--mu", 10)
    whole = scores(roofs("predict", tmp_path / "m.json", bed).stdout)
    (tmp_path / "keep").write_text("F3 I7\nI1\n")
    some = scores(roofs("predict", tmp_path / "m.json", bed, "--keep", tmp_path / "keep").stdout)
    assert some == {k: whole[k] for k in [("F0", "I1"), ("F3", "I7")]}


def test_untrusted_people_are_listed_by_id(fit, roofs, tmp_path):
    complete, _, y = plink.draw()
    people = [(f"F{k}", f"<I{k}>" if k == 2 else f"I\x1b{k}" if k == 3 else f"I{k}") for k in range(203)]
    model, _ = fit(plink.write(tmp_path / "a", complete, people, phenotype=y), "--mu", 10)
    assert model["table"]["outliers"][2:5] == ["F2 <I2>", "F3 I\x1b3", "F4 I4"]
    text = roofs("inspect", tmp_path / "m.json").stdout
    assert "F2 <I2>, F3 I" in text and "F4 I4," in text and "\x1b3" not in text
    roofs("report", tmp_path / "m.json", "-o", tmp_path / "r.html")
    page = (tmp_path / "r.html").read_text()
    assert "<li>F2 &lt;I2&gt;" in page and "<li>F4 I4" in page


# ---- checkpoints ----

@pytest.mark.parametrize("options", [(), ("--maf", 0.2, "--chr", "1-3")])
def test_stopped_fit_continues_with_the_same_bits(fit, roofs, tmp_path, options):
    _, holes, y = plink.draw()
    variants = plink.variants_of(120)
    variants[3] = (1, "rs77", 5, "A", "G")                     # the ID of a variant in another file
    people, covar = plink.people_of(203), np.random.default_rng(1).normal(size=203)
    files = [plink.write(tmp_path / f"p{k}", holes[:, a:b], variants=variants[a:b], phenotype=y)
             for k, (a, b) in enumerate([(0, 30), (30, 100), (100, 120)])]
    table = plink.write_table(tmp_path / "c", people, {"age": covar})
    keep = tmp_path / "keep"
    keep.write_text("".join(f"{f} {i}\n" for f, i in people[5:]))
    options = ("--batch", 20, "--mu", 10, "--covar", table, "--keep", keep, *options)
    whole, _ = fit(*files, *options)
    good = files[1].read_bytes()
    files[1].write_bytes(good[:-1] + bytes([good[-1] | 0xc0]))  # the fit stops at the end of the second file
    text = refused(roofs, "fit", *files, *options, "--checkpoint", tmp_path / "ck", "-o", tmp_path / "r.json")
    assert "p1.bed: variant 70 has values behind" in text and not (tmp_path / "r.json").exists()
    files[1].write_bytes(good)
    shutil.copy(tmp_path / "ck", tmp_path / "again.ck")
    roofs("resume", tmp_path / "ck", "-o", tmp_path / "r.json")
    parts = json.loads((tmp_path / "r.json").read_text())
    assert parts == whole
    assert whole["table"]["genotypes"]["counts"]["variants"]["renamed"] == 2
    keep.write_text("".join(f"{f} {i}\n" for f, i in people[6:]))
    assert "other people" in refused(roofs, "resume", tmp_path / "again.ck", "-o", tmp_path / "r.json")


# ---- bad files ----

def damaged(tmp_path, change):
    _, holes, y = plink.draw(people=30, variants=8)
    bed = plink.write(tmp_path / "a", holes, phenotype=y[:30])
    change(bed)
    return bed


def rewrite(path, change):
    path.write_bytes(change(path.read_bytes()))


BAD = {
    "too short": (lambda bed: rewrite(bed, lambda b: b[:-1]), "has 66 bytes, but 8 variants (.bim) of 30 people"),
    "too long": (lambda bed: rewrite(bed, lambda b: b + b"\0"), "take 67"),
    "empty": (lambda bed: rewrite(bed, lambda b: b""), "is no file of genotypes"),
    "sample-major": (lambda bed: rewrite(bed, lambda b: b[:2] + b"\0" + b[3:]), "sample-major"),
    "intervals": (lambda bed: rewrite(bed, lambda b: b"chr1\t5\t9\n"), "genome intervals"),
    "a variant less": (lambda bed: rewrite(bed.with_suffix(".bim"), lambda b: b[b.index(b"\n") + 1:]), "7 variants"),
    "a person less": (lambda bed: rewrite(bed.with_suffix(".fam"), lambda b: b[b.index(b"\n") + 1:]),
                      "variant 1 has values behind the last of the 29 people"),
    "two people less": (lambda bed: rewrite(bed.with_suffix(".fam"), lambda b: b[b.index(b"F1"):]), "of 28 people"),
    "no people": (lambda bed: rewrite(bed.with_suffix(".fam"), lambda b: b"\n"), "a.fam holds no people"),
    "no .bim": (lambda bed: bed.with_suffix(".bim").unlink(), "a.bim cannot be opened"),
    "no .fam": (lambda bed: bed.with_suffix(".fam").unlink(), "a.fam cannot be opened"),
    "five columns": (lambda bed: rewrite(bed.with_suffix(".bim"), lambda b: b.replace(b"\tA\tG", b"\tA", 1)),
                     "a.bim, line 1: a line of a .bim file has six columns"),
    "position": (lambda bed: rewrite(bed.with_suffix(".bim"), lambda b: b.replace(b"1010", b"1e3", 1)),
                 "a.bim, line 2: the position"),
    "the same person": (lambda bed: rewrite(bed.with_suffix(".fam"), lambda b: b.replace(b"F0 I1 ", b"F0 I0 ", 1)),
                        'a.fam, line 2: the person "F0 I0"'),
    "words": (lambda bed: rewrite(bed.with_suffix(".fam"), lambda b: b.replace(b"F1 I3 0 0 1 ", b"F1 I3 0 0 1 x")),
              'the phenotype of "F1 I3" (column 6)'),
    "no phenotype": (lambda bed: rewrite(bed.with_suffix(".fam"), lambda b: b"".join(
        line.rsplit(b" ", 1)[0] + b" -9\n" for line in b.splitlines())), "no person is left of 30"),
}


@pytest.mark.parametrize("what", BAD)
def test_bad_files_are_refused_with_the_place(roofs, tmp_path, what):
    change, message = BAD[what]
    text = refused(roofs, "fit", damaged(tmp_path, change), "--mu", 2)
    assert message in text and str(tmp_path) in text, text


def test_bad_tables_of_people_are_refused_with_the_place(roofs, tmp_path):
    _, holes, _ = plink.draw(people=30, variants=8)
    bed, path = plink.write(tmp_path / "a", holes), tmp_path / "t"
    for text, message, option in [
            ("FID IID h\nZ 1 2\n", "no line for a person of the .fam file", "--pheno"),
            ("FID IID h\nF0 I0 x\n", 'line 2, column h: "x" is not a number', "--pheno"),
            ("FID IID h\nF0 I0 1\nF0 I0 2\n", "line 3: the person \"F0 I0\" has a second line", "--pheno"),
            ("FID IID h\nF0 I0\n", "line 2: 2 columns", "--pheno"),
            ("FID IID h w\nF0 I0 1 2\n", "choose with --pheno-name", "--pheno"),
            ("FID IID\nF0 I0\n", "at least one with numbers", "--pheno"),
            ("", "is empty", "--pheno"),
            ("Z 9\n", "names no person of the .fam file", "--keep"),
            ("\n", "holds no people", "--remove")]:
        path.write_text(text)
        said = refused(roofs, "fit", bed, option, path, "--mu", 2)
        assert message in said and str(path) in said, said
    path.write_text("FID IID height\nF0 I0 1\n")
    said = refused(roofs, "fit", bed, "--pheno", path, "--pheno-name", "hight", "--mu", 2)
    assert 'no column "hight"; its columns are height' in said


def test_people_who_are_not_in_all_files_are_named(roofs, tmp_path):
    _, holes, y = plink.draw(people=30, variants=8)
    people = plink.people_of(30)
    one = plink.write(tmp_path / "a", holes, people, phenotype=y[:30])
    two = plink.write(tmp_path / "b", holes[1:], people[1:], [(2, f"x{k}", k, "A", "G") for k in range(8)])
    said = refused(roofs, "fit", one, two, "--mu", 2)
    assert "b.bed" in said and '"F0 I0"' in said


def test_files_of_plink2_are_refused_with_the_command(roofs, tmp_path):
    (tmp_path / "x.pgen").write_bytes(b"\x6c\x1b\x10\0\0")
    np.save(tmp_path / "y.npy", np.arange(9.0))
    for options in (["--y", tmp_path / "y.npy"], ["--pheno", HERE / "dummy.fam"], []):
        said = refused(roofs, "fit", tmp_path / "x.pgen", *options)
        assert f"plink2 --pfile {tmp_path}/x --make-bed --out {tmp_path}/x" in said


def test_options_of_genotypes_need_genotypes(roofs, tmp_path):
    np.save(tmp_path / "X.npy", np.zeros((3, 9)))
    said = refused(roofs, "fit", tmp_path / "X.npy", "--y", "y", "--keep", "k", code=2)
    assert "--keep is for genotypes" in said
