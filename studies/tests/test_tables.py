"""Tables of studies as text, CSV, LaTeX and HTML."""

import csv
import io

from voros_studies.tables import Absent, Column, Table

COSTS = Table(
    (
        Column("strategy"),
        Column("cost", "a_cost", "first: lenient", least_if="b_kept"),
        Column("alarms", "a_alarms", "first: lenient", decimals=1),
        Column("kept", "b_kept", "second"),
    ),
    (
        ("50 % of_a", 0.12345, 10.0, "yes"),
        ("=1+2", 0.1231, 10.25, "no (capacity)"),
        ("b", 0.1234, 10.25, "yes"),
        ("c", 0.5, 3.0, Absent("no file x_y")),
    ),
    "A title",
)


def test_text_explains_groups_marks_the_least_and_gives_reasons():
    assert COSTS.text().splitlines() == [
        "A title",
        "  A: first: lenient",
        "  B: second",
        "strategy   A cost  A alarms         B kept",
        "50 % of_a  0.123*        10            yes",
        "=1+2       0.123       10.2  no (capacity)",
        "b          0.123*      10.2            yes",
        "c          0.500          3         absent",
        "* least cost with kept: yes",
        "absent: no file x_y",
    ]


def test_nothing_is_marked_where_no_row_qualifies():
    none = Table(COSTS.columns, COSTS.rows[1:2], COSTS.title)
    assert "*" not in none.text()
    assert "least" not in none.latex()


def test_csv_is_exact_and_no_formula():
    rows = list(csv.reader(io.StringIO(COSTS.csv())))
    assert rows[0] == ["strategy", "a_cost", "a_alarms", "b_kept"]
    assert [float(row[1]) for row in rows[1:]] == [0.12345, 0.1231, 0.1234, 0.5]
    assert [row[0] for row in rows[1:]] == ["50 % of_a", "'=1+2", "b", "c"]
    assert rows[4][3] == "absent: no file x_y"


def test_latex_escapes_groups_columns_and_sets_the_least_in_bold():
    lines = COSTS.latex().splitlines()
    assert r" & \multicolumn{2}{c}{first} & \multicolumn{1}{c}{second} \\" in lines
    assert r"50 \% of\_a & \textbf{0.123} & 10 & yes \\" in lines
    assert r"c & 0.500 & 3 & absent \\" in lines
    assert r"\caption{A title; first: lenient.}" in lines
    assert r"\par\smallskip absent: no file x\_y." in lines
    assert r"=1+2 & 0.123 & 10.2 & no (capacity) \\" in lines
    assert r"\par\smallskip bold: least cost with kept: yes." in lines


def test_html_groups_columns_and_heads_rows():
    html = COSTS.html(row_headings=True)
    head = '<th colspan="1"></th><th colspan="2">first</th><th colspan="1">second</th>'
    assert f"<caption>A title</caption><thead><tr>{head}</tr>" in html
    assert html.count('<th scope="row">') == 4


def test_a_table_may_have_no_rows():
    empty = Table((Column("a"), Column("b", least_if="a")), ())
    assert empty.text() == "a  b"
    assert empty.csv() == "a,b\n"
    assert empty.html().endswith("<tbody></tbody></table>")
