"""The evidence of all kinds together: order, words and JSON."""

import json
from io import StringIO

import pytest
from rich.console import Console

from dbdyno.report.comparison import Verdicts
from dbdyno.report.why.evidence import Evidence
from dbdyno.report.why.why import Why, evidence_of, is_cause, print_why, reasons, sentence, why_document


def _put(label, folder, trial):
    done = 6000 if label == "slow" else 12_000
    trial["servers"][0]["effective_settings"] = {"flush": "1" if label == "slow" else "2"}
    trial["server_counters"] = {
        "store": {"before": {"pages": 0}, "after": {"pages": done * (9 if label == "slow" else 1)}}
    }


@pytest.fixture
def verdicts(pairs):
    return Verdicts((pairs(_put).compared,), (), ())


def _printed(reasons_found, most=6):
    console = Console(file=StringIO(), width=120)
    print_why(reasons_found, console, most)
    return console.file.getvalue()


def test_causes_come_first_and_then_what_explains_most(verdicts):
    (reason,) = reasons(verdicts)
    kinds = list(dict.fromkeys("operation" if piece.kind == "time" else piece.kind for piece in reason.evidence))
    assert kinds[0] == "setting" and "counter" in kinds
    assert kinds == ["setting", "operation", "counter"]
    printed = _printed([reason])
    assert "slow is slower than fast  game, 4 clients: -" in printed
    assert "setting   flush: 2 → 1" in printed and "of the difference" in printed


def test_a_plan_is_the_first_cause_and_its_share_an_upper_bound(pairs):
    def put(label, folder, trial):
        _put(label, folder, trial)
        steps = ["player: ALL"] if label == "slow" else ["player: const by PRIMARY"]
        plan = {"record": "query_plan", "when": "after", "operation": "read_player", "sql": "SELECT", "steps": steps}
        with (folder / "records.jsonl").open("a") as file:
            file.write(json.dumps(plan) + "\n")

    plan, setting, *effects = evidence_of(pairs(put).compared)
    assert (plan.kind, setting.kind) == ("plan", "setting")
    assert is_cause(plan) and is_cause(setting) and not any(map(is_cause, effects))
    assert sentence(plan).startswith("plan      read_player: player: const by PRIMARY → player: ALL, up to ")


def test_json_has_all_of_it(verdicts):
    (cell,) = json.loads(json.dumps(why_document(reasons(verdicts))))
    assert (cell["baseline"], cell["candidate"], cell["verdict"], cell["clients"]) == ("fast", "slow", "slower", 4)
    first = {"kind": "setting", "name": "flush", "before": "2", "after": "1", "share": None, "note": ""}
    assert cell["evidence"][0] == first


def test_what_is_undecided_has_no_reason(pairs):
    same = pairs().compared
    assert reasons(Verdicts((), (), ())) == []
    assert (
        evidence_of(type(same)(*[getattr(same, name) for name in same.__slots__[:3]], ((), ()), None, "", None, ()))
        == ()
    )


def test_more_than_fits_is_counted_and_nothing_at_all_says_what_to_do(verdicts):
    (reason,) = reasons(verdicts)
    many = Why(reason.compared, "slower", "", tuple(Evidence("setting", str(number), "a", "b") for number in range(9)))
    printed = _printed([many], most=2)
    assert "… and 7 more (--json)" in printed and "--profile" in printed
    assert "No setting and no version differs." in _printed([Why(reason.compared, "slower", "", ())])


def test_a_counters_share_is_an_upper_bound():
    assert sentence(Evidence("counter", "pages", "1", "2", 0.5)).endswith("pages: 1 → 2, up to 50% of the difference")
    assert sentence(Evidence("time", "disk", "1 µs", "2 µs", 0.5, "why")).endswith("2 µs, 50% of the difference (why)")
