"""`dbdyno ci`: the four outcomes by scripted servers, the files, and the exit status."""

import json
from pathlib import Path
from types import SimpleNamespace

import pytest

from dbdyno.cli.ci import share_ends_s, status_of
from dbdyno.experiment.read import read_experiment
from dbdyno.observe.doctor import Finding

SMALL = ("--clients", "2", "--seconds", "1", "--warmup", "0", "--rows", "10", "--set", "ceiling=false")


@pytest.fixture(autouse=True)
def host(monkeypatch):
    """A host that is fit, unless a test says otherwise."""
    findings = []
    monkeypatch.setattr("dbdyno.cli.ci.examine", lambda directory, profile: findings)
    return findings


def _ci(dbdyno, *more, head="fake?slow=yes"):
    return dbdyno("ci", "game", "--base", "fake", "--head", head, *SMALL, *more)


def _document():
    return json.loads(Path("dbdyno-ci/ci.json").read_text())


def test_the_same_is_same_after_three_pairs_with_four_files(dbdyno, fake_load, fake_system):
    fake_load(second_s=0)
    status, out, err = _ci(dbdyno)
    assert (status, err) == (0, "") and "1 comparison: 1 same (margin ±5.00 %)" in out
    assert sorted(path.name for path in Path("dbdyno-ci").iterdir()) == ["ci.json", "ci.md", "junit.xml", "otava.csv"]
    (comparison,) = _document()["comparisons"]
    assert (comparison["outcome"], comparison["pairs"], comparison["experiment"]) == ("same", 3, "game")


@pytest.mark.parametrize(("most", "outcome", "expected"), [(1600, "slower", 1), (3000, "faster", 0)])
def test_a_head_that_does_less_or_more_is_found(dbdyno, fake_load, fake_system, most, outcome, expected):
    limits = {1600: {"most_per_s": 1600}, 3000: {"extra": 0.5}}[most]
    fake_load(second_s=0, only_if='"slow"', **limits)
    status, out, _ = _ci(dbdyno, "--quiet")
    (comparison,) = _document()["comparisons"]
    assert (status, out) == (expected, "") and comparison["outcome"] == outcome
    assert comparison["low"] <= most / 2000 <= comparison["high"]


def test_noise_above_the_margin_is_unstable_until_the_budget_is_up_and_passes_only_if_allowed(
    dbdyno, fake_load, fake_system, tmp_path
):
    behaviour = {"second_s": 0, "noise": 0.5, "noisy_clients": 2, "noise_count": str(tmp_path / "count")}
    fake_load(**behaviour)
    status, out, _ = _ci(dbdyno, "--budget", "1s")
    assert status == 2 and "1 unstable" in out
    (comparison,) = _document()["comparisons"]
    assert comparison["outcome"] == "unstable" and comparison["reason"] and comparison["pairs"] >= 3
    assert _ci(dbdyno, "--budget", "1s", "--allow-unstable")[0] == 0


@pytest.mark.systems
def test_in_twenty_repetitions_of_equal_noisy_servers_none_wins(dbdyno, fake_load, fake_system, tmp_path):
    fake_load(second_s=0, noise=0.04, noisy_clients=2, noise_count=str(tmp_path / "count"))
    outcomes = []
    for _ in range(20):
        status, _, err = _ci(dbdyno, "--quiet", "--budget", "2s")
        outcomes += [comparison["outcome"] for comparison in _document()["comparisons"]]
        assert (status == 0) == (outcomes[-1] == "same"), err
    assert len(outcomes) == 20 and set(outcomes) <= {"same", "unstable"}


def test_a_head_that_does_not_start_or_gives_errors_is_no_answer_and_not_slower(dbdyno, fake_load, fake_system):
    fake_load(second_s=0)
    status, _, err = _ci(dbdyno, head="fake?fail_start=yes")
    assert status == 2 and "no answer: " in err and "fake did not start" in err
    fake_load(second_s=0, only_if='"slow"', errors=1)
    status, _, _ = _ci(dbdyno, "--quiet")
    (comparison,) = _document()["comparisons"]
    assert (status, comparison["outcome"]) == (2, "not judged") and comparison["reason"]


def test_an_unfit_host_is_named_or_refused(dbdyno, fake_load, fake_system, host):
    fake_load(second_s=0)
    host.append(Finding(False, "load average of the last minute: 9", "wait", "load average"))
    status, out, _ = _ci(dbdyno)
    assert status == 0 and "This host: load average of the last minute: 9; wait" in out
    assert _document()["host"] == ["load average of the last minute: 9"]
    assert "load average" in Path("dbdyno-ci/ci.md").read_text()
    status, _, err = _ci(dbdyno, "--unfit-host", "refuse")
    assert status == 2 and "this host is unfit" in err and "--unfit-host warn" in err


