"""The page of settings: every setting under its three names, and the methods."""


def rows():
    from roofs._keywords import SETTINGS
    from roofs._native import ffi, lib
    keywords = {field: name for name, (field, _) in SETTINGS.items()}
    row, k = ffi.new("roofs_setting_info *"), 0
    while lib.roofs_setting_describe(k, row):
        name, default = ffi.string(row.name).decode(), ffi.string(row.default_text).decode()
        flag = row.kind == lib.ROOFS_SETTING_FLAG
        option = f"--no-{name}" if flag and default == "1" else f"--{name}"
        words = row.kind in (lib.ROOFS_SETTING_TEXT, lib.ROOFS_SETTING_CHOICE)
        span = "" if words or flag else f"{row.low:g} to {row.high:g}"
        yield (f"| `{name}` | `{option.replace('_', '-')}` | `{keywords.get(name, '')}` | {default} | {span} | "
               f"{ffi.string(row.help).decode()} |")
        k += 1


def page():
    import roofs
    lines = ["# Settings", "",
             "One table makes the fields of C, the options of `roofs fit` and the keywords of Python.", "",
             "| C field | option | keyword | default | range | meaning |", "|---|---|---|---|---|---|", *rows(), "",
             "Where 0 means automatic, Python uses `None`.", "", "## Methods", "",
             "[Which method when](../which-method.md) helps to choose.", "", "| name | |", "|---|---|"]
    lines += [f"| `{name}` | {text.replace('|', chr(92) + '|')} |" for name, text in roofs.methods().items()]
    return "\n".join(lines) + "\n"
