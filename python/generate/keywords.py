"""Generates the keywords of the estimators from the table of settings: keywords.py COMPILER settings.def roofs.h OUT.py

Some settings have other names and defaults in Python, after the conventions of scikit-learn.
"""
import subprocess
import sys
import textwrap

PYTHON_NAMES = {"mu": "n_nonzero_coefs", "batch": "batch_size", "lambda": "alpha", "threads": "n_jobs",
                "intercept": "fit_intercept"}
NONE_IS_DEFAULT = {"mu", "clean_ratio", "lambda", "threads", "max_memory", "fdr"}   # None in Python, 0 in the library
FIRST = ("mu", "method", "batch", "passes", "select", "fdr", "reserve", "clean_ratio", "intercept", "standardize")
PYTHON_HELP = {
    "mu": "features to keep at most. `None`: as many as help, which is a bound of memory and not a guess: 64 MiB of "
          "values, but 500 to 4000 features, not more than `max_memory` allows and not more than there are. "
          "Probabilities then decide which features are selected, see `select`",
    "clean_ratio": "share of the samples to trust; `None`: estimate it",
    "lambda": "weight of the penalty, in spreads of y; `None`: 1 / sqrt(n) (grafting)",
    "passes": "times to read the features. `\"auto\"`: until the selected features stand still, at most 3 times; once "
              "if all features are kept, if they come from a generator, and for methods other than roofs-bayes",
    "select": "features that count as selected: `\"kept\"`: all that the model holds; `\"likely\"`: those with a "
              "probability above 1/2; `\"auto\"`: likely if `n_nonzero_coefs` is `None` and the method estimates "
              "probabilities. Predictions use all kept features",
    "fdr": "rate of false discoveries, above 0 and at most 0.5. The members of the groups that are found at this rate "
           "are then the selected features, instead of those of `select`, and `n_nonzero_coefs` only bounds the "
           "memory. A group is a false discovery if none of its members matters. Promised from 0.1 on; from 0.05 on "
           "where features correlate at most 0.5. `None`: see `select` (roofs-bayes)",
    "groups": "credible groups of look-alike features, see `groups_` (roofs-bayes): `\"auto\"`: found at the end of "
              "the fit, among the kept features and the pool; `\"exact\"`: the features are read once more for the "
              "pool, so that all groups are complete; `\"off\"`: none",
    "pool": "dropped features to hold at most, per feature of `n_nonzero_coefs`, in 8 bits per sample. They look like "
            "a kept feature and may be members of groups. 0: none. On a GPU only with `groups=\"exact\"` "
            "(roofs-bayes)",
    "prior": "features that the prior expects to matter (roofs-bayes): `\"mu\"`: `n_nonzero_coefs`, in small fits as "
             "samples; `\"samples\"`: a tenth of the samples, but not more than are kept; `\"auto\"`: mu if "
             "`n_nonzero_coefs` is given",
    "threads": "threads to use; -1: one per core, but not more than the CPU quota, OMP_NUM_THREADS and joblib allow; "
               "`None`: as -1, but as a `joblib.parallel_config` around the fit says, and 1 in joblib's worker "
               "threads. The result does not depend on it",
    "max_memory": "bytes that the fit may take; `None`: no limit",
    "standardize": "scale features to mean 0 and scale 1 on the trusted samples. Coefficients stay in the units of the "
                   "data",
}
TYPES = {"INT": "int", "AUTO": "int | str", "REAL": "float", "FLAG": "bool", "TEXT": "str", "CHOICE": "str"}
VERBOSE = ("verbose", "bool", "False", "show a progress bar (of tqdm if it is installed)")
TABLE = ("table", "dict | None", "None",
         "how the columns of a frame become features, see :doc:`tables`: `id`, `categories`, `max_levels`, `dates`, "
         "`date_order`, `missing`, `thousands` and `decimal_comma`, with the values of the program's options. `None`: "
         "its defaults")
MUS = ("mus", "Iterable[int] | None", "None",
       "numbers of features to try. `None`: 8 numbers, from 2 to the default of `n_nonzero_coefs` in `RoOFSRegressor`")
