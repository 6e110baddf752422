"""Nothing from files or the command line is printed as a control character, a mark of direction or a line."""
import json
import os
import pty
import re
import shutil
import subprocess
import unicodedata

import numpy as np
import pytest

# Escape sequences, C1 controls (U+009B begins a sequence, U+0085 ends a line), reversed and invisible text.
PLANTS = ["\x1b[31m", "\x1b]0;title\x07", "\r\x1b[K", "\x9b31m", "\x85roofs: forged", "\u202egnp.x", "\u2066a\u2069",
          "\nroofs: forged line", "\u2028forged", "\x7f\x08", "\u200e", "\ufeff", "\U000e0041"]
SAFE_OTHERS = {"\u200c", "\u200d"}                   # letters of some scripts need them


def unsafe(text):
    """Characters that must not be printed; a line end is one where it does not end a line of the program's own."""
    return sorted({c for c in text if unicodedata.category(c) in ("Cc", "Cf", "Zl", "Zp") and c not in "\n" and
                   c not in SAFE_OTHERS})


@pytest.fixture
def planted(roofs, tmp_path):
    """A folder with a model, a checkpoint and files whose names and feature names hold every plant."""
    name = "".join(PLANTS).replace("/", "")
    x = np.random.default_rng(4).standard_normal((4, 20))
    np.save(tmp_path / "y.npy", 2 * x[0] - x[2])
    np.save(tmp_path / "x.npy", x)
    (tmp_path / "names").write_bytes("".join(f"{k}{name}".replace("\n", "").replace("\r", "") + "\n"
                                             for k in range(4)).encode())
    roofs("fit", "--y", "y.npy", "--mu", 2, "x.npy", "--names", "names", "--passes", 1, "--checkpoint", "c", "-q", "-o",
          "m.json", cwd=tmp_path)
    model = json.loads((tmp_path / "m.json").read_text())
    for feature in model["features"]:
        feature["name"] += "\n\r"
    model["method"] = "roofs" + name
    (tmp_path / "m.json").write_text(json.dumps(model, ensure_ascii=False))
    return tmp_path, name


def commands(folder, name):
    """Command lines, right and wrong, that print file names, names of features and words as they were typed."""
    bad, table = f"bad{name}.csv", f"t{name}.csv"
    for file in (f"m{name}.json", f"c{name}.ck", f"x{name}.npy", f"y{name}.npy"):
        source = {"m": "m.json", "c": "c", "x": "x.npy", "y": "y.npy"}[file[0]]
        shutil.copy(folder / source, folder / file)
    (folder / bad).write_text(f"a,b\n1,{name!r}\n")
    quoted = name.replace("\x1b", "").replace("\x07", "").replace("\x08", "").replace('"', "")
    (folder / table).write_text(f'"{quoted}a","{quoted}b","c","d"\n' + "1,2,3,4\n5,6,7,8\n" * 5 + "1,2,3,4\n" * 10)
    (folder / "inf.triplets").write_text(f'"{quoted}",0,1\n"{quoted}",0,2\n')
    (folder / f"broken{name}.json").write_text(json.dumps({"format": name}))
    (folder / f"cut{name}.npy").write_bytes(b"\x93NUMPY\x01\x00\x40\x00{'descr': '" + name.encode()[:30])
    (folder / f"plain{name}").write_bytes(b"\x00\x01")
    fit = ["fit", "--y", "y.npy", "--mu", "2"]
    return [
        ["inspect", "m.json"], ["inspect", "m.json", "--json"], ["inspect", f"m{name}.json"],
        ["inspect", f"c{name}.ck"],
        ["inspect", f"c{name}.ck", "--json"], ["inspect", f"broken{name}.json"], ["inspect", f"none{name}"],
        ["predict", "m.json", "x.npy"], ["predict", "m.json", table], ["predict", f"broken{name}.json", "x.npy"],
        ["predict", "m.json", bad], ["predict", "m.json", "x.npy", "-o", f"no{name}/p.npy"],
        ["convert", table, "-o", f"o{name}.npz"], ["convert", table, "-o", f"o{name}.svm"],
        ["convert", bad, "-o", "o.npz"], ["convert", f"cut{name}.npy", "-o", "o.npz"],
        ["convert", f"plain{name}", "-o", "o.npz"], ["convert", "inf.triplets", "-o", "o.npz"],
        ["convert", "x.npy", "--orient", "features", "-o", f"o{name}"],
        ["convert", "x.npy", "--orient", "features", "--names", bad, "-o", "o.csv"],
        ["convert", "x.npy", "--dataset", name, "--orient", "features", "-o", "o.csv"],
        ["convert", "x.npy", "--rows", bad, "--orient", "features", "-o", "o.csv"],
        [*fit, "x.npy", "--names", "names"], [*fit, "x.npy", "--names", "names", "--json"],
        [*fit, f"x{name}.npy", "-o", f"m{name}"], [*fit, f"none{name}.npy"], [*fit, bad],
        [*fit, "x.npy", "-o", f"no{name}/m"],
        [*fit, "x.npy", "--method", name], [*fit, "x.npy", "--orient", name], [*fit, "x.npy", f"--{name}"],
        [*fit, "x.npy", "--trace", f"no{name}/t"], [*fit, "x.npy", "--checkpoint", f"no{name}/c"],
        ["fit", "--y", bad, "x.npy"], ["fit", "--y", f"y{name}.npy", "x.npy", "--mu", name],
        ["resume", f"c{name}.ck", f"none{name}"], ["resume", bad], ["resume", f"c{name}.ck", f"x{name}.npy"],
        ["report", f"m{name}.json", "-o", f"no{name}/r.html"], ["report", bad], ["evaluate", "m.json", f"no{name}"],
        ["simulate", "--n", "10", "--p", "5", "--mu", "2", "-o", f"s{name}"], [f"verb{name}"], [f"--{name}"],
        ["help", name], ["reproduce", name],
    ]


