from __future__ import annotations

from html.parser import HTMLParser

from voros.tables import html_table, text_table

ROWS = [("model", "score"), ("a & b", "0.5"), ("<long> name", "12.25")]


def test_columns_line_up():
    lines = text_table(ROWS).splitlines()
    assert [line.index(cell) + len(cell) for line, (_, cell) in zip(lines, ROWS, strict=True)] == [
        len(lines[-1])
    ] * 3
    assert [line.startswith(name) for line, (name, _) in zip(lines, ROWS, strict=True)] == [
        True
    ] * 3


def test_trailing_blanks_are_left_out():
    assert text_table([("a", "b"), ("c", "")]) == "a  b\nc"


class Cells(HTMLParser):
    def __init__(self):
        super().__init__()
        self.tags, self.texts = [], []

    def handle_starttag(self, tag, attrs):  # noqa: ARG002
        self.tags.append(tag)

    def handle_data(self, data):
        self.texts.append(data)


def test_html_shows_the_text_and_no_markup_of_its_own():
    parser = Cells()
    parser.feed(html_table(ROWS))
    assert "".join(parser.texts) == "".join(cell for row in ROWS for cell in row)
    assert parser.tags.count("td") == 4
    assert parser.tags.count("th") == 2
