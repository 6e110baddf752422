"""The C reference: one section per call, struct and list, made from the public headers and their comments."""
import re
import textwrap

SHAPED = re.compile(r"^ {2,3}([A-Za-z][A-Za-z_]+) {2,}(\S.*)$")
WORD = re.compile(r"\*\*\w+\.\*\*|`[^`]*`|(?<![\w)])\*\w+|<[a-z/._]+>|\w+\[[^\]]*\](?:\[[^\]]*\])?|"
                  r"\b(?:roofs_[a-z_]+\*?|ROOFS_[A-Z_]+(?:\.{3})?|[A-Z]{2,}_[A-Z_]+|[a-z]+_[a-z_]+)\b(?:\(\))?")


def chunks(text):
    """The header in paragraphs: a comment at the margin with the code below it, up to the next blank line."""
    out, comment, code, inside = [], [], [], False
    for line in text.split("\n") + [""]:
        if inside or (line.startswith("/*") and not code):
            comment.append(line)
            inside = "*/" not in line
        elif line.strip() or open_braces(code):
            code.append(line)
        elif code or comment:
            out.append((plain(comment), "\n".join(code)))
            comment, code = [], []
    return out


def open_braces(code):
    text = "\n".join(code)
    return text.count("{") > text.count("}")


def plain(comment):
    """A comment without its marks."""
    text = "\n".join(comment).strip()
    text = re.sub(r"^/\* ?|\s*\*/$", "", text)
    return "\n".join(re.sub(r"^ \* ?", "", line) for line in text.split("\n")).rstrip()


def declarations(code):
    """The prototypes of a piece of code, without bodies and attributes."""
    code = re.sub(r"\n\{.*?\n\}", ";", code, flags=re.S)
    found = re.findall(r"^(?:ROOFS_API|ROOFS_CHECKED|ROOFS_INLINE_CHECKED|static inline)\s+(.*?);", code,
                       flags=re.M | re.S)
    return [re.sub(r"\s+", " ", one.strip()) + ";" for one in found]


def folded(prototype, width=88):
    """A prototype with its arguments in lines of at most `width`."""
    if len(prototype) <= width:
        return prototype
    head, arguments = prototype[:-2].split("(", 1)
    lines, line = [], head + "("
    for k, argument in enumerate(arguments.split(", ")):
        more = argument + (", " if k < arguments.count(", ") else ");")
        if len(line) + len(more) > width:
            lines.append(line.rstrip())
            line = "    "
        line += more
    return "\n".join(lines + [line])


def name_of(prototype):
    return re.search(r"(roofs_\w+)\(", prototype).group(1)


def marked(text, known):
    """Names as code; those that have a section here as links."""
    def mark(match):
        word = match.group(0)
        if word.startswith("**"):
            return word
        if word.startswith("`"):
            word = word.strip("`")
        bare = word.rstrip("()")
        return f"[`{word}`](#{bare.replace('_', '-').lower()})" if bare in known else f"`{word}`"
    text = WORD.sub(mark, text.replace("|", "\\|"))
    return re.sub(r"\bdocs/(\w+)\.md", r"[\1](../\1.md)", text)


def prose(comment, known):
    """A comment as Markdown: paragraphs, lists of statuses as tables, indented code as code."""
    out, lines, table, code = [], [], [], []

    def flush():
        if lines:
            out.append(marked(" ".join(lines), known) + "\n")
        if table:
            rows = [f"| `{word}` | {marked(text, known)} |" for word, text in table]
            out.append("\n".join(["| | |", "|---|---|", *rows]) + "\n")
        if code:
            out.append("```c\n" + "\n".join(line[4:] for line in code) + "\n```\n")
        lines.clear(), table.clear(), code.clear()

    for line in comment.split("\n"):
        shaped = SHAPED.match(line)
        if not line.strip():
            flush()
        elif shaped:
            if not table:
                flush()
            table.append([shaped.group(1), shaped.group(2)])
        elif table and line.startswith("      "):
            table[-1][1] += " " + line.strip()
        elif line.startswith("    ") and not lines and not table:
            code.append(line)
        else:
            if table:
                flush()
            lines.append(line.strip())
    flush()
    return "\n".join(out)


def lists_of(text):
    """{list: [(name, number, rest)]} of the lists that the header defines as macros."""
    found = {}
    for name, body in re.findall(r"^#define (ROOFS_\w+_LIST)\(X\)(.*?[^\\])$", text, flags=re.M | re.S):
        joined = re.sub(r"\s*\\\n\s*", " ", body)
        joined = re.sub(r"\" \"", "", joined)
        found[name] = re.findall(r"X\((\w+), (\d+),? ?((?:\"[^\"]*\"(?:, )?)*)\)(?: */\* (.*?) \*/)?", joined)
    return found


