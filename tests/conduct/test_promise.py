"""The writes left after a crash are held against what a durability class promises."""

import pytest

from dbdyno.conduct.promise import judge_promise

WHOLE = {"acknowledged": 2000, "missing": 0, "half_applied": 0, "unacknowledged": 3, "gone": 0, "damaged": 0}
WHOLE |= {"lost_back_s": None, "lost_back_is_least": False}
LOST = WHOLE | {"missing": 40, "lost_back_s": 0.5}


@pytest.mark.parametrize(
    ("level", "together", "findings", "verdict", "said"),
    [
        ("D2", True, WHOLE, "kept", "kept its promise (D2): none of 2,000 acknowledged writes is missing"),
        ("D2", True, LOST, "broken", "BROKE its promise (D2): 40 acknowledged writes missing, of 2,000 acknowledged"),
        ("D2", True, WHOLE | {"gone": 1}, "broken", "1 rows gone that were there before"),
        ("D1", True, LOST, "kept", "40 of 2,000 acknowledged writes are missing, back to 0.50 s before the last one"),
        ("D1", True, LOST | {"lost_back_is_least": True}, "kept", "back to at least 0.50 s"),
        ("D1", True, WHOLE | {"half_applied": 2}, "broken", "2 transactions half applied"),
        ("D1", False, WHOLE | {"half_applied": 2}, "kept", "none of 2,000"),
        ("D1", True, WHOLE | {"gone": 4}, "kept", "is missing, and 4 rows that were there before the load are gone"),
        ("D1", False, WHOLE | {"damaged": 1}, "broken", "1 rows damaged"),
        ("D0", True, LOST | {"half_applied": 2, "damaged": 1}, "nothing promised", "promised nothing (D0): 40 of"),
        ("unknown", True, WHOLE, "nothing promised", "promised nothing (unknown): none of"),
    ],
)
def test_a_class_allows_what_it_says(level, together, findings, verdict, said):
    judged, sentence = judge_promise(level, together, findings)
    assert judged == verdict
    assert said in sentence


def test_a_repair_before_the_start_is_named():
    repaired = LOST | {"repaired": {"command": "redis-check-aof --fix", "reason": "Bad file format"}}
    judged, sentence = judge_promise("D1", False, repaired)
    assert judged == "kept"
    assert sentence.endswith("; it started only after `redis-check-aof --fix`")
