"""The documentation's figures are those of kept summaries, taken on a quiet host by the declared command."""

from __future__ import annotations

import importlib
import json
import shlex
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

ROOT = Path(__file__).parent.parent
TRIAL = {
    "label": "redis",
    "workload": "game",
    "embedded": False,
    "state": "complete",
    "clients": 4,
    "repeat": 1,
    "durability": "D0",
    "seconds": 2.0,
    "warmup_seconds": 1.0,
    "throughput_per_s": 1000.0,
    "failed": 0,
    "mismatches": 0,
    "reads_verified": 2000,
    "client_limited": False,
    "checks": {"made": 1, "failed": 0},
    "servers": [{"name": "redis", "version": "7.0"}],
    "transaction": {"service_time_us": {"p99": 1500.0}},
    "verdict": {"limit": "server-thread", "confidence": "high"},
}

Figures = Callable[[str], ModuleType]


@pytest.fixture
def figures(monkeypatch: pytest.MonkeyPatch) -> Figures:
    """Import a module of the figures' scripts by its name."""
    monkeypatch.syspath_prepend(str(ROOT))
    return lambda name: importlib.import_module(f"scripts.figures.{name}")


def table(figures: Figures, kind: str, *trials: dict[str, Any]) -> list[str]:
    """Return the lines of a block about trials that differ from TRIAL as given."""
    run = {"trials": [TRIAL | trial for trial in trials]}
    return figures("tables").BLOCKS[kind](None, run).splitlines()


def test_every_kept_summary_is_declared_and_comes_from_the_declared_command(figures: Figures) -> None:
    runs = figures("declared").declared(ROOT)
    assert {path.stem for path in (ROOT / "results").glob("*.json")} == set(runs)
    for run in runs.values():
        kept = json.loads((ROOT / run.result).read_text(encoding="utf-8"))
        assert shlex.split(kept["command"]) == list(run.command), run.name
        assert kept["state"] == "complete" and kept["environment"]["load_average"][0] < 0.5, run.name
        assert run.once or max(trial["repeat"] for trial in kept["trials"]) >= 5, run.name


def test_every_picture_is_of_the_kept_summary(figures: Figures) -> None:
    for run in figures("declared").declared(ROOT).values():
        if run.picture:
            mark = figures("declared").digest(ROOT / run.result)
            assert f"{run.name}.json {mark}" in (ROOT / run.picture).read_text(encoding="utf-8"), run.name


def test_a_cell_has_the_median_and_the_range_of_its_repetitions(figures: Figures) -> None:
    trials = [{"throughput_per_s": rate, "repeat": number} for number, rate in enumerate((900.0, 2000.0, 1000.0), 1)]
    assert table(figures, "throughput", *trials)[2:] == ["| `redis` | D0 | 1,000 (900–2,000) |"]


def test_a_table_of_medians_has_no_ranges(figures: Figures) -> None:
    trials = [{"throughput_per_s": rate, "client_limited": rate == 1000} for rate in (900.0, 2000.0, 1000.0)]
    assert table(figures, "medians", *trials)[2:] == ["| `redis` | D0 | ≥ 1,000 |"]


def test_rows_are_named_by_the_parts_in_which_they_differ(figures: Figures) -> None:
    indexed = [{"workload": f"insert-indexes?indexes={count}"} for count in (0, 1)]
    assert [line.split(" | ")[0] for line in table(figures, "throughput", *indexed)[2:]] == [
        "| `indexes=0`",
        "| `indexes=1`",
    ]
    stores = [trial | {"label": label} for trial in indexed for label in ("redis", "lmdb")]
    assert table(figures, "throughput", *stores)[3].startswith("| `lmdb, indexes=0` | D0 |")
    away = [{"label": label, "network_delay_us": delay} for label in ("redis", "lmdb") for delay in (0, 1000)]
    assert [line.split(" | ")[0] for line in table(figures, "throughput", *away)[2:]] == [
        "| `redis, 0 µs away`",
        "| `redis, 1,000 µs away`",
        "| `lmdb, 0 µs away`",
        "| `lmdb, 1,000 µs away`",
    ]


