"""Names of features through every pair of formats: they come back as they were, or the conversion is refused."""
import io
import json
import os
import random
import zipfile

import numpy as np
import pytest
import scipy.sparse

from conftest import npy

HOSTILE = {
    "plain": ["a", "b", "c"],
    "numbers": ["1", "2", "3"],
    "one number": ["a", "2", "c"],
    "mostly numbers": ["a", "2", "3.5"],
    "one of each": ["7"],
    "nearly numbers": ["3x", "1q", "7q"],
    "one nearly a number": ["3x"],
    "damaged numbers": ["1e", "2_0", "3"],
    "thousands": ["1,000", "2,000", "3,000"],
    "thousands beside words": ["1,000", "b", "c"],
    "hexadecimal": ["0x10", "0x1p3", "b"],
    "words for missing": ["NA", "nan", "inf"],
    "question marks": ["?", ".", "\\N"],
    "header of triplets": ["feature", "sample", "value"],
    "HEADER of triplets": ["Feature", "SAMPLE", "value"],
    "twice": ["a", "b", "a"],
    "twice in a row": ["a", "a", "b"],
    "like made up": ["f1", "", "x"],
    "made up twice": ["f1", "", "f1"],
    "empty": ["", "", ""],
    "padded": [" a", "b ", " c "],
    "tabs": ["\ta", "b\t", "c\td"],
    "quotes": ['"', '""', 'a"b'],
    "quoted": ['"a"', "'b'", '"a","b"'],
    "separators": ["a,b", "c;d", "e\tf"],
    "lines": ["a\nb", "c\r\nd", "e\r"],
    "blank": [" ", "  ", "\n"],
    "controls": ["a\x01", "\x1b[31m", "\x07"],
    "one control": ["a", "b", "c\x1f"],
    "late control": ["x" * 600, "b", "c\x02"],
    "delete": ["a\x7f", "b", "c"],
    "unicode": ["ä", "\u202eabc", "\u0085x"],
    "mark of order": ["\ufeffa", "b", "\ufeff"],
    "comments": ["#a", "# b", "%c"],
    "libsvm": ["1:2", "1 1:2", "qid:1"],
    "paths": ["../a", "/etc/passwd", "-o"],
    "long": ["x" * 5000, "y" * 300000, "z"],
    "magic": ["PK\u0003\u0004", "\\x93NUMPY", "%PDF"],
    "json": ['{"a":1}', "\\u0000", "\\"],
}
FORMATS = ["npz", "csv", "tsv", "triplets"]


def values_of(count):
    x = np.random.default_rng(count).integers(-4, 5, (count, 6)).astype(float)
    x[:, 5] = 0                                     # the last sample has no values
    return x


def write_npz(path, names, x):
    matrix = scipy.sparse.csc_matrix(x.T)
    text = b"".join(name.encode() + b"\0" for name in names)
    with zipfile.ZipFile(path, "w") as file:
        for name, value in {"indices": matrix.indices, "indptr": matrix.indptr, "format": np.array(b"csc"),
                            "shape": np.array(matrix.shape), "data": matrix.data,
                            "names": np.frombuffer(text, np.uint8)}.items():
            file.writestr(name + ".npy", npy(value))


def contents(roofs, path):
    """Names and values as the program reads them, through an .npz file, which keeps every name as bytes."""
    out = path.with_name("seen.npz")
    roofs("convert", path, "-o", out, *(["--orient", "samples"] if path.suffix == ".npz" else []))
    with np.load(out) as file:
        names = bytes(file["names"]).decode().split("\0")[:-1] if "names" in file else None
    return names, scipy.sparse.load_npz(out).toarray().T


class Journey:
    """Converts names and values from format to format; a file that was read before is not read again."""

    def __init__(self, roofs, folder, names):
        self.roofs, self.folder, self.x, self.known = roofs, folder, values_of(len(names)), set()
        self.wanted = [name or f"f{k}" for k, name in enumerate(names)]
        write_npz(folder / "start.npz", names, self.x)

    def convert(self, path, ending):
        """The new file, or None if the conversion is refused."""
        after = self.folder / f"{path.stem}-{path.suffix[1:]}.{ending}"
        after.unlink(missing_ok=True)
        axis = ["--orient", "samples"] if path.suffix == ".npz" else []
        done = self.roofs("convert", path, "-o", after, *axis, ok=False)
        if done.returncode != 0:
            assert done.returncode == 3 and not after.exists() and "feature" in done.stderr, done.stderr
            return None
        if (ending, after.read_bytes()) not in self.known:
            names, values = contents(self.roofs, after)
            assert names == self.wanted, (after, names)
            assert values.shape == self.x.shape and (values == self.x).all()
        self.known.add((ending, after.read_bytes()))
        return after


