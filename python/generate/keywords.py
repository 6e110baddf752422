"""Makes the keywords of the estimators from the table of settings: keywords.py COMPILER settings.def roofs.h OUT.py

What the table calls mu or batch has a name that users of scikit-learn know; 0 for "choose it yourself" is None.
"""
import subprocess
import sys
import textwrap

KNOWN_AS = {"mu": "n_nonzero_coefs", "batch": "batch_size", "lambda": "alpha", "threads": "n_jobs",
            "intercept": "fit_intercept"}
NONE_MEANS_ZERO = {"mu", "clean_ratio", "lambda", "threads", "max_memory"}
FIRST = ("mu", "method", "batch", "passes", "reserve", "clean_ratio", "intercept", "standardize")
OWN_WORDS = {
    "mu": "features to keep at most. `None`: a tenth of the features, at least one, as `OrthogonalMatchingPursuit` "
          "does; it must be given when the features come as a stream",
    "clean_ratio": "share of the samples to trust; `None`: estimate it",
    "lambda": "weight of the penalty, in spreads of y; `None`: 1 / sqrt(n) (grafting)",
    "passes": "times to read the features; blocks that come from a generator can be read only once",
    "threads": "threads to use; `None` and -1: one per core, or as OMP_NUM_THREADS says. The result does not depend on "
               "it",
    "max_memory": "bytes the fit may take; `None`: no limit",
    "standardize": "bring features to mean 0 and scale 1 on the trusted samples. Coefficients are in your units all "
                   "the same",
}
TYPES = {"INT": "int", "REAL": "float", "FLAG": "bool", "TEXT": "str", "CHOICE": "str"}
VERBOSE = ("verbose", "bool", "False", "show a bar (with tqdm where it is installed)")
MUS = ("mus", "Iterable[int] | None", "None",
       "numbers of features to try, ascending. `None`: 8 of them, from 2 to a quarter as many as "
                                "there are samples, or to all features")
FOLDS = ("cv", "int | object", "5",
         "folds of the cross-validation (shuffled, always the same way), or a splitter of scikit-learn")


def rows(compiler, table, header):
    """(kind, field, default, help) of every setting, as the C preprocessor reads the table.

    The words of choices are in the header."""
    macros = ['-DINT(f,s,d,l,h,t)=("INT",#f,#d,t),', '-DREAL(f,s,d,l,h,t)=("REAL",#f,#d,t),',
              '-DFLAG(f,s,d,t)=("FLAG",#f,#d,t),', '-DTEXT(f,s,w,d,t)=("TEXT",#f,d,t),',
              '-DCHOICE(f,s,l,d,t)=("CHOICE",#f,dict([ROOFS_##l##_LIST(PAIR)])[#d],t),',
              '-DPAIR(name,number,word)=(#name,word),']
    command = [compiler, "-E", "-P", "-imacros", header, *macros, "-xc", table]
    return eval("[" + subprocess.run(command, capture_output=True, text=True, check=True).stdout + "]")


def keyword(kind, field, default, text):
    """(name, type, default, help) in Python."""
    optional = field in NONE_MEANS_ZERO
    value = {"TEXT": repr(default), "CHOICE": repr(default), "FLAG": str(default == "1")}.get(kind, default)
    name = KNOWN_AS.get(field, field)
    return (name, f"{TYPES[kind]} | None" if optional else TYPES[kind], "None" if optional else value,
            OWN_WORDS.get(field, text))


def class_text(name, about, keywords):
    first, *others = keywords
    lines = [f"class {name}:", f'    """{about}"""', "", "    def __init__(", "        self,",
             f"        {first[0]}: {first[1]} = {first[2]},", "        *,"]
    lines += [f"        {k[0]}: {k[1]} = {k[2]}," for k in others]
    lines += ["    ) -> None:"] + [f"        self.{k[0]} = {k[0]}" for k in keywords]
    return "\n".join(lines) + "\n"


def described(keywords):
    """The Parameters section of a docstring, indented as in a class."""
    parts = []
    for name, kind, default, text in keywords:
        body = textwrap.fill(text[0].upper() + text[1:] + ".", 95, initial_indent="        ",
                             subsequent_indent="        ")
        parts.append(f"    {name} : {kind}, default={default}\n{body}")
    return "\n".join(parts)


def main(compiler, table, header, out):
    settings = rows(compiler, table, header)
    settings.sort(key=lambda row: FIRST.index(row[1]) if row[1] in FIRST else len(FIRST) + (row[1] != "threads"))
    single = [keyword(*row) for row in settings] + [VERBOSE]
    path = [MUS, FOLDS] + single[1:]
    with open(out, "w") as file:
        file.write('"""Made from the table of settings (src/api/settings.def) by python/generate/keywords.py."""\n'
                   "from __future__ import annotations\n\nfrom collections.abc import Iterable\n\n")
        file.write("#: keyword -> (setting of the library, kind)\nSETTINGS = {\n")
        file.writelines(f"    {k[0]!r}: ({row[1]!r}, {row[0]!r}),\n" for k, row in zip(single, settings))
        file.write("}\n\n\n")
        file.write(class_text("Keywords", "The keywords of RoOFSRegressor.", single) + "\n\n")
        file.write(class_text("PathKeywords", "The keywords of RoOFSRegressorCV.", path) + "\n\n")
        file.write(f'PARAMETERS = """\\\n{described(single)}\n"""\n\nPATH_PARAMETERS = """\\\n{described(path)}\n"""\n')


if __name__ == "__main__":
    main(*sys.argv[1:])
