"""Pages as a browser sees them: parsed, and in headless chromium where there is one."""
import re
import shutil
import struct
import subprocess
import zlib
from html.parser import HTMLParser

import pytest

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser")
VOID = {"meta", "link", "br", "img", "input", "hr"}


class Page(HTMLParser):
    """Checks that elements nest, and collects figures, rows, texts and addresses."""
    def __init__(self, text):
        super().__init__()
        self.text, self.open, self.elements, self.loads, self.figures, self.words = text, [], [], [], {}, []
        self.feed(text)
        self.close()
        assert self.open == [], f"never closed: {self.open}"

    def handle_starttag(self, tag, attrs):
        self.elements.append((tag, dict(attrs)))
        self.loads += [v for k, v in attrs if k in ("src", "href", "xlink:href", "data", "action", "srcset")]
        self.loads += re.findall(r"url\(([^)]*)\)", dict(attrs).get("style") or "")
        if tag == "svg" and "figure" in self.open:
            self.figures[self.title] = 0
        if tag in ("path", "polygon", "use", "rect", "circle") and "svg" in self.open and "figure" in self.open:
            self.figures[self.title] += 1
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag, attrs):
        self.handle_starttag(tag, attrs)
        if tag not in VOID:
            self.handle_endtag(tag)

    def handle_endtag(self, tag):
        assert self.open and self.open[-1] == tag, f"</{tag}> at {self.getpos()} closes {self.open[-3:]}"
        self.open.pop()

    def handle_data(self, data):
        if "style" in self.open or "script" in self.open:
            return
        if self.open[-2:] == ["figcaption", "h3"]:
            self.title = data
        self.words.append(data)

    def count(self, tag, **attrs):
        return sum(t == tag and attrs.items() <= a.items() for t, a in self.elements)

    def facts(self):
        return dict(re.findall(r"<dt>([^<]*)</dt><dd>([^<]*)", self.text))


browser = pytest.mark.skipif(not CHROMIUM, reason="chromium is not installed: the page is not looked at in a browser")


def run_chromium(folder, page, *options):
    """What chromium prints and what it complains about in the console."""
    command = [CHROMIUM, "--headless=new", "--no-sandbox", "--disable-gpu", "--hide-scrollbars",
               f"--user-data-dir={folder / 'profile'}",
               "--enable-logging=stderr", "--v=0", *options, page.as_uri()]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    return done.stdout, [line for line in done.stderr.splitlines() if "CONSOLE" in line]


def read_png(path):
    """Width, height, the first pixel, and how many rows differ in how they are stored: a blank picture has a
    handful."""
    data, at, packed, size = path.read_bytes(), 8, b"", None
    while at < len(data):
        length, kind = struct.unpack(">I4s", data[at:at + 8])
        if kind == b"IHDR":
            size = struct.unpack(">IIBB", data[at + 8:at + 18])
        packed += data[at + 8:at + 8 + length] if kind == b"IDAT" else b""
        at += 12 + length
    raw, step = zlib.decompress(packed), 1 + size[0] * {2: 3, 6: 4}[size[3]]
    return size[0], size[1], raw[1:4], len({raw[k:k + step] for k in range(0, len(raw), step)})
