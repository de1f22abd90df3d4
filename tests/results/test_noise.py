"""Noise floors are kept, found again by how like they are, and the last measurement counts."""

from dataclasses import replace

import pytest

from dbdyno.errors import UserError
from dbdyno.results.noise import NoiseFloor, keep_noise, known_noise, noise_file, noise_file_of, noise_for, read_noise

FLOOR = NoiseFloor("bench-1", "mariadb", "game", 20_000, 4, 1, 10, 10, 0.99, 1.02, 0.02, "a", 1.0)


@pytest.fixture(autouse=True)
def home(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path))


def test_what_is_kept_is_read_again_in_its_order():
    assert read_noise() == []
    later = replace(FLOOR, noise=0.03, at_unix_s=2.0)
    assert keep_noise([FLOOR]) == keep_noise([later]) == noise_file()
    assert read_noise() == [FLOOR, later]


def test_without_the_variable_it_is_where_users_have_their_data(monkeypatch, tmp_path):
    monkeypatch.delenv("XDG_DATA_HOME")
    monkeypatch.setenv("HOME", str(tmp_path))
    assert noise_file() == tmp_path / ".local" / "share" / "dbdyno" / "noise.jsonl"


def test_a_line_that_is_none_is_named():
    keep_noise([FLOOR])
    with noise_file().open("a") as file:
        file.write('{"host": "x"}\n')
    with pytest.raises(UserError, match=r"noise\.jsonl, line 2: no noise floor"):
        read_noise()


def test_of_the_same_host_and_workload_the_most_alike_counts():
    other_load, other_system = replace(FLOOR, clients=8, noise=0.05), replace(FLOOR, system="redis", noise=0.01)
    floors = [FLOOR, other_load, other_system]
    likes = [lambda floor: floor.clients == 4, lambda floor: floor.system == "mariadb"]
    assert noise_for(floors, "bench-1", "game", likes) == FLOOR
    assert noise_for(floors, "bench-1", "game", [lambda floor: floor.clients == 64]) == other_load
    assert noise_for(floors, "bench-2", "game", likes) is None is noise_for(floors, "bench-1", "point-get", likes)


def test_of_another_delay_is_another_floor():
    far = replace(FLOOR, network_delay_us=200, noise=0.01)
    assert noise_for([FLOOR, far], "bench-1", "game", []) == FLOOR


def test_what_a_run_took_along_is_known_beside_what_the_user_keeps(tmp_path):
    later = replace(FLOOR, noise=0.03, at_unix_s=2.0)
    keep_noise([later])
    keep_noise([FLOOR, later], noise_file_of(tmp_path))
    assert known_noise(tmp_path) == [FLOOR, later] and known_noise() == [later]


def test_of_one_measured_again_the_last_counts():
    again = replace(FLOOR, noise=0.01, at_unix_s=2.0)
    assert noise_for([FLOOR, again], "bench-1", "game", []) == again