@pytest.mark.parametrize("kind", HOSTILE)
def test_hostile_names_survive_every_pair_of_formats(roofs, memory_path, kind):
    names = HOSTILE[kind]
    journey, refused = Journey(roofs, memory_path, names), set()
    for first in FORMATS:
        between = journey.convert(memory_path / "start.npz", first)
        if not between:
            refused.add(first)
            continue
        refused |= {second for second in FORMATS if not journey.convert(between, second)}
    repeated = len(set(journey.wanted)) < len(names)
    hidden = any(ord(c) < 32 and c not in "\t\n\v\f\r" for name in names for c in name)
    unclear = kind in ("thousands", "damaged numbers")
    wanted = {"npz": False, "csv": hidden or unclear, "tsv": hidden or unclear, "triplets": hidden or repeated}
    assert {ending: ending in refused for ending in FORMATS} == wanted


def test_random_names_survive(roofs, memory_path):
    """Names from an alphabet of everything that has a meaning somewhere."""
    draw = random.Random(11)
    alphabet = list("ab01.,;:-+eExX_'\"\\#%?NA \t\n\r\v\f\x01\x1b\x7f") + ["\u0085", "\u009b", "\u202e", "\ufeff", "ä"]
    for _ in range(int(os.environ.get("ROOFS_MUTANTS", 25))):
        names = ["".join(draw.choices(alphabet, k=draw.randint(1, 6))) for _ in range(draw.randint(1, 4))]
        journey = Journey(roofs, memory_path, names)
        between = journey.convert(memory_path / "start.npz", draw.choice(FORMATS))
        if between:
            journey.convert(between, draw.choice(FORMATS))


def test_zero_bytes_in_names_are_refused(roofs, tmp_path):
    pad = b"x" * 600                                # beyond the bytes that decide whether a file is text
    (tmp_path / "t.csv").write_bytes(pad + b",b\0c\n1,2\n3,4\n")
    (tmp_path / "t.triplets").write_bytes(b"feature,sample,value\n" + pad + b",0,1\nb\0c,0,2\n")
    (tmp_path / "names").write_bytes(b"a\0b\nc\n")
    np.save(tmp_path / "x.npy", np.ones((2, 3)))
    for command in (["t.csv"], ["t.triplets"], ["x.npy", "--orient", "features", "--names", "names"]):
        done = roofs("convert", *command, "-o", "o.npz", ok=False, cwd=tmp_path)
        assert done.returncode == 3 and "zero byte" in done.stderr, command


@pytest.mark.parametrize("ending", ["npz", "npy", "csv", "tsv", "svm", "triplets"])
def test_zeros_at_the_edges_survive(roofs, memory_path, ending):
    """The first and last feature and the first and last sample are zero; text lists only other values."""
    x = np.zeros((4, 5))
    x[1:3, 1:4] = [[1, 0, 2], [0, 3, 0]]
    for values in (x, np.zeros((4, 5)), x[:3], x[:, :4]):
        np.save(memory_path / "start.npy", values)
        roofs("convert", "start.npy", "--orient", "features", "-o", f"m.{ending}", cwd=memory_path)
        axis = {"npy": ["--orient", "features"], "npz": ["--orient", "samples"]}.get(ending, [])
        roofs("convert", f"m.{ending}", *axis, "-o", "end.npy", cwd=memory_path)
        assert np.array_equal(np.load(memory_path / "end.npy"), values)


def test_names_reach_the_model_and_are_found_again(roofs, tmp_path):
    """A fit on each format keeps hostile names, and predict finds them in each other format."""
    names = ['a"b', "1", " c ", "e,f", "g\nh", "\u202ei"]
    rng = np.random.default_rng(2)
    x = rng.standard_normal((6, 30))
    np.save(tmp_path / "y.npy", 3 * x[1] - 2 * x[4])
    write_npz(tmp_path / "x.npz", names, x)
    for ending in ("csv", "tsv", "triplets"):
        roofs("convert", "x.npz", "--orient", "samples", "-o", f"x.{ending}", cwd=tmp_path)
    predictions = set()
    for ending in FORMATS:
        axis = ["--orient", "samples"] if ending == "npz" else []
        roofs("fit", "--y", "y.npy", "--mu", 2, f"x.{ending}", *axis, "-o", "m.json", "-q", cwd=tmp_path)
        model = json.loads((tmp_path / "m.json").read_text())
        assert [feature["name"] for feature in model["features"]] == [names[1], names[4]]
        for other in FORMATS:
            more = ["--orient", "samples"] if other == "npz" else []
            roofs("predict", "m.json", f"x.{other}", *more, "-o", "p.npy", cwd=tmp_path)
            predictions.add(io.BytesIO((tmp_path / "p.npy").read_bytes()).read())
    assert len(predictions) <= 2                    # dense and sparse fits may differ in the last bit
