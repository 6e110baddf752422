"""Mathematics without a network: the files of MathJax that pages load, out of the package sphinx-mathjax-offline."""
import importlib.util
import shutil
from pathlib import Path


def copy_mathjax(app, exception):
    if exception is not None or app.builder.format != "html":
        return
    source = Path(importlib.util.find_spec("sphinx-mathjax-offline").origin).parent / "static" / "mathjax"
    target = Path(app.outdir) / "_static" / "mathjax"
    for name in ("tex-chtml.js", "output/chtml/fonts/woff-v2"):
        to = target / name
        to.parent.mkdir(parents=True, exist_ok=True)
        if (source / name).is_dir():
            shutil.copytree(source / name, to, dirs_exist_ok=True)
        else:
            shutil.copy(source / name, to)
