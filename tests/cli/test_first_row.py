"""Which first row of a text table is a header, and which is a row of numbers with a damaged field."""
import random
import string

import numpy as np
import pytest

DAMAGED = ["3x", "1_000", '"1,000"', "0x1p3", "1.2.3", "--1", "1e", "1R.5", "- 1", "12 000", "1'000", "5%"]


def converted(roofs, folder, text, *options, ok=True, name="t.csv"):
    """The features (rows) that `convert` reads from the table, or None if it refuses the table."""
    (folder / name).write_text(text)
    done = roofs("convert", folder / name, "-o", folder / "out.npy", *options, ok=ok)
    return np.load(folder / "out.npy") if done.returncode == 0 else None


@pytest.mark.parametrize("field", DAMAGED)
@pytest.mark.parametrize("width", [2, 3, 8])
def test_damaged_first_row_is_not_a_header(roofs, tmp_path, field, width):
    for column in range(width):
        row = ["7"] * width
        row[column] = field
        (tmp_path / "t.csv").write_text(",".join(row) + "\n" + (",".join("12345678"[:width]) + "\n") * 4)
        done = roofs("convert", "t.csv", "-o", "o.npy", ok=False, cwd=tmp_path)
        assert done.returncode == 3, (row, done.stderr)
        assert f"t.csv, line 1, column {column + 1}" in done.stderr and "--header" in done.stderr
        assert not (tmp_path / "o.npy").exists()


@pytest.mark.parametrize("field", ["3x", "1_000", '"1,000"', "0x1p3", "1.2.3"])
def test_damaged_response_is_not_a_header(roofs, tmp_path, field):
    (tmp_path / "y.csv").write_text(field + "\n" + "".join(f"{k}\n" for k in range(2, 12)))
    np.save(tmp_path / "X.npy", np.arange(20.0).reshape(2, 10) ** 1.5)
    done = roofs("fit", "--y", "y.csv", "--mu", 1, "X.npy", ok=False, cwd=tmp_path)
    assert done.returncode == 3 and "y.csv, line 1, column 1" in done.stderr


def test_predict_refuses_a_damaged_first_row(roofs, tmp_path):
    rng = np.random.default_rng(1)
    x = rng.standard_normal((3, 20))
    np.save(tmp_path / "X.npy", x)
    np.save(tmp_path / "y.npy", x[0])
    roofs("fit", "--y", "y.npy", "--mu", 1, "X.npy", "-o", "m.json", "-q", cwd=tmp_path)
    (tmp_path / "new.csv").write_text("1,2,3x\n4,5,6\n7,8,9\n")
    done = roofs("predict", "m.json", "new.csv", ok=False, cwd=tmp_path)
    assert done.returncode == 3 and done.stdout == "" and "new.csv, line 1, column 3" in done.stderr


def test_any_damaged_byte_of_the_first_row_is_found(roofs, tmp_path):
    """One changed character of a row of numbers: the values are those of the row with the change, or none."""
    draw = random.Random(5)
    alphabet = string.ascii_letters + "_'%#:/ "
    for _ in range(60):
        width = draw.randint(3, 9)
        row = [f"{draw.uniform(-99, 99):.{draw.randint(0, 6)}f}" for _ in range(width)]
        place = draw.randrange(width)
        at = draw.randrange(len(row[place]))
        field = row[place][:at] + draw.choice(alphabet) + row[place][at + 1:]
        text = ",".join(row[:place] + [field] + row[place + 1:]) + "\n" + (",".join(["1"] * width) + "\n") * 3
        values = converted(roofs, tmp_path, text, ok=False)
        assert values is None or values.shape == (width, 4), text.splitlines()[0]


@pytest.mark.parametrize("header", [
    "1007_s_at,1053_at,117_at", "a,b,c", "x1,x2,2020", "1p,1q,2p", "2020-01-01,2020-01-02,2020-01-03",
    ",a,b", "id,NA,b",
    '"1","2","3"', '"a","2","3"', "400nm,410nm,420nm", "Über,naïve,x"])
