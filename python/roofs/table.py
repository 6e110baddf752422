"""Prints a Parquet, Feather or Arrow file as a text table, for the program: python3 -m roofs.table FILE [COLUMN ...]

The rows are read in batches, so memory stays bounded. It needs pyarrow.

    python3 -m roofs.table houses.parquet | roofs fit - --y price -o model.json
"""
from __future__ import annotations

import os
import sys
from typing import Any, Iterator


def batches_of(path: str, columns: list[str]) -> Iterator[Any]:
    """The record batches of a file. Its first bytes decide on the format."""
    import pyarrow as pa
    import pyarrow.feather
    import pyarrow.parquet

    with open(path, "rb") as file:
        start = file.read(6)
    if start.startswith(b"PAR1"):
        reader = pyarrow.parquet.ParquetFile(path)
        check_columns(path, reader.schema_arrow.names, columns)
        yield from reader.iter_batches(columns=columns or None)
    elif start.startswith(b"ARROW1"):
        with pa.memory_map(path) as source:
            reader = pa.ipc.open_file(source)
            check_columns(path, reader.schema.names, columns)
            for k in range(reader.num_record_batches):
                batch = reader.get_batch(k)
                yield batch.select(columns) if columns else batch
    elif start.startswith(b"\xff\xff\xff\xff"):
        with pa.memory_map(path) as source, pa.ipc.open_stream(source) as reader:
            check_columns(path, reader.schema.names, columns)
            for batch in reader:
                yield batch.select(columns) if columns else batch
    elif start.startswith(b"FEA1"):
        table = pyarrow.feather.read_table(path)
        check_columns(path, table.column_names, columns)
        yield from (table.select(columns) if columns else table).to_batches()
    else:
        raise ValueError(f"{path} is not a Parquet, Feather or Arrow file; if it is text, give it to roofs")


def check_columns(path: str, names: list[str], columns: list[str]) -> None:
    for name in columns:
        if name not in names:
            raise ValueError(f"{path} has no column {name!r}; its first columns are {', '.join(names[:6])}")


def plain(batch: Any) -> Any:
    """The batch with words in place of codes of words."""
    import pyarrow as pa

    columns = [column.dictionary_decode() if pa.types.is_dictionary(column.type) else column
               for column in batch.columns]
    return pa.RecordBatch.from_arrays(columns, names=batch.schema.names)


def write(path: str, columns: list[str], out: Any) -> None:
    """Writes the table as CSV, with a header."""
    import pyarrow.csv

    writer = None
    for batch in map(plain, batches_of(path, columns)):
        if writer is None:
            writer = pyarrow.csv.CSVWriter(out, batch.schema)
        writer.write(batch)
    if writer is None:
        raise ValueError(f"{path} has no rows")
    writer.close()


def main(arguments: list[str]) -> int:
    if not arguments or arguments[0].startswith("-"):
        print(__doc__.strip(), file=sys.stderr)
        return 0 if arguments and arguments[0] in ("-h", "--help") else 2
    try:
        write(arguments[0], arguments[1:], sys.stdout.buffer)
        sys.stdout.flush()
    except BrokenPipeError:   # the program has ended, and has said why
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 1
    except ImportError:
        print("roofs.table: pyarrow is not installed; try: python3 -m pip install pyarrow", file=sys.stderr)
        return 1
    except (OSError, ValueError) as error:
        print(f"roofs.table: {error}", file=sys.stderr)
        return 3 if isinstance(error, ValueError) else 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
