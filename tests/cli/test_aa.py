"""`dbdyno aa`: a system against itself, and what is kept of it."""

import json
from pathlib import Path

import pytest

from dbdyno.cli.aa import sides_of
from dbdyno.errors import UserError
from dbdyno.results.noise import read_noise

SMALL = ("--clients", "2", "--seconds", "1", "--warmup", "0", "--rows", "10", "--set", "ceiling=false")


@pytest.fixture(autouse=True)
def home(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path))


def test_ten_pairs_say_the_noise_floor_which_is_kept(dbdyno, fake_load, fake_system):
    fake_load(second_s=0)
    status, out, err = dbdyno("aa", "fake", *SMALL)
    assert (status, err) == (0, "")
    assert "game, 2 clients: noise floor ±0.0072 % from 10 pairs; the interval includes no difference" in " ".join(
        out.split()
    )
    (floor,) = read_noise()
    (folder,) = Path("runs").iterdir()
    assert (floor.system, floor.pairs, floor.clients, floor.run) == ("fake", 10, 2, folder.name)
    assert len(json.loads((folder / "run.json").read_text())["trials"]) == 20
    status, out, _ = dbdyno("compare", "last", "--json", "--margin", "0%")
    assert json.loads(out)["cells"][0]["margin"] == floor.noise
    assert (
        json.loads(dbdyno("compare", "last", "--json", "--margin", "0%", "--noise", "1%")[1])["cells"][0]["margin"]
        == 0.01
    )


def test_a_sweep_that_would_end_early_is_measured_whole(dbdyno, fake_load, fake_system):
    fake_load(second_s=0)
    Path("flat.toml").write_text(
        'workload = "game"\nsystem = "fake"\nclients = [1, 2]\nuntil_flat = "3%"\nseconds = 1\nrows = 10\n'
        "warmup_seconds = 0\nceiling = false\n"
    )
    status, _, err = dbdyno("aa", "fake", "flat.toml")
    assert (status, err) == (0, "") and sorted(floor.clients for floor in read_noise()) == [1, 2]


def test_a_run_that_failed_says_nothing_of_noise(dbdyno, fake_load, fake_system):
    fake_load(second_s=0, wrong_check=True)
    status, _, err = dbdyno("aa", "fake", *SMALL, "--quiet")
    assert status == 1 and "no noise floor, the run is failed" in err and read_noise() == []


def test_a_noise_floor_that_cannot_be_kept_is_shown_and_says_where_it_would_have_been(
    dbdyno, fake_load, fake_system, tmp_path, monkeypatch
):
    fake_load(second_s=0)
    (tmp_path / "file").touch()
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "file"))
    status, out, err = dbdyno("aa", "fake", *SMALL)
    assert status == 1 and "noise floor ±" in out
    assert "noise.jsonl: the noise floor cannot be kept: Not a directory; set XDG_DATA_HOME" in err


def test_refusals(dbdyno):
    assert "at least 10 pairs" in dbdyno("aa", "sqlite", "--repeat", "9")[2]
    assert "is an open loop" in dbdyno("aa", "sqlite", "--set", "rate=100")[2]
    assert "is not a system" in dbdyno("aa", "(")[2]
    with pytest.raises(UserError, match="is not a URL"):
        sides_of("mysql://[")


def test_the_sides_differ_by_their_labels_alone():
    assert sides_of("mariadb?engine=Aria") == [
        {"system": "mariadb?engine=Aria", "label": "mariadb A"},
        {"system": "mariadb?engine=Aria", "label": "mariadb B"},
    ]
