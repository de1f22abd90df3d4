"""The environment is shown fact by fact, without what has its own section."""

from dbdyno.report.core.page import Page
from dbdyno.report.sections.environment import flattened, part


def test_nested_facts_are_laid_flat():
    facts = {"cpu": {"model": "x", "flags": ["a", "b"]}, "pinned": True, "none": None}
    assert dict(flattened(facts)) == {"CPU · model": "x", "CPU · flags": "a, b", "pinned": "yes", "none": "–"}
    facts = {"at_unix_s": 0.5e9, "memory_bytes": 3 << 30, "load_average": [19.0117, 0.25], "count": 20660}
    readable = {
        "at": "1985-11-05 00:53 UTC",
        "memory": "3.00 GiB",
        "load average": "19.0, 0.25",
        "count": "20,660",
    }
    assert dict(flattened(facts)) == readable


def test_what_was_measured_of_the_host_is_not_among_the_facts(run_document):
    environment = {"host": "bench-1", "measured": {"clock": 1}, "measured_after": None}
    assert part(Page(run_document | {"environment": environment})).content == {
        "environment_rows": [("host", "bench-1")]
    }
    assert part(Page(run_document | {"environment": {}})) is None