def test_output_is_safe_whatever_names_hold(program, planted):
    folder, name = planted
    for command in commands(folder, name):
        done = subprocess.run([program, *command], cwd=folder, capture_output=True, stdin=subprocess.DEVNULL,
                              timeout=60)
        for stream in (done.stdout, done.stderr):
            text = stream.decode()                       # raw bytes that are not UTF-8 fail here
            assert unsafe(text) == [], (command, text)
            assert not re.search("^(roofs: )?forged", text, re.MULTILINE), (command, text)
        assert done.stderr or done.stdout, command


def test_json_output_keeps_the_names(roofs, planted):
    folder, _ = planted
    shown = json.loads(roofs("inspect", "m.json", "--json", cwd=folder).stdout)
    model = json.loads((folder / "m.json").read_text())
    assert model["features"] and {f["name"] for f in shown["top"]} == {f["name"] for f in model["features"]}


def test_terminal_gets_only_sequences_of_the_program(program, planted):
    """On a terminal the program colours its own words; names stay escaped."""
    folder, name = planted
    fit = ["fit", "--y", "y.npy", "--mu", "2", "x.npy", "--names", "names"]
    for command in (["inspect", "m.json"], ["inspect", f"none{name}"], fit):
        main, side = pty.openpty()
        child = subprocess.Popen([program, *command], cwd=folder, stdin=side, stdout=side, stderr=side,
                                 env={**os.environ, "TERM": "xterm"})
        os.close(side)
        seen = b""
        try:
            while chunk := os.read(main, 65536):
                seen += chunk
        except OSError:                                  # the end of a terminal
            pass
        child.wait(timeout=60)
        os.close(main)
        text = re.sub(r"\x1b\[[0-9;]*[mK]|\r", "", seen.decode())
        assert unsafe(text) == [] and "forged" not in {line.split(":")[-1].strip() for line in text.splitlines()}


def test_report_page_holds_no_unsafe_character(roofs, planted):
    folder, _ = planted
    roofs("report", "m.json", "-o", "r.html", cwd=folder)
    assert set(unsafe((folder / "r.html").read_text())) <= {"\t"}
