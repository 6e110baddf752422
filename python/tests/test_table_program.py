"""python3 -m roofs.table: Parquet, Feather and Arrow files for the program."""
import subprocess
import sys

import numpy as np
import pytest

pa = pytest.importorskip("pyarrow")


def table_of(n=120):
    r = np.random.default_rng(0)
    street = r.choice(["east, left", 'the "hill"', "west"], n)
    area = r.uniform(50, 200, n)
    day = np.datetime64("2020-01-01") + r.integers(0, 900, n)
    price = 1000 * area + 40000 * (street == "west") + r.standard_normal(n)
    return pa.table({"street": pa.array(street).dictionary_encode(), "area": area, "sold": day,
                     "garden": pa.array([None if k == 3 else bool(k % 2) for k in range(n)]), "price": price})


def write(kind, table, path):
    import pyarrow.feather
    import pyarrow.parquet
    if kind == "parquet":
        pyarrow.parquet.write_table(table, path, row_group_size=50)
    elif kind == "stream":
        with pa.ipc.new_stream(path, table.schema) as out:
            out.write_table(table)
    else:
        pyarrow.feather.write_feather(table, path, version=1 if kind == "feather1" else 2)


def run(*arguments, **more):
    return subprocess.run([sys.executable, "-m", "roofs.table", *map(str, arguments)], capture_output=True, **more)


@pytest.mark.parametrize("kind", ["parquet", "feather", "stream", "feather1"])
def test_files_of_arrow_are_fitted_through_a_pipe(kind, program, tmp_path):
    table, path = table_of(), tmp_path / f"houses.{kind}"
    if kind == "feather1":   # has no dictionaries of this kind
        table = table.set_column(0, "street", table["street"].cast("string"))
    write(kind, table, path)
    printed = run(path)
    assert printed.returncode == 0, printed.stderr
    (tmp_path / "table.csv").write_bytes(printed.stdout)
    options = ["--y", "price", "--missing", "mean", "--quiet", "-o"]
    subprocess.run([program, "fit", tmp_path / "table.csv", *options, tmp_path / "file.json"], check=True)
    subprocess.run([program, "fit", "-", *options, tmp_path / "pipe.json"], input=printed.stdout, check=True)
    assert (tmp_path / "pipe.json").read_bytes() == (tmp_path / "file.json").read_bytes()
    from roofs import RoOFSRegressor
    RoOFSRegressor(table={"missing": "mean"}).fit(table, "price").save(tmp_path / "frame.json")
    assert (tmp_path / "frame.json").read_bytes() == (tmp_path / "file.json").read_bytes()


@pytest.mark.parametrize("kind", ["parquet", "feather", "stream", "feather1"])
@pytest.mark.parametrize("name", ["houses.parquet", "houses", "houses.csv"])
def test_program_names_the_command(kind, name, program, tmp_path):
    table = table_of()
    write(kind, table.set_column(0, "street", table["street"].cast("string")), tmp_path / name)
    for arguments in (["fit", tmp_path / name, "--y", "price"], ["fit", "--y", tmp_path / name, tmp_path / name],
                      ["convert", tmp_path / name, "-o", tmp_path / "out.npy"]):
        result = subprocess.run([program, *arguments], capture_output=True, text=True)
        assert result.returncode == 3 and "python3 -m roofs.table FILE | roofs fit -" in result.stderr


def test_columns_can_be_chosen(tmp_path):
    write("parquet", table_of(), tmp_path / "t.parquet")
    assert run(tmp_path / "t.parquet", "price", "area").stdout.splitlines()[0] == b'"price","area"'
    wrong = run(tmp_path / "t.parquet", "prices")
    assert wrong.returncode == 3 and b"no column 'prices'" in wrong.stderr


def test_other_files_are_refused(tmp_path):
    (tmp_path / "t.csv").write_text("a,b\n1,2\n")
    result = run(tmp_path / "t.csv")
    assert result.returncode == 3 and b"give it to roofs" in result.stderr
    assert run().returncode == 2
