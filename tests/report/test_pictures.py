"""Plots as files: drawn by a browser where there is one, else said what is missing."""

import sys

import pytest

from dbdyno.errors import UserError
from dbdyno.report.document import document
from dbdyno.report.pictures import HEIGHT, _dressed, _figures, write_pictures
from dbdyno.results.read import read_run
from synthetic_run import SYSTEMS, write_run


@pytest.fixture(scope="module")
def small(tmp_path_factory):
    return read_run(write_run(tmp_path_factory.mktemp("runs") / "small", SYSTEMS[4:], clients=(1, 2), seconds=2))


def test_every_plot_is_a_picture_in_both_formats(small, tmp_path):
    try:
        files = write_pictures(small, tmp_path / "plots")
    except UserError as error:
        pytest.skip(str(error))
    assert {file.name for file in files} >= {"throughput.svg", "throughput.png", "timeline.svg", "heat.png"}
    assert "<svg" in (tmp_path / "plots" / "throughput.svg").read_text()[:200]
    assert (tmp_path / "plots" / "heat.png").read_bytes().startswith(b"\x89PNG")
    assert sorted(tmp_path.joinpath("plots").iterdir()) == sorted(files)


def test_without_the_library_it_says_what_to_install(small, tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "kaleido", None)
    with pytest.raises(UserError, match=r"pip install 'dbdyno\[plots\]'"):
        write_pictures(small, tmp_path / "plots")
    assert not (tmp_path / "plots").exists()


def test_without_a_browser_it_says_what_to_install(small, tmp_path, monkeypatch):
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setenv("BROWSER_PATH", str(tmp_path / "no-browser"))
    with pytest.raises(UserError, match="apt install chromium"):
        write_pictures(small, tmp_path / "plots")


def test_each_has_a_name_and_a_title_that_says_the_load(small):
    titles = {name: title for name, title, _ in _figures(small)}
    assert titles["timeline"] == "Transactions in each second, at 2 clients"
    assert titles.keys() >= {"throughput", "latency-p50", "cost", "heat"}
    assert len(document(small)["trials"]) == 2


def test_shares_are_those_of_the_load_of_the_title(small):
    steps, title = next((figure, title) for name, title, figure in _figures(small) if name == "steps")
    assert title.endswith(", at 2 clients")
    assert sum(bar["y"][0] for bar in steps["data"]) == pytest.approx(100, abs=0.1)


def test_a_legend_of_many_names_takes_no_room_from_the_plot():
    def height(names):
        data = [{"type": "scatter", "name": name} for name in names]
        return _dressed("", {"data": data, "layout": {}})["layout"]["height"]

    assert height(["a", "b"]) == HEIGHT
    assert height([f"a name of some length {n}" for n in range(40)]) > HEIGHT + 100
