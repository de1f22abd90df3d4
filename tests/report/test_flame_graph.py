"""Flame graphs have every function where it was called, as wide as its time, and only what the folder has."""

import json
from xml.etree import ElementTree

import pytest

from dbdyno.report.flame_graph import differential, draw_profiles, flame_graph, read_folded

SVG = "{http://www.w3.org/2000/svg}"
STACKS = {"server;main;work": 3e6, "server;main;work;write_[k]": 1e6, "server;main;rest": 4e6}


def frames(svg):
    """Return the frames of an image: name to (left, width, distance from the top, what is said), in %, px."""
    boxes = {}
    for element in ElementTree.fromstring(svg).iter(f"{SVG}svg"):
        if element.get("class") == "frame":
            left, width = (float(element.get(name).rstrip("%")) for name in ("x", "width"))
            name, said = element.find(f"{SVG}text").text, element.find(f"{SVG}title").text
            boxes[name] = (left, width, int(element.get("y")), said, element.find(f"{SVG}rect").get("fill"))
    return boxes


def test_a_function_is_as_wide_as_its_time_and_stands_on_its_caller():
    boxes = frames(flame_graph(STACKS, "one"))
    assert {name: frame[:2] for name, frame in boxes.items()} == {
        "all": (0, 100),
        "server": (0, 100),
        "main": (0, 100),
        "rest": (0, 50),
        "work": (50, 50),
        "write": (50, 12.5),
    }
    assert boxes["all"][2] > boxes["server"][2] > boxes["main"][2] > boxes["work"][2] > boxes["write"][2]
    assert boxes["work"][3] == "work: 4.000 s, 50.0%"


def test_what_is_too_narrow_to_be_seen_is_left_out():
    assert "speck" not in frames(flame_graph(STACKS | {"server;speck": 100}, "one"))


def test_names_are_text_whatever_they_hold():
    svg = flame_graph({"a;</svg><script>alert(1)</script>&": 1}, "<b>")
    assert "<script>alert" not in svg
    assert "</svg><script>alert(1)</script>&" in frames(svg)


def test_no_time_is_said():
    assert "No time was observed here." in flame_graph({}, "one")


def test_a_differential_one_says_who_spends_more_and_keeps_what_is_gone():
    boxes = frames(differential({"s;same": 2, "s;gone": 2}, {"s;same": 2, "s;new": 4}, "two"))
    assert boxes["same"][3] == "same: 2 → 2 µs per transaction"
    assert {name: round(boxes[name][1]) for name in ("same", "gone", "new")} == {"same": 40, "gone": 20, "new": 40}
    red, blue, white = (boxes[name][4] for name in ("new", "gone", "same"))
    assert red == "hsl(10 85% 60%)" and blue == "hsl(215 85% 60%)" and white.endswith("95%)")


@pytest.fixture
def run_folder(tmp_path):
    """A run of two systems and two loads, of which one was profiled on both."""

    def profiled(trial, label, clients, stacks, rate_per_s):
        folder = tmp_path / "trials" / trial / "profile"
        folder.mkdir(parents=True)
        about = {"label": label, "workload": "game", "clients": clients, "rate": None, "pipeline": 1, "repeat": 1}
        (folder.parent / "trial.json").write_text(json.dumps(about))
        (folder / "profile.json").write_text(json.dumps({"seconds": 5, "transactions_per_s": rate_per_s}))
        (folder / "server-on-cpu.folded").write_text("".join(f"{stack} {us}\n" for stack, us in stacks.items()))

    profiled("001-a-c1", "a", 1, {"s;x y": 5_000_000}, 1000.0)
    profiled("002-a-c8", "a", 8, {"s;x y": 1}, 1000.0)
    profiled("003-b-c1", "b", 1, {"s;x y": 5_000_000}, 2000.0)
    return tmp_path


def test_each_trial_is_drawn_and_each_system_against_the_first_under_the_same_load(run_folder):
    drawn = [str(path.relative_to(run_folder / "trials")) for path in draw_profiles(run_folder)]
    assert drawn == [
        "001-a-c1/profile/server-on-cpu.svg",
        "002-a-c8/profile/server-on-cpu.svg",
        "003-b-c1/profile/server-on-cpu.svg",
        "003-b-c1/profile/server-on-cpu-against-001-a-c1.svg",
    ]
    against = (run_folder / "trials" / drawn[-1]).read_text()
    assert frames(against)["x y"][3] == "x y: 1e+03 → 500 µs per transaction"


def test_stacks_are_read_with_blanks_in_their_names(run_folder):
    assert read_folded(run_folder / "trials/001-a-c1/profile/server-on-cpu.folded") == {"s;x y": 5e6}
