"""The project's rules about its own sources, and for every rule the proof that it sees what it forbids."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from tidy_rules import prose
from tidy_rules.cycles import python_cycles, rust_cycles
from tidy_rules.direction import crate_direction, dead_python, dead_rust, python_direction
from tidy_rules.docstrings import docstring_openings
from tidy_rules.house import House, matches
from tidy_rules.lines import UNWRAPS, absences, banned_lines, unwraps
from tidy_rules.names import module_names, vague_names
from tidy_rules.places import TESTED_ELSEWHERE, declared_dependencies, links, mirrored_tests, shipped_experiments
from tidy_rules.prose import (
    decisions,
    line_widths,
    longest_sentences,
    references,
    sentence_lengths,
    sentence_openings,
    sentences,
)
from tidy_rules.size import file_length, function_length, module_documentation, silent_handlers

Rule = Callable[[House], Iterator[str]]

RULES: tuple[Rule, ...] = (
    absences,
    banned_lines,
    crate_direction,
    dead_python,
    dead_rust,
    decisions,
    declared_dependencies,
    docstring_openings,
    file_length,
    function_length,
    line_widths,
    links,
    longest_sentences,
    mirrored_tests,
    module_documentation,
    module_names,
    python_cycles,
    python_direction,
    references,
    rust_cycles,
    sentence_lengths,
    sentence_openings,
    shipped_experiments,
    silent_handlers,
    unwraps,
    vague_names,
)


@pytest.fixture(scope="module")
def project() -> House:
    return House(Path(__file__).parent.parent)


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.__name__)
def test_the_project_keeps_the_rule(rule: Rule, project: House) -> None:
    findings = list(rule(project))
    assert not findings, "\n" + "\n".join(findings)


def house_of(root: Path, files: dict[str, str]) -> House:
    for path, text in files.items():
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_text(text)
    return House(root)


# Small, but with something in it for every rule to look at.
GOOD = {
    "README.md": "# A house\n\nSee [the plan](docs/plan.md) and [elsewhere](https://example.org/x).\n",
    "docs/plan.md": f"""## 1. Walls

### 1.2 Doors