def expanded(code, lists):
    """Enums with their values in place of the macros that make them."""
    def values(match):
        prefix, name = match.group(1), match.group(2)
        lines = []
        for word, number, texts, note in lists[name]:
            words = re.findall(r'"([^"]*)"', texts)[:1] + ([note] if note else [])
            lines.append((f"    {prefix}{word} = {number},", "; ".join(words)))
        width = max(len(value) for value, _ in lines)
        return "\n".join(f"{value:{width}} /* {text} */" for value, text in lines)
    return re.sub(r"#define \w+\(name, .*?\) (ROOFS_(?:\w+_)?)##name = \(\w+\),\s+(ROOFS_\w+_LIST)\(\w+\)\s+#undef \w+",
                  values, code)


def type_name(code):
    """The name of a struct, enum, function type or list that a piece of code defines."""
    for pattern in (r"^typedef struct (roofs_\w+)", r"^\} (roofs_\w+);", r"^typedef .*?\(\*(roofs_\w+)\)",
                    r"^enum (roofs_\w+)", r"^enum \{ (ROOFS_\w+)", r"^#define (ROOFS_\w+)"):
        found = re.search(pattern, code, flags=re.M)
        if found:
            return found.group(1)
    return None


def wrapped(code, width=100):
    """Comments that are too long go on in the next line."""
    out = []
    for line in code.split("\n"):
        start = line.find("/*")
        if len(line) > width and start >= 0:
            filled = textwrap.wrap(line[start:], max(width - start, 40), subsequent_indent=" " * (start + 3))
            line = line[:start] + "\n".join(filled)
        out.append(line)
    return "\n".join(out)


def entries(section, lists):
    """(name, signature, comment) of every paragraph of a section that declares something."""
    waiting = ""
    for comment, code in chunks(section):
        if code.startswith("#define") and "_LIST(X)" in code:      # its values stand in the enum that follows
            waiting = comment
            continue
        comment, waiting = comment or waiting, ""
        calls = [one for one in declarations(code) if not name_of(one).endswith("_sized")]
        if calls:
            shown = "\n".join(folded(one) for one in calls)
            if "_sized(" in code:
                comment += "\n\nIt is inline and passes the size of your struct to the function that ends in _sized."
            for call in calls:
                yield name_of(call), shown if call is calls[0] else folded(call), comment if call is calls[0] else \
                    f"See {name_of(calls[0])}."
        else:
            for piece in re.split(r"\n(?=enum |typedef enum )", code):
                if type_name(piece):
                    yield type_name(piece), wrapped(expanded(piece, lists)), comment
                    comment = ""


def section_lines(title, section, known, lists):
    yield f"## {title[0].upper()}{title[1:]}\n"
    for name, code, comment in entries(section, lists):
        yield f"### {name}\n"
        yield f"```c\n{code.rstrip()}\n```\n"
        yield prose(comment, known)


def sections(text):
    body = text[text.index("/* ---- "):text.rindex("#ifdef __cplusplus")]
    parts = re.split(r"/\* ---- (.*?) -+ \*/\n", body)[1:]
    return list(zip(parts[::2], parts[1::2]))


def about(text):
    comment = re.search(r"/\*(.*?)\*/", text, flags=re.S).group(0)
    text = plain(comment.split("\n")).split("\n", 2)[2]
    return re.sub(r"^(Failures|Ownership|Threads|Versions)\.", r"**\1.**", text, flags=re.M)


def page(header, mpi):
    """The page: what holds for all calls, the order of calls, then every section of the header."""
    text, split = header.read_text(), mpi.read_text()
    all_sections = sections(text) + [("Samples split over MPI ranks: roofs_mpi.h",
                                      split.split('extern "C" {\n#endif\n')[1].rsplit("#ifdef __cplusplus", 1)[0])]
    lists = lists_of(text)
    known = {name for _, section in all_sections for name, _, _ in entries(section, lists)}
    lines = ["# The C interface", "",
             "This page is made from `roofs/roofs.h` and `roofs/roofs_mpi.h`: one section per call. Complete programs "
             "are in the folder `examples`. [Versions and compatibility](../versioning.md) says what stays as it is.",
             "", "## The order of the calls", "", prose(about(text), known)]
    for title, section in all_sections:
        lines += section_lines(title, section, known, lists)
    return "\n".join(lines) + "\n"