def test_a_side_that_is_not_installed_is_named_before_anything_is_measured(dbdyno, fake_load, fake_system, monkeypatch):
    monkeypatch.setattr("dbdyno.systems.missing_version", lambda spec: "mysql@5.5 is not installed: get it")
    status, _, err = _ci(dbdyno, head="mysql@5.5")
    assert status == 2 and "head: mysql@5.5 is not installed: get it" in err and not Path("runs").exists()


def test_refusals(dbdyno):
    assert "is an open loop" in dbdyno("ci", "game", "--base", "sqlite", "--head", "sqlite", "--set", "rate=100")[2]
    assert dbdyno("ci", "game", "--base", "sqlite")[0] == 2
    assert "neither a file nor" in dbdyno("ci", "no-such-experiment", "--base", "sqlite", "--head", "lmdb")[2]


def test_the_worst_outcome_decides_the_status():
    class One:
        def __init__(self, outcome):
            self.outcome = outcome

    def status(*outcomes, allow=False):
        return status_of([One(outcome) for outcome in outcomes], allow)

    assert (status("same", "faster"), status("same", "unstable"), status("same", "not judged")) == (0, 2, 2)
    assert status("same", "slower", "unstable") == 1
    assert (status("unstable", allow=True), status("not judged", allow=True)) == (0, 2)


def test_a_sweep_that_would_end_early_is_measured_whole(dbdyno, fake_load, fake_system):
    fake_load(second_s=0)
    Path("flat.toml").write_text(
        'workload = "game"\nsystem = "fake"\nclients = [1, 2]\nuntil_flat = "3%"\nseconds = 1\nrows = 10\n'
        "warmup_seconds = 0\nceiling = false\n"
    )
    status, _, err = dbdyno("ci", "flat.toml", "--base", "fake", "--head", "fake?other=yes")
    assert (status, err) == (0, "")
    assert sorted(comparison["clients"] for comparison in _document()["comparisons"]) == [1, 2]


def test_an_experiment_of_more_comparisons_has_more_of_the_budget(dbdyno, fake_system, monkeypatch):
    monkeypatch.setattr("dbdyno.cli.ci.time", SimpleNamespace(monotonic=lambda: 100.0))
    for name, clients, seconds in (("one", [1], 3), ("three", [1, 2, 4], 2)):
        Path(f"{name}.toml").write_text(
            f'workload = "game"\nsystem = "fake"\nclients = {clients}\nseconds = {seconds}\nrows = 10\n'
            "warmup_seconds = 0\n"
        )
    short, long = (read_experiment(f"{name}.toml", {}) for name in ("one", "three"))
    assert (share_ends_s(190.0, [short, long]), share_ends_s(190.0, [long])) == (130.0, 190.0)


def test_an_experiment_that_varies_a_key_is_refused(dbdyno, fake_load, fake_system):
    status, _, err = _ci(dbdyno, "--set", "seconds=[1, 2]", "--seconds", "1")
    assert (status, err) == (0, "")
    status, _, err = _ci(dbdyno, "--set", "load_threads=[1, 2]")
    assert status == 2 and "game: varies load_threads; base and head need one value, e.g. --set load_threads=…" in err


def test_the_time_that_clear_experiments_leave_goes_to_the_suspects(
    dbdyno, fake_load, fake_system, tmp_path, monkeypatch
):
    """The first is noisy, and its share of the time ends after 10 pairs; the second is clear after 4."""
    # A clock on which every trial takes a second.
    clock = SimpleNamespace(monotonic=lambda: len(list(Path("runs").glob("*/trials/*/records.jsonl"))))
    for module in ("cli.ci", "cli.until_decided", "conduct.pairs"):
        monkeypatch.setattr(f"dbdyno.{module}.time", clock)
    fake_load(second_s=0, noise=0.5, noisy_clients=2, noise_count=str(tmp_path / "count"))
    for name, clients in (("noisy", 2), ("clear", 1)):
        Path(f"{name}.toml").write_text(
            f'workload = "game"\nsystem = "fake"\nclients = {clients}\nseconds = 1\nrows = 10\n'
            "warmup_seconds = 0\nceiling = false\n"
        )
    status, out, err = dbdyno(
        "ci", "noisy.toml", "clear.toml", "--base", "fake", "--head", "fake?slow=yes", "--budget", "40s"
    )
    assert (status, err) == (2, "") and "noisy: undecided; it gets the time that is left" in out
    outcomes = {each["experiment"]: (each["outcome"], each["pairs"]) for each in _document()["comparisons"]}
    assert outcomes == {"noisy": ("unstable", 16), "clear": ("same", 4)}
    assert len(list(Path("runs").iterdir())) == 2
