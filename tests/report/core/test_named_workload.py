"""The name of a recorded workload is read once, with its options."""

import pytest

from dbdyno.report.core.named_workload import named_workload


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("game", ("game", {}, "")),
        ("batch-get?batch=10&verify=", ("batch-get", {"batch": "10", "verify": ""}, "batch=10&verify=")),
        ("sysbench?script=a%2Fb.lua", ("sysbench", {"script": "a/b.lua"}, "script=a%2Fb.lua")),
        (None, ("", {}, "")),
    ],
)
def test_a_workload_and_its_options(text, expected):
    assert named_workload(text) == expected
