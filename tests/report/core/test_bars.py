"""Many bars lie."""

from dbdyno.report.core.bars import LINE_LETTERS, STANDING, laid_out


def figure(*names):
    bars = [{"type": "bar", "x": [name], "y": [height], "hovertemplate": "%{y}"} for height, name in enumerate(names)]
    points = [{"type": "scatter", "x": [names[0]], "y": [7]}]
    axes = {"xaxis": {"type": "category"}, "yaxis": {"rangemode": "tozero", "ticksuffix": " %"}}
    return {"data": bars + points, "layout": axes | {"hovermode": "x unified", "barmode": "stack"}}


def test_a_few_short_names_stand():
    assert laid_out(figure("a", "b")) == figure("a", "b")


def test_one_long_name_among_short_ones_makes_all_lie():
    lying = laid_out(figure("sqlite", "lmdb", "mariadb", "cache-aside(memcached, mariadb)", "redis"))
    assert lying["data"][0]["orientation"] == "h"


def test_many_bars_lie_in_their_order_and_have_room():
    names = [f"s{n}" for n in range(STANDING + 1)]
    lying = laid_out(figure(*names))
    assert lying["data"][1]["orientation"] == "h"
    assert (lying["data"][1]["x"], lying["data"][1]["y"], lying["data"][1]["hovertemplate"]) == ([1], ["s1"], "%{x}")
    assert "orientation" not in lying["data"][-1] and lying["data"][-1]["x"] == [7]
    layout = lying["layout"]
    assert layout["yaxis"]["categoryarray"] == names and layout["yaxis"]["autorange"] == "reversed"
    assert (layout["xaxis"]["ticksuffix"], layout["hovermode"], layout["barmode"]) == (" %", "y unified", "stack")
    assert laid_out(figure(*names, "one more"))["layout"]["height"] > layout["height"]


def test_long_names_lie_on_several_lines():
    long = "store " + "with=a-setting " * 4
    lying = laid_out(figure(long, "b"))
    lines = lying["data"][0]["y"][0].split("<br>")
    assert len(lines) > 1 and all(len(line) <= LINE_LETTERS for line in lines)
    assert " ".join(lines) == long.strip()