def test_a_lower_bound_and_a_cell_without_a_complete_trial_are_marked(figures: Figures) -> None:
    trials = ({"client_limited": True}, {"clients": 8, "state": "failed"})
    assert table(figures, "throughput", *trials)[2:] == ["| `redis` | D0 | ≥ 1,000 | – |"]
    above = [{"throughput_per_s": rate, "client_limited": rate == 2000} for rate in (900.0, 2000.0, 1000.0)]
    assert table(figures, "medians", *above)[2:] == ["| `redis` | D0 | 1,000 |"]


def test_the_limit_is_that_of_the_median_trial_at_the_best_load(figures: Figures) -> None:
    other = {"clients": 16, "verdict": {"limit": "disk", "confidence": "low"}}
    trials = ({}, other | {"throughput_per_s": 900.0}, other | {"throughput_per_s": 1100.0, "clients": 1})
    assert table(figures, "limits", *trials)[2:] == ["| `redis` | 1 | 1,100 | 1.5 | the disk | low |"]


def swept() -> dict[str, Any]:
    """Return a run of three versions and another product, whose cells name the first on either side."""
    labels = ("mysql@5.5", "mysql@5.6", "mysql@8.0", "mariadb")
    cells = [
        {"workload": "oltp", "clients": 16, "baseline": {"label": baseline}, "candidate": {"label": candidate}}
        | {"ratio": ratio, "low": low, "high": high}
        for baseline, candidate, ratio, low, high in (
            ("mysql@5.5", "mysql@5.6", 1.25, 1.2, 1.3),
            ("mysql@8.0", "mysql@5.5", 2.0, 1.6, 2.5),
            ("mysql@5.6", "mysql@8.0", 0.4, 0.3, 0.5),
            ("mysql@5.5", "mariadb", 1.1, None, None),
        )
    ]
    command = "dbdyno run oltp --system mysql@5.5..8.0 --system mariadb --clients 16"
    trials = [TRIAL | {"label": label} for label in labels]
    return {"command": command, "comparison": {"cells": cells}, "trials": trials}


def test_versions_are_relative_to_the_first_whichever_side_a_cell_names_it_on(figures: Figures) -> None:
    assert figures("tables").BLOCKS["versions"](None, swept()).splitlines() == [
        "| Load | `mysql@5.5` | `mysql@5.6` | `mysql@8.0` | `mariadb` |",
        "|---|---:|---:|---:|---:|",
        "| `oltp, 16 clients` | 1 | 1.25 [1.2 to 1.3] | 0.5 [0.4 to 0.625] | – |",
    ]


def test_a_picture_of_versions_has_a_line_for_each_load(figures: Figures, tmp_path: Path) -> None:
    (tmp_path / "kept.json").write_text("{}")
    drawn = figures("picture").draw(swept(), tmp_path / "kept.json", "versions")
    assert all(f"{label}</text>" in drawn for label in ("mysql@5.6", "mariadb", "oltp, 16 clients"))
    assert "throughput relative to mysql@5.5</text>" in drawn


