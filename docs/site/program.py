"""The manual of the program, made from what it prints about itself."""
import re
import subprocess

OPTION = re.compile(r"^  (?:(-\w), |    )(--[\w-]+)(?: (\S+))?(?:  +(.*))?$")


def help_of(program, *words):
    return subprocess.run([program, "help", *words], capture_output=True, text=True, check=True,
                          env={"NO_COLOR": "1", "COLUMNS": "100"}).stdout


def parts(text):
    """{heading: lines} of a help text; what stands below 'Usage' and above 'Options' is 'About'."""
    found, name = {"Summary": []}, "Summary"
    for line in text.rstrip().split("\n"):
        if re.fullmatch(r"[A-Z]\w+:", line):
            name = line[:-1]
            found[name] = []
        else:
            if name == "Usage" and line and not line.startswith(" "):
                name = "About"
                found[name] = []
            found[name].append(line)
    return found


def escaped(text):
    """Plain text for a cell of a table."""
    return re.sub(r"([|<*_])", r"\\\1", text)


def table(lines, first):
    """Options, methods or formats: a name, and the text beside and below it."""
    rows = []
    for line in lines:
        option = OPTION.match(line)
        word = re.match(r"^  (\S+)  +(\S.*)$", line)
        if option:
            short, long, value, text = option.groups()
            name = ", ".join(f"`{one}`" for one in (short, f"{long} {value}" if value else long) if one)
            rows.append([name, text or ""])
        elif word:
            rows.append([f"`{word.group(1)}`", word.group(2)])
        elif rows and line.startswith("     "):
            rows[-1][1] += " " + line.strip()
    return [f"| {first} | |", "|---|---|", *(f"| {name} | {escaped(text.strip())} |" for name, text in rows), ""]


def paragraphs(lines):
    """The text about a verb. Options in it are code."""
    text = re.sub(r"([<*|])", r"\\\1", "\n".join(lines).strip())
    return re.sub(r"(?<![\w-])(--[a-z][\w-]*)", r"`\1`", text)


def verb_lines(program, verb):
    found = parts(help_of(program, verb))
    summary = found["Summary"][0].split(" - ", 1)[1]
    yield from (f"## roofs {verb}", "", f"{summary[0].upper()}{summary[1:]}.", "")
    yield from ("```text", "\n".join(line.strip() for line in found["Usage"]).strip(), "```", "")
    if "About" in found:
        yield from (paragraphs(found["About"]), "")
    if "Examples" in found:
        yield from ("### Examples", "", "```text", "\n".join(line[2:] for line in found["Examples"]).strip(), "```", "")
    for name, lines in found.items():
        if name not in ("Summary", "Usage", "About", "Examples"):
            yield from (f"### {name}", "", *table(lines, name[:-1].lower()))


def page(program):
    overview = parts(help_of(program))
    verbs = re.findall(r"^  ([a-z]+)  ", "\n".join(overview["Verbs"]), flags=re.M)
    lines = ["# The program", "",
             "`roofs help VERB` prints the section of a verb, `roofs help --man` the manual. This page is made from "
             "the same tables.", "", "```text", "\n".join(line[2:] for line in overview["Example"]).strip(), "```", ""]
    lines += table(overview["Verbs"], "verb")
    for verb in verbs:
        lines += verb_lines(program, verb)
    return "\n".join(lines) + "\n"
