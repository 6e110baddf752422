"""The Python reference: one page per public class, found in `roofs.__all__`, and links to other packages."""
import inspect
import re
import zlib

# Names of other packages that our docstrings and those we inherit mention, and where their pages are.
LINKS = {
    "https://scikit-learn.org/stable/": [
        "py:class modules/generated/{}.html sklearn.base.BaseEstimator sklearn.base.RegressorMixin "
        "sklearn.base.TransformerMixin sklearn.feature_selection.SelectorMixin sklearn.linear_model.HuberRegressor "
        "sklearn.linear_model.RANSACRegressor sklearn.linear_model.LassoCV sklearn.linear_model.RidgeCV "
        "sklearn.pipeline.Pipeline sklearn.model_selection.GridSearchCV sklearn.exceptions.NotFittedError "
        "sklearn.exceptions.ConvergenceWarning sklearn.utils.metadata_routing.MetadataRequest",
        "py:exception modules/generated/{}.html sklearn.exceptions.NotFittedError "
        "sklearn.exceptions.ConvergenceWarning",
    ],
    "https://numpy.org/doc/stable/": ["py:class reference/generated/{}.html numpy.ndarray"],
    "https://docs.python.org/3/": ["py:class library/exceptions.html#{} UserWarning ValueError MemoryError"],
}


def write_inventories(folder):
    """Files as Sphinx reads them, made here so that no build needs a network. Returns the mapping for conf.py."""
    mapping = {}
    for k, (address, groups) in enumerate(LINKS.items()):
        lines = []
        for group in groups:
            kind, place, *names = group.split()
            lines += [f"{name} {kind} 1 {place.format(name)} -" for name in names]
        path = folder / f"links-{k}.inv"
        head = "# Sphinx inventory version 2\n# Project: other\n# Version: 1\n" \
               "# The remainder of this file is compressed using zlib.\n"
        path.write_bytes(head.encode() + zlib.compress(("\n".join(lines) + "\n").encode()))
        mapping[f"other{k}"] = (address, str(path))
    return mapping


def public_methods(cls):
    """Our methods as they stand in the source, then those that come from scikit-learn."""
    hidden = re.compile(r"_|set_\w+_request$|get_metadata_routing$")
    names = [name for name in dir(cls) if not hidden.match(name) and not name.endswith("_")
             and callable(getattr(cls, name))]
    ours = [name for name in names if defined_by(cls, name).startswith("roofs")]
    return sorted(ours, key=lambda name: source_line(cls, name)), [name for name in names if name not in ours]


def defined_by(cls, name):
    return next(base.__module__ for base in cls.__mro__ if name in vars(base))


def source_line(cls, name):
    try:
        return inspect.getsourcelines(inspect.unwrap(getattr(cls, name)))[1]
    except (OSError, TypeError):
        return 0


def class_page(cls):
    name = cls.__name__
    if issubclass(cls, Warning):
        return f"# {name}\n\n```{{eval-rst}}\n.. currentmodule:: roofs\n\n.. autoclass:: {name}\n" \
               "   :show-inheritance:\n```\n"
    ours, inherited = public_methods(cls)
    lines = [f"# {name}", "", "```{eval-rst}", ".. currentmodule:: roofs", "", f".. autoclass:: {name}", ""]
    for title, methods in (("Methods", ours), ("Methods from scikit-learn", inherited)):
        if methods:
            lines += ["```", "", f"## {title}", "", "```{eval-rst}", ".. currentmodule:: roofs", ""]
            for method in methods:
                lines += [f".. automethod:: {name}.{method}", ""]
    return "\n".join(lines + ["```", ""])


def function_page(function):
    name = function.__name__
    return f"# {name}\n\n```{{eval-rst}}\n.. currentmodule:: roofs\n\n.. autofunction:: {name}\n```\n"


def pages():
    """{name: text}: a page per class and function, and the list of them for python.md."""
    import roofs
    out, kinds = {}, {"Estimators": [], "Results and plots": [], "Functions": [], "Warnings": []}
    for name in sorted(roofs.__all__):
        what = getattr(roofs, name)
        if not inspect.isclass(what):
            kind, text = "Functions", function_page(what)
        else:
            text = class_page(what)
            kind = "Warnings" if issubclass(what, Warning) else \
                "Estimators" if hasattr(what, "fit") else "Results and plots"
        out[f"python/{name}"] = text
        kinds[kind].append((name, inspect.getdoc(what).split("\n\n")[0].replace("\n", " ")))
    lines = []
    for kind, members in kinds.items():
        lines += [f"## {kind}", "", "| | |", "|---|---|"]
        lines += [f"| [`{name}`](python/{name}.md) | {about} |" for name, about in members] + [""]
    lines += ["```{toctree}", ":hidden:", "", *sorted(f"python/{name}" for name in roofs.__all__), "```", ""]
    out["python"] = "\n".join(["# Python", "", INTRODUCTION, *lines])
    return out


INTRODUCTION = """The package `roofs` follows scikit-learn: an estimator has `fit` and `predict`, what a fit finds are
attributes that end in an underscore, and the estimators work in pipelines and in `GridSearchCV`. They pass all of
scikit-learn's estimator checks. [The guide](../guide.md) explains what they do,
[the warnings](../guide.md#warnings) and what to do about them.
"""


def one_entry_per_name(app, what, name, obj, options, lines):
    """numpydoc lists several attributes in one entry; each gets an entry of its own, so that each can be linked."""
    out, k, inside = [], 0, False
    while k < len(lines):
        inside = inside or lines[k].strip() == "Attributes"
        match = re.match(r"^(\w+(?:, \w+)+) : (.*)$", lines[k]) if inside else None
        if not match:
            out.append(lines[k])
            k += 1
            continue
        body = [line for line in lines[k + 1:next_entry(lines, k + 1)]]
        for member in match.group(1).split(", "):
            out += [f"{member} : {match.group(2)}", *body]
        k = next_entry(lines, k + 1)
    lines[:] = out


def next_entry(lines, k):
    while k < len(lines) and (not lines[k].strip() or lines[k].startswith(" ")):
        k += 1
    return k


def without_foreign_marks(app, what, name, obj, options, lines):
    """Docstrings of scikit-learn refer to sections of its own manual."""
    if getattr(obj, "__module__", "") and str(getattr(obj, "__module__", "")).startswith("sklearn"):
        for k, line in enumerate(lines):
            line = re.sub(r":(?:ref|term|class|func|meth):`~?([^<`]*?)(?: *<[^>]*>)?`", r"`\1`", line)
            lines[k] = re.sub(r"`?([^`<>]+) <https?://[^>]*>`_+", r"\1", line)
