"""The documentation: `make docs`. Pages are Markdown (MyST); the references are made from the program, the header and
the docstrings."""
import os
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))

import generate  # noqa: E402
import roofs  # noqa: E402

generate.write_all(HERE.parent, os.environ.get("ROOFS", HERE.parent / "build" / "roofs"), HERE / "generated")

project = "roofs"
author = "the roofs authors"
version = release = roofs.__version__
extensions = ["myst_parser", "sphinx.ext.autodoc", "sphinx.ext.napoleon", "sphinx.ext.mathjax"]
myst_enable_extensions = ["dollarmath", "deflist"]
myst_heading_anchors = 3
exclude_patterns = ["_build"]
html_theme = "alabaster"
html_theme_options = {"description": "Robust regression on features that arrive as a stream", "page_width": "1060px",
                      "sidebar_width": "240px"}
html_copy_source = False
napoleon_google_docstring = False
napoleon_use_ivar = True
autodoc_typehints = "none"
autodoc_member_order = "bysource"


def list_every_page(app, name, source):
    """Pages that the index does not name itself come last in it: nobody has to add a new one."""
    if name == "index":
        others = sorted(page.stem for page in HERE.glob("*.md") if page.stem != name and page.stem not in source[0])
        source[0] = source[0].replace("@others@", "\n".join(others))


def setup(app):
    app.connect("source-read", list_every_page)
