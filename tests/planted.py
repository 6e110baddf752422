"""Faults put into the source on purpose: a test that cannot fail is none.

A file is compiled with one line changed, as the build does it, and linked in the place of its own object."""
import json
import re
import shlex
import subprocess
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent


def compile_command(build, source):
    commands = json.loads((build / "compile_commands.json").read_text())
    return next(shlex.split(c["command"]) for c in commands
                if c["file"] == str(source) and re.search(r"roofs_(objects|readers)\.dir", c["command"]))


def link_command(build, target):
    done = subprocess.run(["ninja", "-C", build, "-t", "commands", "-s", target], capture_output=True, text=True,
                          check=True)
    line = re.sub(r"^: && | && :$", "", [line for line in done.stdout.splitlines() if " -o " in line][-1].strip())
    return shlex.split(line)


def plant(build, target, file, old, new, folder):
    """The path of `target` with `old` replaced by `new` in `file`."""
    build, source = Path(build), ROOT / file
    text = source.read_text()
    assert text.count(old) == 1, f"{file} should have one '{old}'"
    changed = folder / source.name
    changed.write_text(text.replace(old, new))
    compiling = compile_command(build, source)
    own_object = compiling[compiling.index("-o") + 1]
    compiling[compiling.index("-o") + 1] = str(folder / "planted.o")
    compiling = [str(changed) if word == str(source) else word for word in compiling]
    subprocess.run(compiling + [f"-I{source.parent}"], cwd=build, check=True)
    linking = [str(folder / "planted.o") if word == own_object else word for word in link_command(build, target)]
    assert str(folder / "planted.o") in linking
    program = folder / Path(target).name
    linking[linking.index("-o") + 1] = str(program)
    subprocess.run(linking, cwd=build, check=True)
    return program
