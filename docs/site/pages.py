"""Writes all pages that are made from the sources into docs/generated, which git ignores."""
import header
import program
import python_api
import settings


def changelog(root):
    """The changelog; its links lead from the root of the repository."""
    text = (root / "CHANGELOG.md").read_text()
    return text.replace("](docs/", "](../").replace("`docs/", "`docs/")


def write(folder, name, text):
    """Leaves a page that has not changed alone: Sphinx then keeps what it made from it."""
    path = folder / f"{name}.md"
    path.parent.mkdir(parents=True, exist_ok=True)
    if not path.exists() or path.read_text() != text:
        path.write_text(text)


def write_all(root, binary, folder):
    made = {"settings": settings.page(), "program": program.page(str(binary)), "changelog": changelog(root),
            "header": header.page(root / "include/roofs/roofs.h", root / "include/roofs/roofs_mpi.h"),
            **python_api.pages()}
    for name, text in made.items():
        write(folder, name, text)
