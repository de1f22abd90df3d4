"""`dbdyno bisect`: the first slow of scripted builds, resumed, and what it says before and after."""

import json
from pathlib import Path
from types import SimpleNamespace

import pytest

BUILDS = ("fake?build=0", "fake?build=1", "fake?slow=2", "fake?slow=3")
SMALL = ("--clients", "2", "--seconds", "1", "--warmup", "0", "--rows", "10", "--set", "ceiling=false")


@pytest.fixture
def bisect(dbdyno, fake_load, fake_system):
    """Search the builds, of which those with `slow` do a fifth less."""
    fake_load(second_s=0, only_if='"slow"', most_per_s=1600)
    Path("builds").write_text("\n".join(BUILDS))

    def search(*more, good=BUILDS[0], bad=BUILDS[-1]):
        return dbdyno("bisect", "game", "--good", good, "--bad", bad, "--builds", "builds", *SMALL, *more)

    return search


def test_the_first_slow_build_is_found_with_the_interval_of_its_effect_and_not_measured_twice(bisect):
    status, out, err = bisect()
    assert (status, err) == (0, "")
    assert "4 builds: at most 4 steps, each 4 to 200 pairs" in out
    assert "First slow build: fake?slow=2. Against fake?build=1: -20.0 % [" in out
    runs = len(list(Path("runs").iterdir()))
    status, out, _ = bisect("--json")
    document = json.loads(out)
    assert (status, document["first_bad"], document["last_good"], document["exact"]) == (0, BUILDS[2], BUILDS[1], True)
    assert document["effect"]["low"] <= 0.8 <= document["effect"]["high"] and document["effect"]["outcome"] == "slower"
    assert [step["outcome"] for step in document["steps"]] == ["slower", "good", "bad", "slower"]
    assert len(list(Path("runs").iterdir())) == runs == 4


def test_a_bad_build_that_is_not_slow_is_no_answer(bisect):
    status, _, err = bisect(bad=BUILDS[1])
    assert status == 2 and "it is not certain that fake?build=1 is slower than fake?build=0: " in err


def test_what_is_undecided_says_so_and_what_to_do(bisect, fake_load, tmp_path, monkeypatch):
    # A clock on which every trial takes a second.
    clock = SimpleNamespace(monotonic=lambda: len(list(Path("runs").glob("*/trials/*/records.jsonl"))))
    for module in ("cli.bisect_steps", "cli.until_decided", "conduct.pairs"):
        monkeypatch.setattr(f"dbdyno.{module}.time", clock)
    fake_load(second_s=0, noise=0.5, noisy_clients=2, noise_count=str(tmp_path / "count"))
    status, out, err = bisect("--budget", "10s")
    assert status == 2 and "is slower than fake?build=0: " in err and "raise --budget" in err
    assert out.count("one undecided comparison: 2 more trials") == 2
    assert "(undecided after 5 pairs: raise --budget)" in " ".join(out.split())


def test_a_build_that_does_not_start_leaves_a_range(bisect):
    Path("builds").write_text("fake?build=0\nfake?fail_start=1\nfake?slow=3\n")
    status, out, _ = bisect()
    assert status == 2 and "The first slow build is one of fake?fail_start=1, fake?slow=3" in " ".join(out.split())
    assert "The same command with a larger --budget measures these again" in " ".join(out.split())
    assert "fake did not start" in out


def test_where_all_pairs_did_not_decide_longer_trials_are_proposed(bisect):
    assert bisect()[0] == 0
    kept = Path("dbdyno-bisect", "bisect.json")
    document = json.loads(kept.read_text())
    step = document["steps"]["0..2"]
    step["outcome"], step["decision"]["pairs"], step["decision"]["outcome"] = "inconclusive", 200, None
    kept.write_text(json.dumps(document))
    status, out, _ = bisect("--budget", "20m")
    assert status == 2 and "200 pairs do not decide it: take longer trials (--seconds)" in " ".join(out.split())


def test_costs_are_told_without_measuring_and_one_load_is_asked_for(bisect, dbdyno):
    status, out, _ = bisect("--dry-run")
    assert status == 0 and "at most 4 steps" in out and not Path("runs").exists()
    status, _, err = bisect("--clients", "1,2")
    assert status == 2 and "has several loads, and a search needs one: give --clients 16" in err