@pytest.mark.parametrize("separator", [",", ";", "\t"])
def test_header_of_names_stays_a_header(roofs, tmp_path, header, separator):
    text = header.replace(",", separator) + "\n" + separator.join("123") + "\n" + separator.join("456") + "\n"
    assert converted(roofs, tmp_path, text).tolist() == [[1, 4], [2, 5], [3, 6]]


@pytest.mark.parametrize("rows", ["1,2,3\n4,5,6\n", '"1","2","3"\n"4","5","6"\n', '"1",2,3\n4,5,6\n',
                                  '1,2,3\n"4","5",6\n'])
def test_row_of_numbers_is_no_header(roofs, tmp_path, rows):
    assert converted(roofs, tmp_path, rows).tolist() == [[1, 4], [2, 5], [3, 6]]


def test_header_option_decides(roofs, tmp_path):
    text = "1,2,3x\n4,5,6\n"
    assert converted(roofs, tmp_path, text, "--header", "yes").tolist() == [[4], [5], [6]]
    assert converted(roofs, tmp_path, text, "--header", "no", ok=False) is None
    assert converted(roofs, tmp_path, "1,2\n4,5\n", "--header", "yes").tolist() == [[4], [5]]
    assert converted(roofs, tmp_path, "a,b\n4,5\n", "--header", "no", ok=False) is None
    roofs("convert", "t.csv", "-o", "t.triplets", "--header", "yes", cwd=tmp_path)
    assert (tmp_path / "t.triplets").read_text().splitlines()[1:] == ["a,0,4", "b,0,5"]


def test_names_in_rows_are_not_damaged_numbers(roofs, tmp_path):
    rows = ("--orient", "features")
    assert converted(roofs, tmp_path, "3x,1,2\n4,5,6\n", *rows, ok=False) is None
    assert converted(roofs, tmp_path, "R.5,1,2\n4,5,6\n", *rows, ok=False) is None
    assert converted(roofs, tmp_path, "a,1,2\nb,5,6\n", *rows).tolist() == [[1, 2], [5, 6]]
    assert converted(roofs, tmp_path, "a,1,2\n7,5,6\n", *rows, "--header", "yes").tolist() == [[1, 2], [5, 6]]
    assert converted(roofs, tmp_path, "9,1,2\n7,5,6\n", *rows, "--header", "yes").tolist() == [[1, 2], [5, 6]]
    assert converted(roofs, tmp_path, "9,1,2\n7,5,6\n", *rows).tolist() == [[9, 1, 2], [7, 5, 6]]
    assert converted(roofs, tmp_path, "id,s1,s2\na,1,2\nb,5,6\n", *rows).tolist() == [[1, 2], [5, 6]]
    assert converted(roofs, tmp_path, "id,1_0,2_0\na,1,2\nb,5,6\n", *rows, ok=False) is None


def test_damaged_triplet_is_no_header(roofs, tmp_path):
    (tmp_path / "t.triplets").write_text("g,0x,1y\ng,1,2\nh,0,3\n")
    done = roofs("convert", "t.triplets", "-o", "o.npy", ok=False, cwd=tmp_path)
    assert done.returncode == 3 and "line 1" in done.stderr


def test_long_first_rows_are_compared_with_the_next(roofs, tmp_path):
    """The first row and the next are longer than the buffer of text."""
    width = 60000
    names = ",".join(f'"{k}"' for k in range(width))
    values = converted(roofs, tmp_path, names + "\n" + ",".join(["0.12345"] * width) + "\n")
    assert values.shape == (width, 1) and (values == 0.12345).all()
    quoted = ",".join(['"7.125"'] * width)
    assert converted(roofs, tmp_path, quoted + "\n" + quoted + "\n").shape == (width, 2)
