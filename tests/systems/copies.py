"""Shared by the tests of copiers: values that are easily lost, their copy by a tool, and ways to spoil that."""

import subprocess
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from pathlib import Path

from dbdyno.conduct.identity import compare_definitions, compare_rows
from dbdyno.systems.copier import Copier, Stage
from dbdyno.systems.running.process import spawn

TEXTS = ("a", "A", "a ", "", "\t\\N\n'\"", "NULL", "ü€𝄞", None)
"""Texts that are equal to some store, that files quote, and that an empty one or a word could stand for."""


def run_stages(copier: Copier, stages: Sequence[Stage], log_path: Path) -> None:
    """Run a tool's calls one after the other; fails, quoting them, if one does."""
    for call in (call for stage in stages for call in stage.calls):
        with ExitStack() as files:
            log = files.enter_context(log_path.open("ab"))
            stdin = files.enter_context(call.reads.open("rb")) if call.reads else subprocess.DEVNULL
            stdout = files.enter_context(call.writes.open("wb")) if call.writes else None
            process = spawn(call.argv, copier.home, log, stdin, stdout, as_server=copier.as_server)
        assert process.wait() == 0, log_path.read_text()


def differences(copier: Copier, table: str) -> list[str]:
    """Return how the copy of a table differs from it."""
    definitions = [copier.definition(table, of_copy) for of_copy in (False, True)]
    _, differing = compare_rows(copier.rows(table, of_copy=False), copier.rows(table, of_copy=True))
    return [*compare_definitions(*definitions), *differing]


def copy_and_spoil(copier: Copier, spoil: Callable[[str], None], unkeyed: str, log_path: Path) -> None:
    """Copy the tables `t` and `u`, see that nothing is lost, and that every one thing that is changed then is found.

    spoil: executes SQL in the copy. unkeyed: takes away the primary key of `t`, so that a row can be there twice.
    """
    assert copier.tables(of_copy=False) == ["t", "u"]
    assert copier.count("t") == len(TEXTS) and copier.count("u") == 0
    folder = copier.create()
    assert copier.tables(of_copy=True) == []
    run_stages(copier, copier.dump(["t", "u"], folder), log_path)
    run_stages(copier, copier.restore(["t", "u"], folder), log_path)
    assert copier.tables(of_copy=True) == ["t", "u"]
    assert [len(list(copier.rows("t", of_copy))) for of_copy in (False, True)] == [len(TEXTS)] * 2
    assert differences(copier, "t") == differences(copier, "u") == []
    for was, becomes, key in (("'a'", "'A'", 1), ("'a '", "'a'", 3), ("''", "NULL", 4), ("NULL", "'NULL'", 8)):
        spoil(f"UPDATE t SET c = {becomes} WHERE id = {key}")
        (differing,) = differences(copier, "t")
        assert differing.startswith(f"row {key}, column 3: ")
        spoil(f"UPDATE t SET c = {was} WHERE id = {key}")
    assert differences(copier, "t") == []
    spoil("INSERT INTO u SELECT * FROM t WHERE id = 2")
    assert differences(copier, "u") == ["row 2 is in the copy once too often"]
    spoil("DELETE FROM t WHERE id = 5")
    assert differences(copier, "t") == ["row 5 is missing"]
    spoil("INSERT INTO t (id, k, c) VALUES (5, 7, '')")
    assert [differing.partition(":")[0] for differing in differences(copier, "t")] == ["row 5, column 2"]
    spoil("DELETE FROM t WHERE id = 5")
    spoil(unkeyed)
    spoil("INSERT INTO t SELECT * FROM t WHERE id = 2")
    differing = differences(copier, "t")
    assert differing[-2:] == ["row 2 is in the copy once too often", "row 5 is missing"] and len(differing) > 2
    copier.drop()
    assert not folder.exists()
