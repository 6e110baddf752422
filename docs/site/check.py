"""Checks the pages that Sphinx made. Needs no network.

    check.py PAGES SOURCES

links          every link and picture leads to a file, every #place exists; links to other sites are https
accessibility  one first heading, no level is skipped, pictures have a text, pages a language and a title
contrast       colours of code and of links against their background, light and dark: 4.5 at least
spelling       codespell over the sources
"""
import re
import subprocess
import sys
from pathlib import Path
from urllib.parse import unquote, urlsplit

from bs4 import BeautifulSoup

LEAST_CONTRAST = 4.5                  # WCAG 2, level AA
BACKGROUND = {"light": "#ffffff", "dark": "#131416"}           # of the theme
CODE = {"light": "#f3f5f8", "dark": "#22262b"}                 # --roofs-code of static/roofs.css
FOREIGN = ("genindex", "search", "py-modindex", "sg_execution_times")


# ---- one page ------------------------------------------------------------------------------

def places(soup):
    names = {tag["name"] for tag in soup.find_all("a", attrs={"name": True})}
    return names | {tag["id"] for tag in soup.find_all(id=True)}


def heading_faults(soup):
    levels = [int(tag.name[1]) for tag in soup.select("article h1, article h2, article h3, article h4, article h5")]
    if levels.count(1) != 1:
        yield f"{levels.count(1)} headings of the first level"
    for before, after in zip(levels, levels[1:]):
        if after > before + 1:
            yield f"a heading of level {after} follows one of level {before}"


def text_faults(soup):
    if not (soup.html.get("lang") and soup.title and soup.title.text.strip()):
        yield "the page has no language or no title"
    for picture in soup.find_all("img"):
        decorates = "alt" in picture.attrs and picture.find_parent(class_="sphx-glr-thumbcontainer")
        if not picture.get("alt", "").strip() and not decorates:
            yield f"the picture {picture.get('src')} has no text (alt)"
    for link in soup.select("article a[href]"):
        if not (link.get_text(strip=True) or link.get("aria-label") or link.find("img")):
            yield f"the link to {link['href']} has no text"


def addresses(soup):
    for name, attribute in (("a", "href"), ("link", "href"), ("img", "src"), ("script", "src")):
        for tag in soup.find_all(name, attrs={attribute: True}):
            if tag.get("rel") != ["canonical"]:
                yield tag[attribute]


def link_faults(path, soup, known):
    """`known`: {file: its places}."""
    for address in addresses(soup):
        parts = urlsplit(address)
        if parts.scheme in ("mailto", "data"):
            continue
        if parts.scheme or parts.netloc:
            if parts.scheme != "https":
                yield f"{address} is not https"
            continue
        target = (path.parent / unquote(parts.path)).resolve() if parts.path else path
        target = target / "index.html" if target.is_dir() else target
        if not target.exists():
            yield f"{address}: there is no such file"
        elif parts.fragment and target in known and unquote(parts.fragment) not in known[target] | {"", "top"}:
            yield f"{address}: there is no such place"


# ---- colours -------------------------------------------------------------------------------

def luminance(colour):
    colour = colour.lstrip("#")
    colour = "".join(2 * c for c in colour) if len(colour) == 3 else colour
    parts = [int(colour[k:k + 2], 16) / 255 for k in (0, 2, 4)]
    linear = [p / 12.92 if p <= 0.03928 else ((p + 0.055) / 1.055) ** 2.4 for p in parts]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def contrast(one, other):
    low, high = sorted((luminance(one), luminance(other)))
    return (high + 0.05) / (low + 0.05)


def colour_faults():
    from pygments.styles import get_style_by_name
    conf = (Path(__file__).parent.parent / "conf.py").read_text()
    for scheme, style, names in (("light", r'^pygments_style = "(.*?)"', "light_css_variables"),
                                 ("dark", r'^pygments_dark_style = "(.*?)"', "dark_css_variables")):
        chosen = get_style_by_name(re.search(style, conf, flags=re.M).group(1))
        for token, attributes in chosen:
            found = contrast(attributes["color"], CODE[scheme]) if attributes["color"] else LEAST_CONTRAST
            if found < LEAST_CONTRAST:
                yield f"code, {scheme}: {token} has contrast {found:.1f}"
        block = re.search(names + r'": \{(.*?)\}', conf, flags=re.S).group(1)
        for name, colour in re.findall(r'"([\w-]+)": "(#[0-9a-f]+)"', block):
            if contrast(colour, BACKGROUND[scheme]) < LEAST_CONTRAST:
                yield f"{scheme}: {name} has contrast {contrast(colour, BACKGROUND[scheme]):.1f}"


# ---- all -----------------------------------------------------------------------------------

def page_faults(folder):
    pages = {path.resolve(): BeautifulSoup(path.read_text(), "html.parser") for path in sorted(folder.rglob("*.html"))
             if "_static" not in path.parts}
    known = {path: places(soup) for path, soup in pages.items()}
    for path, soup in pages.items():
        faults = list(link_faults(path, soup, known))
        if path.stem not in FOREIGN:
            faults += [*heading_faults(soup), *text_faults(soup)]
        yield from (f"{path.relative_to(folder.resolve())}: {fault}" for fault in faults)


def spelling_faults(sources):
    files = [*sources.glob("*.md"), *(sources / "gallery").glob("*"), sources.parent / "README.md",
             sources.parent / "CHANGELOG.md", sources.parent / "CONTRIBUTING.md"]
    done = subprocess.run([sys.executable, "-m", "codespell_lib", "--ignore-words", str(sources / "site" / "words.txt"),
                           *map(str, files)], capture_output=True, text=True)
    return done.stdout.splitlines()


def main():
    folder, sources = Path(sys.argv[1]), Path(sys.argv[2])
    faults = [*page_faults(folder), *colour_faults(), *spelling_faults(sources)]
    print(*faults, sep="\n", end="\n" if faults else "", file=sys.stderr)
    sys.exit(1 if faults else 0)


if __name__ == "__main__":
    main()
