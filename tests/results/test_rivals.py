"""The systems of a run that are compared with each other."""

from dbdyno.results.rivals import against, base_of, rivals

SMALL, LARGE = {"rows": "1k"}, {"rows": "1M"}
ONE = {"a, rows 1k": SMALL, "a, rows 1M": LARGE, "a": {}}
TWO = {"a, rows 1k": SMALL, "a, rows 1M": LARGE, "b, rows 1k": SMALL, "b, rows 1M": LARGE}


def test_systems_without_variants_stand_against_the_first():
    assert against({"a": {}, "b": {}, "c": {}}) == [("a", "b"), ("a", "c")]
    assert rivals({"a": {}, "b": {}, "c": {}}) == [("a", "b"), ("a", "c"), ("b", "c")]


def test_systems_stand_against_the_first_of_their_variant():
    assert against(TWO) == [("a, rows 1k", "b, rows 1k"), ("a, rows 1M", "b, rows 1M")]
    assert [label for _, label in against(TWO, "b, rows 1M")] == ["a, rows 1k", "a, rows 1M", "b, rows 1k"]


def test_variants_of_one_system_stand_against_its_first():
    assert against(ONE) == [("a, rows 1k", "a, rows 1M"), ("a, rows 1k", "a")]


def test_rivals_differ_in_one_thing():
    assert ("a, rows 1k", "b, rows 1M") not in rivals(TWO) and ("a, rows 1M", "b, rows 1k") not in rivals(TWO)
    assert len(rivals(TWO)) == 4


def test_a_base_is_the_label_without_its_variant():
    assert base_of("a b=1, rows 1k, server CPUs 0-1", {"rows": "1k", "server CPUs": "0-1"}) == "a b=1"
    assert base_of("ours", SMALL) == "ours"
