"""
A messy table
=============

600 sold houses, as a spreadsheet saves them: semicolons, Windows line ends, names with spaces and quotes, an ID, a
date, words, yes and no, thousands separators, missing values, and the price among the columns. One price in ten is
wrong.
"""

import os
import subprocess
import sys
import tempfile
from pathlib import Path

work = Path(tempfile.mkdtemp())
example = Path(os.environ.get("ROOFS_EXAMPLES", "examples")) / "houses"      # of the repository


def shell(command, lines=40):
    print("$", command)
    done = subprocess.run(command, shell=True, capture_output=True, text=True, cwd=work)
    print("\n".join((done.stdout + done.stderr).splitlines()[:lines]))


subprocess.run([sys.executable, example / "make.py"], cwd=work, check=True)
shell("head -n 4 houses.csv")

# %%
# One command fits it. The price is a column, the ID names the samples.

shell("roofs fit houses.csv --y 'price €' --id 'House ID' --thousands --missing median -o model.json")

# %%
# How good is the fit, what matters, and which houses are not trusted?

shell("roofs inspect model.json --top 8", lines=32)

# %%
# New houses: the columns are in another order, one is new, and one street did not occur before.

shell("roofs predict model.json new.csv -o predictions.csv && head -n 4 predictions.csv")

# %%
# :doc:`Tables </tables>` explains every option.