FOLDS = ("cv", "int | object", "5",
         "number of folds (shuffled, always in the same way), or a splitter of scikit-learn")


def rows(compiler, table, header):
    """(kind, field, default, help) of every setting. The C preprocessor turns the table into Python tuples. The words
    of choices are in the header."""
    macros = ['-DINT(f,s,d,l,h,t)=("INT",#f,#d,t),', '-DAUTO(f,s,h,t)=("AUTO",#f,"auto",t),',
              '-DREAL(f,s,d,l,h,t)=("REAL",#f,#d,t),',
              '-DFLAG(f,s,d,t)=("FLAG",#f,#d,t),', '-DTEXT(f,s,w,d,t)=("TEXT",#f,d,t),',
              '-DCHOICE(f,s,l,d,t)=("CHOICE",#f,dict([ROOFS_##l##_LIST(PAIR)])[#d],t),',
              '-DPAIR(name,number,word)=(#name,word),']
    command = [compiler, "-E", "-P", "-imacros", header, *macros, "-xc", table]
    return eval("[" + subprocess.run(command, capture_output=True, text=True, check=True).stdout + "]")


def keyword(kind, field, default, text):
    """(name, type, default, help) in Python."""
    optional = field in NONE_IS_DEFAULT
    words = dict.fromkeys(("TEXT", "CHOICE", "AUTO"), repr(default))
    value = {**words, "FLAG": str(default == "1")}.get(kind, default)
    name = PYTHON_NAMES.get(field, field)
    return (name, f"{TYPES[kind]} | None" if optional else TYPES[kind], "None" if optional else value,
            PYTHON_HELP.get(field, text))


def class_text(name, about, keywords):
    first, *others = keywords
    lines = [f"class {name}:", f'    """{about}"""', "", "    def __init__(", "        self,",
             f"        {first[0]}: {first[1]} = {first[2]},", "        *,"]
    lines += [f"        {k[0]}: {k[1]} = {k[2]}," for k in others]
    lines += ["    ) -> None:"] + [f"        self.{k[0]} = {k[0]}" for k in keywords]
    return "\n".join(lines) + "\n"


def parameters_section(keywords):
    """The Parameters section of a docstring, indented as in a class."""
    def entry(name, kind, default, text):
        body = textwrap.indent(textwrap.fill(text[0].upper() + text[1:] + ".", 87), "        ")
        return f"    {name} : {kind}, default={default}\n{body}"
    return "\n".join(entry(*keyword) for keyword in keywords)


def main(compiler, table, header, out):
    settings = rows(compiler, table, header)
    settings.sort(key=lambda row: FIRST.index(row[1]) if row[1] in FIRST else len(FIRST) + (row[1] != "threads"))
    single = [keyword(*row) for row in settings] + [TABLE, VERBOSE]
    path = [MUS, FOLDS] + single[1:]
    with open(out, "w") as file:
        file.write('"""Generated from src/api/settings.def by python/generate/keywords.py."""\n'
                   "from __future__ import annotations\n\nfrom collections.abc import Iterable\n\n")
        file.write("#: keyword -> (setting of the library, kind)\nSETTINGS = {\n")
        file.writelines(f"    {k[0]!r}: ({row[1]!r}, {row[0]!r}),\n" for k, row in zip(single, settings))
        names = tuple(k[0] for k, row in zip(single, settings) if row[1] in NONE_IS_DEFAULT)
        file.write(f"}}\n#: keywords that are None in Python for 0 in the library\nNONE_IS_DEFAULT = {names!r}\n\n\n")
        file.write(class_text("Keywords", "The keywords of RoOFSRegressor.", single) + "\n\n")
        file.write(class_text("PathKeywords", "The keywords of RoOFSRegressorCV.", path) + "\n\n")
        file.write(f'PARAMETERS = """\\\n{parameters_section(single)}\n"""\n\n')
        file.write(f'PATH_PARAMETERS = """\\\n{parameters_section(path)}\n"""\n')


if __name__ == "__main__":
    main(*sys.argv[1:])
