"""The sentence that says how throughput follows a key with several values."""

from dbdyno.report.factor_answer import by_variant


def trial(label, per_s, workload="game", limited=False, **variant):
    return {
        "label": label,
        "workload": workload,
        "throughput_per_s": per_s,
        "client_limited": limited,
        "variant": variant,
    }


def test_each_value_has_the_throughput_of_its_best_load():
    trials = [
        trial("a, rows 1k", 10.0, rows="1k"),
        trial("a, rows 1k", 900.0, rows="1k", limited=True),
        trial("a, rows 1M", 40.0, rows="1M"),
    ]
    assert by_variant(trials) == ["a by rows: ≥900/s (1k), 40.0/s (1M)."]


def test_keys_that_change_together_are_one_and_crossed_ones_are_none():
    zipped = [
        trial("a, rows 1, threads 1", 5.0, rows="1", threads="1"),
        trial("a, rows 2, threads 2", 6.0, rows="2", threads="2"),
    ]
    assert by_variant(zipped) == ["a by rows: 5.00/s (1), 6.00/s (2)."]
    crossed = [
        trial(f"a, rows {rows}, threads {threads}", 5.0, rows=rows, threads=threads)
        for rows in "12"
        for threads in "12"
    ]
    assert by_variant(crossed) == []


def test_without_variants_there_is_no_sentence():
    plain = [{key: value for key, value in trial(name, 5.0).items() if key != "variant"} for name in "ab"]
    assert by_variant(plain) == []


def test_workloads_are_named_and_of_many_systems_the_table_says_it():
    two = [trial(f"a, rows {rows}", 5.0, work, rows=rows) for rows in "12" for work in ("game", "tpcc")]
    assert by_variant(two) == [
        "a on game by rows: 5.00/s (1), 5.00/s (2).",
        "a on tpcc by rows: 5.00/s (1), 5.00/s (2).",
    ]
    assert by_variant([trial(f"{name}, rows {rows}", 5.0, rows=rows) for rows in "12" for name in "abcd"]) == []
