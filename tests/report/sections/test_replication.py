"""The table of what was read elsewhere."""

from dbdyno.report.sections.replication import HEADINGS, replicated, rows


def operation(kind, count, p50_us=None):
    return {"operation": kind, "count": count, "service_time_us": {"p50": p50_us, "p99": p50_us, "max": p50_us}}


def trial(first, second, further):
    return {
        "label": "cluster",
        "clients": 4,
        "pipeline": 1,
        "operations": {
            "write": operation("update", first, 900),
            "first_read": operation("get-elsewhere", first, 50),
            "second_read": operation("get-elsewhere", second, 50),
            "further_read": operation("get-elsewhere", further, 50),
            "until_seen": operation("transaction", first, 1500 if first else None),
        },
    }


def test_every_repeated_read_was_a_stale_one_before():
    assert rows([trial(1000, 250, 4000)]) == [["cluster", "4", "1,000", "25.0%", "4,250", "1.50", "1.50", "1.50"]]
    assert len(HEADINGS) == 8


def test_only_trials_that_read_elsewhere_are_shown():
    seen, none, other = trial(5, 0, 0), trial(0, 0, 0), {"operations": {"get": operation("get", 7)}}
    assert replicated({"trials": [seen, none, other]}) == [seen]
    assert rows([seen])[0][3:5] == ["0.0%", "0"]