Back to [the start](../README.md#a-house). Two sentences.

- An item.

|{"a wide table" * 10}|

```
code. has. words. and. no. sentences.
```
""",
    "experiments/one.toml": 'question = "How fast?"\nlook_for = "The knee."\n',
    "pyproject.toml": '[project]\ndependencies = ["tomli-w>=1"]\n',
    "crates/model/Cargo.toml": '[package]\nname = "dbdyno-model"\n',
    "crates/model/src/lib.rs": """//! Tables.

mod row;
mod table;

#[cfg(test)]
mod tests {
    fn t() {
        f().unwrap();
    }
}
""",
    "crates/model/src/row.rs": """//! Rows.

/// Like `f().unwrap()`.
pub fn f() {}
// g().unwrap()
""",
    "crates/model/src/table.rs": "//! A table.\n\nuse crate::row::{f, g};\n",
    "crates/workloads/Cargo.toml": '[dependencies]\ndbdyno-model = "0"\n[dev-dependencies]\ndbdyno-stores = "0"\n',
    "crates/workloads/src/lib.rs": "//! Workloads.\n",
    "python/dbdyno/__init__.py": '"""A package."""\n\n__version__ = "0"\n',
    "python/dbdyno/errors.py": '"""Errors (docs/plan.md, section 1.2, and README.md, "A house")."""\n',
    "python/dbdyno/__main__.py": '"""Run."""\n\nfrom dbdyno.cli import main\n',
    "python/dbdyno/cli/__init__.py": '''"""Commands."""

from dbdyno import __version__
from .. import errors

NAMES = ("run",)


def load(name):
    return import_module(f"dbdyno.cli.{name}")
''',
    "python/dbdyno/cli/run.py": '''"""One."""

from . import NAMES
from ..stats.mean import mean

RUN = "dbdyno.stats.guard"
''',
    "python/dbdyno/stats/__init__.py": '"""Statistics."""\n',
    "python/dbdyno/stats/guard.py": '"""Run by name."""\n\nimport sys\n\nimport tomli_w\n',
    "python/dbdyno/stats/mean.py": '''"""Means."""

def mean():
    try:
        f()
    except OSError:
        pass  # it may be gone
''',
    "tests/stats/test_mean.py": '"""Tests."""\n',
}


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.__name__)
def test_a_tidy_house_has_no_findings(rule: Rule, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    _without_exemptions(monkeypatch)
    assert list(rule(house_of(tmp_path, GOOD))) == []


def _without_exemptions(monkeypatch: pytest.MonkeyPatch) -> None:
    for table in (UNWRAPS, TESTED_ELSEWHERE):
        for path in list(table):
            monkeypatch.delitem(table, path)
    for name in ("INVERTED_SENTENCES", "LONG_LINES", "LONG_SENTENCES", "NOT_COUNTED"):
        monkeypatch.setattr(prose, name, set())


@dataclass(frozen=True)
class Bad:
    """A file that breaks a rule, and how the one line about it begins after the file's name."""

    rule: Rule
    path: str
    text: str
    says: str


LONG_PYTHON = '"""A module."""\n\ndef f():\n' + "    x = 1\n" * 70
LONG_RUST = "impl X {\n    pub async fn f(\n        &self,\n    ) {\n" + "        x();\n" * 67 + "    }\n}\n"
UNWRAP = "fn f() {\n    g().unwrap();\n}\n"
SILENT = "try:\n    f()\nexcept OSError:\n    pass\n"

# Words that must not stand in any source are split, or this file would break the rule itself.
BAD = (
    Bad(banned_lines, "python/dbdyno/a.py", "x" * 161, ":1: at most 160"),
    Bad(banned_lines, "a.md", "a\tb", ":1: indent"),
    Bad(banned_lines, "tests/a.py", "monkeypatch.setattr(a.ti" + "me, 'sleep', b)", ":1: give the module a clock"),
    Bad(banned_lines, "tests/a.py", "m.setattr('dbdyno.a.ti".replace("'", '"') + 'me.sleep", b)', ":1: give the"),
    Bad(banned_lines, "a.md", "a \nb", ":1: no trailing"),
    Bad(banned_lines, "crates/a.rs", "// TO" + "DO: later", ":1: finish it"),
    Bad(banned_lines, "crates/a.rs", "//! A.\n    /// What it is.\n", ":2: begin with the subject"),
    Bad(banned_lines, "docs/plan.md", "The stall wa" + "s seen.", ":1: use the field's word"),
    Bad(banned_lines, "crates/a.rs", "/// Rows that are aske" + "d for.", ":1: use the field's word"),
    Bad(banned_lines, "scripts/x", "cd /ro" + "ot/x", ":1: no path of one machine"),
    Bad(banned_lines, "a.toml", "u = 'https://py" + "pi.org'", ":1: name the package"),
    Bad(absences, "crates/wire/src/a.rs", "use std::net::TcpListener;", ":1: wire does no I/O"),
    Bad(absences, "crates/workloads/src/a.rs", "\nuse std::time::{Duration, Instant};", ":2: a workload is replayable"),
    Bad(absences, "crates/net/src/a.rs", "// as MariaDB does", ":1: product names"),
    Bad(absences, "python/dbdyno/report/a.py", 'x = "redis"', ":1: product names"),
    Bad(unwraps, "crates/a/src/b.rs", UNWRAP, ":2: 1 unwraps, 0 allowed"),
    Bad(unwraps, "crates/a/src/b.rs", "#[cfg(test)]\nuse x::y;\n" + UNWRAP, ":4: 1 unwraps, 0 allowed"),
    Bad(unwraps, "crates/a/src/b.rs", "#[cfg(test)]\nmod tests {\n}\n" + UNWRAP, ":5: 1 unwraps, 0 allowed"),
    Bad(function_length, "python/dbdyno/a.py", LONG_PYTHON, ":3: f has 71 lines"),
    Bad(function_length, "crates/a.rs", LONG_RUST, ":2: f has 71 lines"),
    Bad(file_length, "python/dbdyno/a.py", "\n" * 501, ": 501 lines"),
    Bad(module_documentation, "tests/a.py", "x = 1\n", ":1: the module has no docstring"),
    Bad(module_documentation, "crates/a.rs", "// A file.\n", ":1: the file does not begin"),
    Bad(silent_handlers, "tests/a.py", SILENT, ":3: the exception is dropped"),
    Bad(python_direction, "python/dbdyno/stats/a.py", "from dbdyno.cli import run", ":1: stats may not import cli"),
    Bad(python_direction, "python/dbdyno/stats/a.py", "from .. import cli", ":1: stats may not import cli"),
    Bad(
        python_direction,
        "python/dbdyno/stats/a.py",
        "def f():\n    import dbdyno.cli.run",
        ":2: stats may not import cli",
    ),
    Bad(python_direction, "python/dbdyno/errors.py", "from dbdyno import stats", ":1: errors may not import stats"),
    Bad(python_direction, "python/dbdyno/magic/a.py", "", ": magic is not in the table"),
    Bad(
        crate_direction,
        "crates/model/Cargo.toml",
        "[dependencies]\ndbdyno-net.version = '0'",
        ": model may not depend on net",
    ),
    Bad(crate_direction, "crates/magic/Cargo.toml", "", ": magic is not in the table"),
    Bad(python_cycles, "python/dbdyno/cli/__init__.py", "from dbdyno.cli import run", ": modules import each other"),
    Bad(rust_cycles, "crates/model/src/row.rs", "use crate::table::T;", ": modules use each other: row → table → row"),
    Bad(dead_python, "python/dbdyno/stats/a.py", "import dbdyno.stats.a", ": nothing imports it"),
    Bad(dead_rust, "crates/model/src/a.rs", "//! Lost.", ": no `mod a;` declares it"),
    Bad(declared_dependencies, "python/dbdyno/a.py", "from rich import box", ": imports rich, which"),
    Bad(
        declared_dependencies,
        "python/dbdyno/a.py",
        "load_compiled('scipy.special', '_ufuncs')",
        ": imports scipy, which",
    ),
    Bad(declared_dependencies, "pyproject.toml", "[project]\ndependencies = ['rich', 'tomli-w']", ": rich is declared"),
    Bad(mirrored_tests, "python/dbdyno/stats/a.py", "def f(): ...", ": its test tests/stats/test_a.py is missing"),
    Bad(shipped_experiments, "experiments/a.toml", 'question = "?"', ": `look_for` is missing"),
    Bad(shipped_experiments, "experiments/a.toml", "question = ", ": "),
    Bad(links, "docs/plan.md", "[x](gone.md) [y](../README.md)", ":1: the link leads nowhere: gone.md"),
    Bad(links, "docs/plan.md", "# A plan\n[x](#a-plan) [y](#no-plan)", ":2: there is no such heading: #no-plan"),
    Bad(line_widths, "docs/plan.md", "word " * 25, ":1: at most 120 characters"),
    Bad(line_widths, "python/dbdyno/report/templates/a.html.j2", "<p>\n" + "x" * 121, ":2: at most 120 characters"),
    Bad(
        sentence_openings,
        "docs/plan.md",
        "Why? What is done is said. What now?",
        ": begin with the subject: What is do",
    ),
    Bad(
        longest_sentences, "docs/plan.md", "Short. A long" + " one" * 29 + ".", ": a sentence has 31 words, at most 30"
    ),
    Bad(sentence_lengths, "docs/plan.md", "A sentence" + " with very many words" * 4 + ".", ": a sentence has 18.0"),
    Bad(
        references,
        "crates/model/src/a.rs",
        "//! As docs/gone.md has it.",
        ":1: there is no such document: docs/gone.md",
    ),
    Bad(
        decisions,
        "docs/decisions/a.md",
        "# A\n\n## B\n\n**Context.** C.\n\n**Decision.** D.\n",
        ": 'B' lacks Alternatives",
    ),
    Bad(references, "python/dbdyno/a.py", '"""As docs/plan.md, section 2."""', ":1: docs/plan.md has no section 2"),
    Bad(references, "crates/a.rs", "/// docs/plan.md,\n/// section 1.3", ":1: docs/plan.md has no section 1.3"),
    Bad(references, "CONTRIBUTING.md", 'See README.md, "A castle".', ':1: README.md has no heading "A castle"'),
    Bad(references, "python/dbdyno/a.py", "# METHO" + "DS section 3", ":1: cite a numbered section"),
    Bad(vague_names, "python/dbdyno/a.py", "x = 1\nfound = x", ":2: found does not say"),
    Bad(vague_names, "python/dbdyno/a.py", "def f(\n    one,\n): ...", ":2: one does not say"),
    Bad(vague_names, "python/dbdyno/a.py", "f = lambda *told: told[0].shown", ":1: told does not say"),
    Bad(vague_names, "python/dbdyno/a.py", "class A:\n    place: str", ":2: place does not say"),
    Bad(vague_names, "python/dbdyno/a.py", "def f(self):\n    self.shown = one", ":2: shown does not say"),
    Bad(vague_names, "python/dbdyno/a.py", "x = [one.a for one in y]", ":1: one does not say"),
    Bad(vague_names, "python/dbdyno/a.py", "try: f()\nexcept OSError as found: g()", ":2: found does not say"),
    Bad(vague_names, "python/dbdyno/a.py", "from a import b as place", ":1: place does not say"),
    Bad(vague_names, "tests/a.py", "class A:\n    async def told(self): ...", ":2: told does not say"),
    Bad(module_names, "python/dbdyno/stats/asked.py", "", ": name the module by a noun"),
    Bad(module_names, "crates/model/src/scaled.rs", "", ": name the module by a noun"),
    Bad(docstring_openings, "python/dbdyno/a.py", '"""What it is."""', ":1: say what it is"),
    Bad(docstring_openings, "tests/a.py", '"""A."""\n\nX = 1\n"""Of a round."""', ":4: say what it is"),
    Bad(docstring_openings, "scripts/a.py", '"""Whose it is."""', ":1: say what it is"),
    Bad(docstring_openings, "benches/a.py", '"""Which of them."""', ":1: say what it is"),
    Bad(docstring_openings, "python/dbdyno/a.py", 'def f():\n    """\n    Whether."""', ":2: say what it is"),
    Bad(vague_names, "crates/a.rs", "/// found\nfn f(one: &'a str) {}", ":2: one does not say"),
    Bad(vague_names, "crates/a.rs", 'f(b"told\\"", r#"one"#, \'"\');\ny.place = 1;', ":2: place does not say"),
    Bad(vague_names, "fuzz/src/a.rs", "if let Some(found) = f() {}", ":1: found does not say"),
    Bad(links, "docs/lost.md", "Nobody links here.", ": no other document links to it"),
)


@pytest.mark.parametrize("bad", BAD, ids=lambda bad: f"{bad.rule.__name__}-{bad.path}{bad.says[:25]}")
def test_the_rule_sees_what_it_forbids(bad: Bad, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    _without_exemptions(monkeypatch)
    findings = list(bad.rule(house_of(tmp_path, GOOD | {bad.path: bad.text})))
    assert len(findings) == 1
    assert findings[0].startswith(bad.path + bad.says)


def test_sentences_are_those_of_prose_alone() -> None:
    markdown = """# A heading

One with `a code. Of two`, e.g. this, and [a link](to/it.md). Another
over two lines! dbdyno does. **A claim.** Its reason.

- An item without a full stop
- Two of them. (In brackets.)

| a | table. |
|---|---|

```
some code. More code.
```
"""
    assert sentences(markdown) == [
        "One with Code, e.g this, and a link.",
        "Another over two lines!",
        "dbdyno does.",
        "**A claim.**",
        "Its reason.",
        "An item without a full stop",
        "Two of them.",
        "(In brackets.)",
    ]


def test_every_rule_has_a_bad_sample() -> None:
    assert {bad.rule for bad in BAD} == set(RULES)


def test_an_exemption_that_is_no_longer_needed_is_a_finding(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    _without_exemptions(monkeypatch)
    monkeypatch.setitem(UNWRAPS, "crates/model/src/row.rs", 1)
    monkeypatch.setitem(TESTED_ELSEWHERE, "python/dbdyno/stats/mean.py", "tests/stats/test_mean.py")
    house = house_of(tmp_path, GOOD)
    assert list(unwraps(house)) == ["crates/model/src/row.rs: only 0 unwraps are left: lower UNWRAPS to that"]
    assert list(mirrored_tests(house)) == [
        "python/dbdyno/stats/mean.py: needs no exemption any more: take it out of TESTED_ELSEWHERE"
    ]


def test_an_exemption_for_what_is_gone_is_a_finding(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    _without_exemptions(monkeypatch)
    monkeypatch.setitem(UNWRAPS, "crates/gone.rs", 1)
    monkeypatch.setitem(TESTED_ELSEWHERE, "python/dbdyno/stats/gone.py", "tests/stats/test_mean.py")
    house = house_of(tmp_path, GOOD)
    assert list(unwraps(house)) == ["crates/gone.rs: gone: take it out of UNWRAPS"]
    assert [finding.split(":")[0] for finding in mirrored_tests(house)] == ["python/dbdyno/stats/gone.py"]


@pytest.mark.parametrize(
    ("path", "pattern", "expected"),
    [
        ("README.md", "*.md", True),
        ("docs/a.md", "*.md", False),
        ("docs/a/b.md", "docs/**/*.md", True),
        ("docs/b.md", "docs/**/*.md", True),
        ("b.md", "**/*.md", True),
        ("python/b.md", "docs/**/*.md", False),
    ],
)
def test_patterns_match_as_in_pathlib(path: str, pattern: str, expected: bool) -> None:
    assert matches(path, pattern) is expected
