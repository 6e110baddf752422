"""The checks of `make docs` find what they are for."""
import sys
from pathlib import Path

import pytest

pytest.importorskip("bs4", reason="Beautiful Soup is not installed: `make docs` has it")
sys.path.insert(0, str(Path(__file__).resolve().parent.parent.parent / "docs" / "site"))
import check

PAGE = '<html lang="en"><head><title>t</title></head><body><article><h1 id="top">T</h1>{}</article></body></html>'


def faults(tmp_path, body, page=PAGE):
    (tmp_path / "other.html").write_text(PAGE.format('<h2 id="there">x</h2>'))
    (tmp_path / "page.html").write_text(page.format(body))
    return [fault for fault in check.page_faults(tmp_path) if fault.startswith("page.html")]


@pytest.mark.parametrize("body", ['<a href="other.html#there">x</a>', '<a href="#top">x</a>', '<h2>a</h2><h3>b</h3>',
                                  '<a href="https://example.org/x">x</a>'])
def test_good_pages_pass(tmp_path, body):
    assert faults(tmp_path, body) == []


@pytest.mark.parametrize("body, word", [
    ('<a href="none.html">x</a>', "no such file"), ('<a href="other.html#here">x</a>', "no such place"),
    ('<a href="http://example.org">x</a>', "https"), ('<img src="other.html">', "no text"),
    ("<h3>x</h3>", "level 3"), ("<h1>x</h1>", "2 headings"), ('<a href="other.html"></a>', "has no text")])
def test_faults_are_found(tmp_path, body, word):
    found = faults(tmp_path, body)
    assert len(found) == 1 and word in found[0]


def test_page_without_language_is_found(tmp_path):
    assert any("language" in fault for fault in faults(tmp_path, "", PAGE.replace(' lang="en"', "")))


def test_contrast_is_that_of_the_guidelines():
    assert check.contrast("#000000", "#ffffff") == pytest.approx(21) and check.contrast("#777", "#777777") == 1
    assert 4.4 < check.contrast("#767676", "#fff") < 4.6 and list(check.colour_faults()) == []
