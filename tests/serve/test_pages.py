"""Each page says what it is of, escapes what it was given, and lists no folder."""

import re
from base64 import b64decode
from dataclasses import replace
from gzip import decompress

import pytest

from dbdyno.serve.server import serving
from dbdyno.stats.comparison import SINGLE
from serve.conftest import LMDB, Site, change
from synthetic_run import BEGAN_UNIX_S, write_run


def test_the_gallery_has_every_run_the_newest_first(site):
    page = site.read("/")
    assert page.index("third-experiment") < page.index("second-experiment") < page.index("first-experiment")
    assert "<b>half</b>: run.json: is not JSON" in page and 'href="/report/first"' in page


@pytest.mark.parametrize("path", ["/", "/matrix", "/compare?baseline=third&candidate=third", "/live"])
def test_what_a_system_is_called_is_escaped(site, path):
    page = site.read(path)
    assert "<script>document" not in page and "<img" not in page
    assert not re.search(r"<script(?! src=\"/static/\w+\.js\")|\son\w+=|\sstyle=|https?://", page)


def test_the_matrix_has_a_row_for_each_host(site):
    page = site.read("/matrix")
    assert page.count("<tr>") == 3 and "other-host" in page and "bench-1" in page
    assert 'class="share-10"' in page and "not measured" in page


def test_two_runs_are_compared(site):
    page = site.read("/compare?baseline=first&candidate=second")
    assert "lmdb" in page and "4 cells" in page and "Baseline: first-experiment" in page
    assert "no system in common" in site.read("/compare?baseline=first&candidate=third&force=on")
    for query in ("", "?baseline=first&candidate=..", "?baseline=half&candidate=first"):
        assert "Ratio" in site.read(f"/compare{query}") and "Baseline:" not in site.read(f"/compare{query}")


def test_the_form_begins_with_the_newest_run_and_the_last_one_of_its_experiment(tmp_path):
    for day, (name, experiment) in enumerate([("old", "a"), ("other", "b"), ("new", "a")]):
        run = write_run(tmp_path / name, (LMDB,), clients=(1,), seconds=3)
        change(run / "run.json", started_unix_s=BEGAN_UNIX_S + day, experiment=experiment)
    with serving(tmp_path, "127.0.0.1", 0) as address:
        assert re.findall(r'value="(\w+)"\s+selected', Site(address).read("/compare")) == ["old", "new"]
        chosen = Site(address).read("/compare?baseline=other&candidate=old")
        assert re.findall(r'value="(\w+)"\s+selected', chosen) == ["other", "old"]


def test_two_runs_of_one_trial_a_side_are_compared_without_a_verdict(tmp_path):
    for name in ("before", "after"):
        write_run(tmp_path / name, (LMDB,), clients=(1,), seconds=3)
    with serving(tmp_path, "127.0.0.1", 0) as address:
        assert SINGLE in Site(address).read("/compare?baseline=before&candidate=after")


def test_a_report_is_drawn_anew_in_a_sandbox(site, folder):
    (folder / "first" / "report.html").write_text("written by somebody else")
    answer = site.ask("/report/first", Cookie=site.cookie)
    (folder / "first" / "report.html").unlink()
    assert answer.status == 200 and "somebody else" not in answer.text and "Each system at its best load" in answer.text
    assert answer.headers["Content-Security-Policy"].startswith("sandbox allow-scripts")


def test_a_report_shows_no_password(tmp_path):
    known = replace(LMDB, system="mysql://u:geheim@host/d", label="mine", settings=(("requirepass", "geheim"),))
    write_run(tmp_path / "planted", (known, replace(known, label="redis://:geheim@h")), clients=(1, 4), seconds=3)
    with serving(tmp_path, "127.0.0.1", 0) as address:
        page = Site(address).read("/report/planted")
    # What the script draws is packed in base64, which gzip's first bytes begin.
    drawn = [decompress(b64decode(part)).decode() for part in re.findall(r"H4sI[\w+/=]{40,}", page)]
    assert "mine" in page and any("mine" in part for part in drawn)
    assert not any("geheim" in part for part in (page, *drawn))


@pytest.mark.parametrize(
    ("path", "status"),
    [
        ("/report/", 404),
        ("/report/none", 404),
        ("/report/..%2Fruns%2Ffirst", 404),
        ("/report/half", 422),
        ("/static/", 404),
        ("/static/..%2Fpages.py", 404),
        ("/static/live.html.j2", 404),
        ("/runs/first/run.json", 404),
        ("/secret.txt", 404),
        ("/../secret.txt", 404),
    ],
)
def test_no_file_and_no_folder_can_be_reached(site, path, status):
    answer = site.ask(path, Cookie=site.cookie)
    assert answer.status == status and "not a run" not in answer.text and len(answer.text) < 300


def test_files_of_the_pages_have_their_types(site):
    for name, kind in (("page.css", "text/css"), ("live.js", "text/javascript"), ("plotly.js", "text/javascript")):
        answer = site.ask(f"/static/{name}", "HEAD", Cookie=site.cookie)
        assert answer.status == 200 and answer.headers["Content-Type"].startswith(kind)
