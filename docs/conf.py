"""The documentation: `make docs`. Pages are Markdown (MyST). The references are made from the program, the headers and
the docstrings; the gallery runs its examples. Nothing needs a network."""
import os
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent
sys.path.insert(0, str(HERE / "site"))
os.environ["ROOFS"] = os.path.abspath(os.environ.get("ROOFS", ROOT / "build" / "roofs"))

import pages  # noqa: E402
import picture  # noqa: E402
import python_api  # noqa: E402
import roofs  # noqa: E402
from mathjax import copy_mathjax  # noqa: E402

os.environ["ROOFS_EXAMPLES"] = str(ROOT / "examples")
os.environ["PATH"] = os.path.dirname(os.environ["ROOFS"]) + os.pathsep + os.environ["PATH"]
GENERATED = HERE / "generated"
pages.write_all(ROOT, os.environ["ROOFS"], GENERATED)
picture.draw_all(GENERATED)

project = "roofs"
author = copyright = "the roofs authors"
version = release = roofs.__version__
language = "en"
smartquotes = False                    # options begin with two dashes
extensions = ["myst_parser", "sphinx.ext.autodoc", "sphinx.ext.napoleon", "sphinx.ext.intersphinx",
              "sphinx.ext.mathjax", "sphinx_design", "sphinx_copybutton", "sphinx_gallery.gen_gallery"]
exclude_patterns = ["_build", "gallery", "site", "requirements.txt", "generated/gallery/*.py.md5"]
suppress_warnings = ["config.cache"]

myst_enable_extensions = ["dollarmath", "deflist", "colon_fence", "attrs_inline"]
myst_heading_anchors = 4
myst_url_schemes = {"http": None, "https": None, "mailto": None}

html_theme = "furo"
html_title = f"roofs {version}"
html_static_path = ["static"]
html_css_files = ["roofs.css"]
html_copy_source = False
html_show_sphinx = False
html_theme_options = {
    "light_css_variables": {"color-brand-primary": "#0b5c8a", "color-brand-content": "#0b5c8a",
                            "color-brand-visited": "#5b3f8c"},
    "dark_css_variables": {"color-brand-primary": "#6cb8e6", "color-brand-content": "#6cb8e6",
                           "color-brand-visited": "#b79ce8"},
}
pygments_style = "a11y-high-contrast-light"
pygments_dark_style = "a11y-high-contrast-dark"
copybutton_prompt_text = r">>> |\.\.\. |\$ "
copybutton_prompt_is_regexp = True

napoleon_google_docstring = False
napoleon_use_ivar = False
autodoc_typehints = "none"
autodoc_member_order = "bysource"
intersphinx_mapping = python_api.write_inventories(GENERATED)
mathjax_path = "mathjax/tex-chtml.js"

sphinx_gallery_conf = {
    "examples_dirs": "gallery",
    "gallery_dirs": "generated/gallery",
    "filename_pattern": r"/\d\d_(?!shown)",
    "within_subsection_order": "FileNameSortKey",
    "download_all_examples": False,
    "show_memory": False,
    "write_computation_times": False,
    "min_reported_time": 1e9,
    "remove_config_comments": True,
    "copyfile_regex": r"",
    "abort_on_example_error": True,
    "show_signature": False,
    "show_api_usage": False,
    "plot_gallery": os.environ.get("ROOFS_GALLERY", "1") != "0",
    "image_scrapers": ("matplotlib",),
    "capture_repr": (),
    "default_thumb_file": str(GENERATED / "terminal.png"),
    "reset_argv": lambda gallery, script: [],
}


def list_every_page(app, name, source):
    """Pages that the index does not name itself come last in it: nobody has to add a new one."""
    if name == "index":
        others = sorted(page.stem for page in HERE.glob("*.md") if page.stem != name and page.stem not in source[0])
        source[0] = source[0].replace("@others@", "\n".join(others))


def setup(app):
    app.connect("source-read", list_every_page)
    app.connect("autodoc-process-docstring", python_api.one_entry_per_name, priority=400)
    app.connect("autodoc-process-docstring", python_api.without_foreign_marks, priority=401)
    app.connect("build-finished", copy_mathjax)