def test_a_long_trial_keeps_its_minutes_and_draws_them(figures: Figures, tmp_path: Path) -> None:
    warm = [{"warmup": True, "seconds": 1.0, "transactions": 9999}]
    second = {"warmup": False, "seconds": 1.0}
    # Old rows are not observed in every second.
    seconds = [second | {"transactions": 10 * (at // 60 + 1)} | {"old_rows": 1000 * at} for at in range(300)]
    del seconds[1]["old_rows"]
    full = TRIAL | {"analysis": None, "operations": {}, "steady_state": None, "checks": []}
    kept = figures("summary")._trial(full | {"timeline": warm + seconds})
    assert [minute["throughput_per_s"] for minute in kept["minutes"]] == [10, 20, 30, 40, 50]
    assert kept["minutes"][1]["old_rows"] == pytest.approx(89_500)
    assert "minutes" not in figures("summary")._trial(full | {"timeline": warm + seconds[:299]})
    assert table(figures, "minutes", {"minutes": kept["minutes"]}, {"label": "lmdb"})[2:] == [
        "| `redis` | transactions/s | 10 | 20 | 30 | 40 | 50 |",
        "| `redis` | old rows, thousands | 30 | 90 | 150 | 210 | 270 |",
    ]
    (tmp_path / "kept.json").write_text("{}")
    drawn = figures("picture").draw({"trials": [TRIAL | kept]}, tmp_path / "kept.json", "minutes")
    assert all(f"{label}</text>" in drawn for label in ("redis", "minutes", "old row versions (dashed)"))


def test_few_repetitions_have_their_reason(figures: Figures) -> None:
    repeated = figures("tables")._repeated
    assert repeated(5, "") == "5 repetitions in random order."
    assert repeated(3, "each takes long") == "3 repetitions in random order, and no more: each takes long."
    assert repeated(1, "each takes long") == "one a cell: each takes long."


def test_the_answer_names_the_fastest_tools_and_the_memory_of_connections(figures: Figures) -> None:
    about = figures("declared").Figures("any", ())
    steps = {name: {"rows_per_s": rate} for name, rate in (("dump", 2000.0), ("restore", 500.0))}
    copied = {"trials": [TRIAL | {"copy": {"tool": "sql", "workers": 1} | steps}]}
    dumped = "Fastest dump: 2,000 rows/s, redis by sql with 1 worker."
    restored = "Fastest restore: 500 rows/s, redis by sql with 1 worker."
    assert figures("classics")._answer(about, copied) == [f"{dumped} {restored}"]
    cost = {"label": "redis", "fewest_clients": 1, "most_clients": 11, "bytes": 2048, "lowest": 2048, "highest": 2048}
    idle = {"trials": [TRIAL], "connection_memory": [cost | {"repetitions": 1}]}
    (said,) = figures("classics")._answer(about, idle)
    assert said == "redis takes 2.00 KiB of memory for each of 10 idle connections."


def test_operations_have_their_mean_and_the_dearest_its_share(figures: Figures) -> None:
    read = {"count": 300, "service_time_us": {"mean": 100.0}}
    store = {"count": 100, "response_time_us": {"mean": 900.0}}
    cached = {"counters": {"cache_hits": 1, "cache_misses": 3}, "operations": {"read": read, "store": store}}
    alone = {"label": "lmdb", "counters": {}, "operations": {"read": read}}
    assert table(figures, "operations", cached, alone)[2:] == [
        "| `redis` | 4 | 25% | 0.1 | 0.9 | store, 75% |",
        "| `lmdb` | 4 | – | 0.1 | – | read, 100% |",
    ]


def test_processor_time_is_that_of_the_median_trial(figures: Figures) -> None:
    costs = [
        {"cost": {"client_cpu_us": us, "server_cpu_us": None}, "throughput_per_s": us} for us in (9.0, 12.5, 110.0)
    ]
    assert table(figures, "cpu", *costs)[2:] == ["| `redis` | 4 | 12.5 | – |"]


def test_the_headline_has_the_ratio_of_each_other_system(figures: Figures) -> None:
    ratio = {"ratio": 0.512, "low": 0.5, "high": 0.525, "verdict": "slower"}
    answer = {"sentence": "redis was fastest.", "leader": "redis", "ratios": {"lmdb": ratio}}
    lines = figures("tables").BLOCKS["headline"](None, {"headline": answer}).splitlines()
    assert lines[0] == "redis was fastest." and lines[-1] == "| `lmdb` | 0.512 | 0.5 to 0.525 | slower |"
    alone = figures("tables").BLOCKS["headline"](None, {"headline": answer | {"ratios": {}}})
    assert alone == "redis was fastest."


def test_every_classic_page_begins_with_the_answers(figures: Figures) -> None:
    classics = [run for run in figures("declared").declared(ROOT).values() if run.classic]
    # A published answer is compared with today's.
    assert all((run.then == "–") == (not run.differs) for run in classics)
    asked = [run.name for run in classics]
    pages = {name: (ROOT / f"docs/experiments/{name}.md").read_text(encoding="utf-8") for name in asked}
    late = [name for name, text in pages.items() if text.index(f"{name} answer -->") > text.index("## ")]
    assert asked and not late


def test_groups_of_clients_have_their_own_figures(figures: Figures) -> None:
    writers = {"name": "writers", "clients": 1, "offered_per_s": 200.0, "response_time_us": {"p99": 2500.0}}
    readers = {"name": "readers", "clients": 4, "service_time_us": {"p99": 800.0}}
    trials = [
        {
            "client_groups": [
                {**writers, "throughput_per_s": 200.0 - repeat, "followed": repeat < 2},
                {**readers, "throughput_per_s": 1000.0 * repeat},
            ]
        }
        for repeat in (1, 2, 3)
    ]
    assert table(figures, "groups", *trials)[2:] == [
        "| `redis` | D0 | writers: 1 | 200/s | 198 (197–199), missed 2 times | 2.5 |",
        "| `redis` | D0 | readers: 4 | as many as it can | 2,000 (1,000–3,000) | 0.8 |",
    ]


def test_a_summary_has_no_series(figures: Figures) -> None:
    kept = figures("summary")._without_series({"measured": {"clock": {"p50": 1.0, "slots": [1.0, 2.0]}}})
    assert kept == {"measured": {"clock": {"p50": 1.0}}}


def test_a_summary_has_a_line_for_each_trial_and_six_digits(figures: Figures) -> None:
    kept = {"started_unix_s": 1795464001.25, "trials": [{"clients": 4, "times": [1.23456789, None]}, {"clients": 8}]}
    text = figures("summary").text(kept)
    assert text.splitlines()[1:] == [
        '"started_unix_s": 1795464001.25,',
        '"trials": [',
        '{"clients": 4, "times": [1.23457, null]},',
        '{"clients": 8}',
        "]",
        "}",
    ]
    assert json.loads(text)["trials"][0]["times"] == [1.23457, None]


def test_a_busy_host_takes_no_figures(figures: Figures, monkeypatch: pytest.MonkeyPatch) -> None:
    take = figures("take")
    monkeypatch.setattr(take, "PATIENCE_S", -1)
    monkeypatch.setattr(take.os, "getloadavg", lambda: (0.2, 0.0, 0.0))
    with pytest.raises(TimeoutError, match=r"the load average stayed at 0\.20: figures need a host below 0\.2"):
        take.wait_until_quiet()


def test_a_classic_question_is_answered_by_declared_pairs_at_the_leaders_best_load(figures: Figures) -> None:
    sides = {"candidate": {"label": "redis"}, "baseline": {"label": "mariadb"}, "workload": "game"}
    cells = [
        sides | {"clients": clients, "ratio": 0.5, "low": 0.4, "high": 0.8, "verdict": "slower"} for clients in (1, 4)
    ]
    trials = [TRIAL | {"clients": 1, "throughput_per_s": 500.0}, TRIAL]
    run = {"run": "r", "trials": trials, "headline": {"leader": "redis"}, "comparison": {"cells": cells[1:]}}
    pair = figures("classics")._pair
    assert pair(run, "mariadb", "redis") == ["`mariadb` did 2× [1.25 to 2.5] as much as `redis` with 4 clients."]
    cells[1]["verdict"] = "inconclusive"
    assert pair(run, "redis", "mariadb")[0].endswith(" with 4 clients (inconclusive).")
    of_two = [*run["trials"], TRIAL | {"label": "mariadb", "workload": "point-get"}]
    both = run | {"trials": of_two, "comparison": {"cells": [cells[1], cells[1] | {"workload": "point-get"}]}}
    assert [said.split(" did ")[0] for said in pair(both, "redis", "mariadb")] == [
        "`redis, game`",
        "`redis, point-get`",
    ]
    slow = [TRIAL | {"workload": "point-get", "throughput_per_s": rate} for rate in (10.0, 11.0)]
    assert pair(run | {"trials": [*trials, *slow]}, "redis", "mariadb")[0].endswith(" with 4 clients (inconclusive).")
    with pytest.raises(ValueError, match="r has no comparison of redis and redis with 4 clients"):
        pair(run, "redis", "redis")


def test_a_question_without_pairs_is_answered_by_restarts_or_by_variants(figures: Figures) -> None:
    asked = figures("declared").Figures("f", ("dbdyno", "run", "f"), classic="How long?")
    warm_up = {"first_per_s": 10.0, "warm_per_s": 100.0, "seconds": 3, "answered_s": 0.1}
    restarted = [TRIAL | {"label": "a", "seconds": 20.0, "warm_up": warm_up}]
    cells = [
        {"workload": "w", "clients": 4, "rows": 1, "pipeline": 1, "network_delay_us": 0, "ratio": 0.5, "low": 0.4}
        | {"high": 0.8, "verdict": "slower", "baseline": {"label": "a", "variant": "x=0", "throughput_per_s": 9.0}}
        | {"candidate": {"label": "a", "variant": "x=1"}}
    ]
    answers = figures("classics")._answer
    assert answers(asked, {"trials": restarted})[0].startswith("a: 10.0/s in the first second after the restart")
    variants = {"trials": [], "option_comparison": {"cells": cells}}
    assert answers(asked, variants) == ["a at 4 clients against x=0: x=1 0.500× [0.400 to 0.800]."]
    batches = [TRIAL | {"workload": f"batch-get?batch={keys}"} for keys in (1, 10)]
    assert answers(asked, {"trials": batches})[0].startswith("redis gave 10.0 × as many rows a second with 10 keys")


LIBRARY = {"label": "redis via redis-py", "workload": "game", "clients": 16, "native_throughput_per_s": 900.0}
LIBRARY |= {"throughput_ratio": 0.123, "lowest": 0.1, "highest": 0.15, "client_cpu_ratio": 9.04}


def test_a_client_library_is_compared_where_the_native_client_did_most(figures: Figures) -> None:
    asked = figures("declared").Figures("f", ("dbdyno", "run", "f"), classic="How much?")
    costs = [LIBRARY, LIBRARY | {"clients": 1, "native_throughput_per_s": 90.0, "client_cpu_ratio": None}]
    run = {"trials": [], "client_libraries": costs}
    assert figures("classics")._answer(asked, run) == [
        "`redis via redis-py` did 0.123× (0.1 to 0.15) as much as the native client, with 9.04× its processor time."
    ]
    assert figures("tables").BLOCKS["libraries"](None, run).splitlines()[2:] == [
        "| `redis via redis-py` | 16 | 0.123 | 0.1 to 0.15 | 9.04 |",
        "| `redis via redis-py` | 1 | 0.123 | 0.1 to 0.15 | – |",
    ]


def test_evenness_has_medians_and_the_lowest_floor_of_the_repetitions(figures: Figures) -> None:
    even = {"seconds_below_half": 0, "stalls": {"longest_ms": 5.0}, "worst_second_p99_us": 2500.0}
    trials = [{"stability": even | {"floor": floor}, "repeat": at} for at, floor in enumerate((0.9, 0.5, 0.8, None))]
    assert table(figures, "stability", *trials)[2:] == ["| `redis` | 1,000 | 80% | 50% | 0 | 5 | 2.5 |"]
    asked = figures("declared").Figures("f", ("dbdyno", "run", "f"), classic="How steady?", floors=True)
    run = {"trials": [TRIAL | trial for trial in trials]}
    assert figures("classics")._answer(asked, run) == ["`redis`: 1,000/s, floor 80% (50% to 90%)."]


def test_scans_have_a_row_for_each_table_and_copies_two_for_each_tool(figures: Figures) -> None:
    loaded = {"rows": 1_000_000, "seconds": 2.0, "rows_per_s": 500_000.0, "size_bytes": 36_000_000}
    query = {"name": "all", "columns": 10, "cold_s": 1.0, "hot_s": [0.5, 0.25]}
    scan = {"workload": "wide-rows?layout=tinyints", "loaded": loaded, "analysis": {"queries": [query]}}
    asked = figures("declared").Figures("f", ("dbdyno", "run", "f"), classic="How fast?")
    run = {"trials": [TRIAL | scan]}
    assert figures("classics")._answer(asked, run) == ["redis: 25.0 ns a column, if every column is read, hot."]
    assert table(figures, "scans", scan)[2:] == ["| `redis` | tinyints | 36 | 500,000 | 4 | 25.0 |"]
    took = {"seconds": 2.0, "rows_per_s": 21_000.0, "bytes_per_s": 3e6, "tool_cpu_s": 1.0, "server_cpu_s": 0.5}
    copied = {"copy": {"tool": "sql", "workers": 2, "dump": took, "restore": took, "identical": True}}
    assert table(figures, "copies", copied)[2:] == [
        "| `redis` | sql | 2 | dump | 2.00 | 21k | 3.00 | 1.00 | 0.5 |  |",
        "| `redis` | sql | 2 | restore | 2.00 | 21k | 3.00 | 1.00 | 0.5 | yes |",
    ]


def test_a_long_command_is_wrapped_between_its_options(figures: Figures) -> None:
    settings = (f"redis?maxclients={number}00000" for number in range(4))
    command = ("dbdyno", "run", "game", *(word for setting in settings for word in ("--system", setting)))
    lines = figures("tables").wrapped(command).splitlines()
    assert all(line.startswith("  --system") for line in lines[1:]) and len(lines) == 2
    assert " ".join(line.removesuffix("\\").strip() for line in lines) == " ".join(figures("tables").quoted(command))


def test_queries_are_timed_cold_and_hot_and_one_without_an_answer_says_so(figures: Figures) -> None:
    def asked(*queries: dict[str, Any], **more: Any) -> dict[str, Any]:
        return {"analysis": {"cold": "anew", "queries": list(queries)}, **more}

    q0 = {"name": "q0", "cold_s": 2.0, "hot_s": [0.5, 0.25, 1.0]}
    q1 = {"name": "q1", "cold_s": None, "hot_s": []}
    trials = [asked(q0, q1), asked({**q0, "cold_s": 4.0}, q1, repeat=2), asked(q0, {**q0, "name": "q1"}, label="lmdb")]
    assert table(figures, "queries", *trials) == [
        "| s | redis: cold | hot | lmdb: cold | hot |",
        "|---|---:|---:|---:|---:|",
        "| `q0` | 3 | 0.5 | 2 | 0.5 |",
        "| `q1` | no answer | no answer | 2 | 0.5 |",
    ]
    assert figures("tables")._trials([TRIAL | trials[0]]) == "1 load, and on each every query once cold and 3 times hot"


def test_the_limits_of_queries_are_by_store_and_the_most_frequent_is_its_limit(figures: Figures) -> None:
    disk, none = {"limit": "disk"}, {}
    queries = [{"name": f"q{number}", **limit} for number, limit in enumerate((none, disk, disk))]
    trial = {"analysis": {"queries": queries}}
    assert table(figures, "query-limits", trial)[2:] == [
        "| `redis` | the disk | q1, q2 |",
        "| `redis` | no verdict | q0 |",
    ]
    assert table(figures, "query-limits", {"analysis": {"queries": queries[1:]}})[2:] == [
        "| `redis` | the disk | all |"
    ]
    by_store = figures("kinds").frequent_limits({"trials": [TRIAL | trial, TRIAL | {"label": "lmdb"}]})
    assert by_store == {"redis": "the disk"}
    killed = {"trials": [TRIAL | {"crash": {"kind": "kill"}}], "headline": {"limits": {"redis": "the disk"}}}
    assert figures("classics")._limited(killed) == {}


def test_memory_for_a_connection_is_in_kib(figures: Figures) -> None:
    cost = {"label": "redis", "fewest_clients": 1, "most_clients": 1001, "bytes": 20480, "lowest": 19000}
    run = {"connection_memory": [cost | {"highest": 20992}]}
    assert figures("tables").BLOCKS["connection-memory"](None, run).splitlines()[2:] == [
        "| `redis` | 1 and 1,001 | 20 | 18.6 to 20.5 |",
    ]


def test_loads_have_their_rate_and_their_size(figures: Figures) -> None:
    loaded = [{"loaded": {"rows": 1000, "seconds": seconds, "size_bytes": 250_000}} for seconds in (1.0, 2.0, 9.0)]
    assert table(figures, "loads", *loaded)[2:] == ["| `redis` | 1,000 | 2 | 500 | 0.2 | 250 |"]


def test_crashes_of_a_kind_are_added_up(figures: Figures) -> None:
    crash = {"kind": "kill", "writes": "transaction", "acknowledged": 1000, "missing": 3, "half_applied": 0}
    crash |= {"verdict": "kept", "ready_s": 0.5}
    pairs = crash | {"writes": "operation", "half_applied": 2, "verdict": "broken", "ready_s": None}
    trials = [{"crash": crash}, {"crash": crash | {"kind": "power-cut"}}, {"crash": crash | {"ready_s": 1.5}}]
    assert table(figures, "crashes", *trials, {"label": "lmdb", "crash": pairs})[2:] == [
        "| `redis` | D0 | kill | 2 | 2,000 | 6 | 0 | 0 | 1 |",
        "| `redis` | D0 | power-cut | 1 | 1,000 | 3 | 0 | 0 | 0.5 |",
        "| `lmdb` | D0 | kill | 1 | 1,000 | 3 | (2) | 1 | – |",
    ]
    repaired = crash | {"repaired": {"command": "redis-check-aof --fix", "reason": "Bad file format"}}
    head, _, *rows = table(figures, "crashes", {"crash": repaired}, {"label": "lmdb", "crash": crash})
    assert head.endswith("| Repaired first |") and [row.split(" | ")[-1] for row in rows] == ["1 |", "0 |"]
    assert figures("tables")._trials([TRIAL | trials[0]]) == "1 crash, each under a load of writes"
    assert figures("tables")._checked([TRIAL | trials[0]]).startswith("After each, every acknowledged row was compared")


def test_copies_of_a_killed_store_are_compared_with_it(figures: Figures) -> None:
    log = {"name": "binary log", "store_only": 10, "other_only": 2, "alone_missing": None, "verdict": "broken"}
    replica = log | {"name": "replica 2", "alone_missing": 3, "verdict": "kept", "promised": True}
    crash = {"kind": "kill", "agreement": [log | {"promised": False}, replica]}
    trials = [{"crash": crash}, {"crash": crash}, {"label": "lmdb", "crash": {"kind": "kill", "agreement": []}}]
    assert table(figures, "agreement", *trials)[2:] == [
        "| `redis` | kill | binary log | no | 2 | 20 | 4 | – | 2 |",
        "| `redis` | kill | replica 2 | yes | 2 | 20 | 4 | 6 | 0 |",
    ]


def test_a_summary_of_crashes_compares_no_speeds(figures: Figures) -> None:
    keys = dict.fromkeys(figures("summary").RUN) | {"comparison": {"cells": []}, "environment": {}}
    full = TRIAL | {"analysis": None, "operations": {}, "steady_state": None, "checks": []}
    killed = figures("summary").summary(keys | {"trials": [full | {"crash": {"kind": "kill"}}]})
    assert killed["comparison"] is None and figures("summary").summary(keys | {"trials": [full]})["comparison"]


def test_hits_of_a_cache_are_those_of_all_repetitions(figures: Figures) -> None:
    counts = [{"cache_hits": 1, "cache_misses": 3}, {"cache_hits": 2, "cache_misses": 2}, {"cache_misses": 8}]
    trials = [{"counters": counted, "repeat": at} for at, counted in enumerate(counts, 1)]
    assert table(figures, "hits", *trials, {"label": "lmdb", "counters": {}})[2:] == [
        "| `redis` | 4 | 16 | 25.0% | 0.0% to 50.0% | – |"
    ]
    stale = [{"counters": {"cache_hits": 400, "stale_reads": 3}}, {"counters": {"cache_hits": 600}, "repeat": 2}]
    assert table(figures, "hits", *stale)[2:] == ["| `redis` | 4 | 1,000 | 100.0% | 100.0% to 100.0% | 3 (0.30%) |"]


def test_the_lag_of_a_replica_is_that_of_the_median_repetition(figures: Figures) -> None:
    lag = {"replica": "replica 1", "p50_s": 0.002, "p95_s": 0.01, "max_s": 0.02, "caught_up_s": 0.1}
    none = lag | {"p50_s": None, "p95_s": None, "max_s": None, "caught_up_s": None}
    trials = [{"replicas": [lag]}, {"replicas": [lag | {"p50_s": 0.004, "caught_up_s": 0.3}]}, {}]
    assert table(figures, "lags", *trials, {"clients": 8, "replicas": [none]})[2:] == [
        "| `redis` | 4 | replica 1 | 3 | 10 | 20 | 300 |",
        "| `redis` | 8 | replica 1 | – | – | – | – |",
    ]


def test_a_summary_keeps_the_times_of_queries_and_not_their_answers(figures: Figures) -> None:
    query = {"name": "q0", "what": "flights", "sql": "SELECT 1", "cold_s": 1.0, "hot_s": [0.5], "answer": [[1]]}
    trial = {key: None for key in ("verdict", "transaction", "operations", "steady_state")}
    trial |= {"checks": [], "servers": [], "analysis": {"cold": "anew", "queries": [query]}}
    kept = figures("summary")._trial(trial)
    assert kept["analysis"]["queries"] == [{"name": "q0", "what": "flights", "cold_s": 1.0, "hot_s": [0.5]}]
    limited = figures("summary")._trial(trial | {"query_verdicts": {"q0": {"limit": "disk", "sentence": "…"}}})
    assert limited["analysis"]["queries"] == [kept["analysis"]["queries"][0] | {"limit": "disk"}]
