"""Everything that is shown runs: the docstrings, and the Python in the README and the documentation."""
import doctest
import importlib
import pkgutil
import re

import pytest
from conftest import ROOT

import roofs


@pytest.mark.parametrize("name", ["roofs"] + [f"roofs.{m.name}" for m in pkgutil.iter_modules(roofs.__path__)])
def test_docstrings(name):
    if name == "roofs.display":
        pytest.importorskip("matplotlib").use("agg")
    module = importlib.import_module(name)
    failed, tried = doctest.testmod(module)
    assert failed == 0 and (tried > 0 or name != "roofs.regressor")


def python_in(path):
    return "".join(re.findall(r"^```python\n(.*?)^```", path.read_text(), flags=re.M | re.S))


def test_readme():
    names = {}
    exec(compile(python_in(ROOT / "README.md"), "README.md", "exec"), names)
    assert names["model"].n_inliers_ in range(395, 405) and len(names["model"].selected_indices_) == 5
