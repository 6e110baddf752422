"""Pages made from the sources: the table of settings, the program's own help, the public header."""
import re
import subprocess
from pathlib import Path


def settings_page():
    """Every setting under its three names."""
    from roofs._keywords import SETTINGS
    from roofs._native import ffi, lib
    keywords = {field: name for name, (field, _) in SETTINGS.items()}
    row, k = ffi.new("roofs_setting_info *"), 0
    lines = ["# Settings", "",
             "One table (`src/api/settings.def`) makes the fields of C, the options of `roofs fit` and the keywords of "
             "Python.", "",
             "| C field | option | keyword | default | range | meaning |", "|---|---|---|---|---|---|"]
    while lib.roofs_setting_describe(k, row):
        name, default = ffi.string(row.name).decode(), ffi.string(row.default_text).decode()
        flag = row.kind == lib.ROOFS_SETTING_FLAG
        option = f"--no-{name}" if flag and default == "1" else f"--{name}"
        words = row.kind in (lib.ROOFS_SETTING_TEXT, lib.ROOFS_SETTING_CHOICE)
        span = "" if words or flag else f"{row.low:g} to {row.high:g}"
        lines.append(f"| `{name}` | `{option.replace('_', '-')}` | `{keywords[name]}` | {default} | {span} | "
                     f"{ffi.string(row.help).decode()} |")
        k += 1
    lines += ["", "Where 0 means automatic, Python uses `None`.", "", "## Methods", "", "| name | |", "|---|---|"]
    import roofs
    lines += [f"| `{name}` | {text.replace('|', chr(92) + '|')} |" for name, text in roofs.methods().items()]
    return "\n".join(lines) + "\n"


def help_of(program, *words):
    return subprocess.run([program, "help", *words], capture_output=True, text=True, check=True,
                          env={"NO_COLOR": "1", "COLUMNS": "110"}).stdout


def program_page(program):
    """What the program says about itself."""
    overview = help_of(program)
    verbs = re.findall(r"^  ([a-z]+)  ", overview.split("Verbs:")[1], flags=re.M)
    parts = ["# The program", "", "```text", overview.rstrip(), "```", ""]
    for verb in verbs:
        parts += [f"## roofs {verb}", "", "```text", help_of(program, verb).rstrip(), "```", ""]
    return "\n".join(parts)


def header_page(header):
    """The header, one part per section; its comments are the reference."""
    text = header.read_text()
    about = re.search(r"/\*(.*?)\*/", text, flags=re.S).group(1)
    about = "\n".join(re.sub(r"^ \* ?", "", line) for line in about.split("\n")).strip()
    body = text[text.index("/* ---- status"):text.rindex("#ifdef __cplusplus")]
    pieces = re.split(r"/\* ---- (.*?) -+ \*/\n", body)[1:]
    parts = ["# The C interface", "", "```text", about, "```", ""]
    for title, code in zip(pieces[::2], pieces[1::2]):
        code = code.replace("ROOFS_CHECKED ", "").replace("ROOFS_API ", "")
        code = code.replace("ROOFS_INLINE_CHECKED ", "static inline ")
        parts += [f"## {title.capitalize()}", "", "```c", code.strip("\n"), "```", ""]
    return "\n".join(parts)


def write_all(root, program, folder):
    folder.mkdir(exist_ok=True)
    pages = {"settings": settings_page(), "program": program_page(str(program)),
             "header": header_page(Path(root) / "include/roofs/roofs.h")}
    for name, text in pages.items():
        (folder / f"{name}.md").write_text(text)
