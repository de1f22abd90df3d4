"""Lines against a factor of the experiment."""

from dbdyno.report.core.factors import factor_axis, factor_line
from dbdyno.report.core.looks import Look


def test_an_axis_has_a_tick_at_each_value():
    axis = factor_axis([1, 4], "workers")
    assert (axis["type"], axis["tickvals"], axis["ticktext"]) == ("log", [1, 4], ["1", "4"])
    assert axis["title"] == {"text": "workers"}


def test_a_line_is_named_safely_and_belongs_to_no_series():
    line = factor_line(Look(2, 4), "a<b", [(1, 10.4), (4, 20.6)])
    assert (line["x"], line["y"], line["name"], line["meta"]) == ([1, 4], [10, 21], "a&lt;b", {})
    assert line["line"]["color"] == Look(2, 4).colour and line["hovertemplate"].startswith("a&lt;b: ")
