"""Documents from templates: whatever a model or a file is called, it stays text."""

import pytest

from voros.present.document import Picture, render_document
from voros.text.table import Table

jinja2 = pytest.importorskip("jinja2", reason="documents need the cli extra")

ODD = '<script>alert(1)</script> & "quotes" {{ 7 * 7 }}'


def summary(**changed):
    content = {"title": ODD, "answers": [ODD], "ran": [(ODD, ODD)]}
    content |= dict.fromkeys(("steps", "tables", "pictures", "reviewer", "long_tables"), ())
    return render_document("voros_studies.experiments", "summary.html", **content | changed)


def test_everything_is_escaped():
    table = Table.from_rows([(ODD,), (ODD,)], ODD)
    page = summary(tables=[table], pictures=[Picture(b"png", ODD)])
    assert "<script>" not in page
    assert page.count("&lt;script&gt;") == 12
    # The hash of the style comes before the title, and may hold any digits.
    assert "49" not in page.split("<title>")[1]
    assert 'alt="&lt;script&gt;' in page
    assert '"quotes"' not in page.split("</style>")[1]


def test_both_documents_share_one_style():
    assert summary().count("<style>") == 1
    assert ".verdict {" in summary()


def test_a_template_that_lacks_something_says_so():
    with pytest.raises(jinja2.UndefinedError, match="title"):
        render_document("voros_studies.experiments", "summary.html", answers=[])
