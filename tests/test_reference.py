"""The generated pages are what the code says now, the site's menu has every page, and pages of a kind look alike."""

from __future__ import annotations

import importlib
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from types import ModuleType

import pytest

from dbdyno.experiment.workloads import WORKLOADS
from dbdyno.systems import SYSTEMS

ROOT = Path(__file__).parent.parent
SYSTEM_HEADINGS = ("At a glance", "Start", "Settings and durability", "Know before you compare", "A run")
EXPERIMENT_HEADINGS = ("At a glance", "What to look for", "How it works", "A run")
MAY_BE_ABSENT = {"How it works", "A run"}
"""Some experiments need no more than their first paragraph, and some systems were only run beside others."""

Generator = Callable[[str], ModuleType]


@pytest.fixture
def reference(monkeypatch: pytest.MonkeyPatch) -> Generator:
    """Import a module of the generator by its name."""
    monkeypatch.syspath_prepend(str(ROOT))
    return lambda name: importlib.import_module(f"scripts.reference.{name}")


def test_every_generated_page_is_current(reference: Generator) -> None:
    texts = reference("pages").generated(ROOT)
    stale = [path for path, text in texts.items() if (ROOT / path).read_text(encoding="utf-8") != text]
    assert not stale, f"`make reference` renews {', '.join(stale)}"


def test_a_page_that_is_not_current_is_seen(reference: Generator) -> None:
    text = "# A\n\n<!-- generated: x -->\n\nold\n\n<!-- end -->\n\nBy hand.\n"
    renewed = reference("markdown").replace_block(text, "x", "new")
    assert renewed == text.replace("old", "new")
    with pytest.raises(ValueError, match="no block"):
        reference("markdown").replace_block(text, "y", "new")


def test_the_manual_page_has_every_command_and_no_stray_request(reference: Generator) -> None:
    page = reference("man_page")
    lines = page.man_page().splitlines()
    assert [line for line in lines if line.startswith(".SS dbdyno compare ")] == [
        ".SS dbdyno compare [OPTIONS] RUN [RUN]"
    ]
    requests = {line.split()[0] for line in lines if line.startswith((".", "'"))}
    assert requests == {'.\\"', ".B", ".PP", ".SH", ".SS", ".TH", ".TP"}
    assert page._text(".x \\ -y") == "\\&.x \\e \\-y"


def test_the_menu_has_every_page_once(reference: Generator) -> None:
    named = [page.path for page in reference("site").pages(ROOT)]
    there = {path.relative_to(ROOT).as_posix() for path in (ROOT / "docs").glob("**/*.md")}
    there |= {"README.md", "CONTRIBUTING.md", "ARCHITECTURE.md", "CHANGELOG.md", "benches/README.md"}
    assert sorted(named) == sorted(there)


def test_the_site_gets_every_page_and_what_it_shows(reference: Generator, tmp_path: Path) -> None:
    subprocess.run([sys.executable, ROOT / "scripts/stage-docs", tmp_path / "site"], check=True)
    staged = {path.relative_to(tmp_path / "site").as_posix() for path in (tmp_path / "site").rglob("*.*")}
    assert {page.path for page in reference("site").pages(ROOT)} <= staged
    assert {"docs/images/report.png", "docs/contract.schema.json", "examples/session-store.toml"} <= staged


def test_the_menu_has_four_parts(reference: Generator) -> None:
    parts = dict.fromkeys(page.part for page in reference("site").pages(ROOT))
    assert list(parts) == ["Start", "Guides", "Concepts", "Reference"]


@pytest.mark.parametrize(("folder", "headings"), [("systems", SYSTEM_HEADINGS), ("experiments", EXPERIMENT_HEADINGS)])
def test_pages_of_a_kind_have_the_same_headings(folder: str, headings: tuple[str, ...]) -> None:
    for path in (ROOT / "docs" / folder).glob("*.md"):
        if path.name == "README.md":
            continue
        present = re.findall(r"^## (.+)$", path.read_text(encoding="utf-8"), re.MULTILINE)
        missing = set(headings) - set(present)
        assert present == [heading for heading in headings if heading in present], path
        assert missing <= MAY_BE_ABSENT, path


def test_every_system_and_every_shipped_experiment_has_a_page(reference: Generator) -> None:
    systems = reference("systems")
    pages = {entry.page for entry in systems.entries()} - {systems.ENGINES_PAGE}
    assert pages == {path.stem for path in (ROOT / "docs/systems").glob("*.md")}
    shipped = {path.stem for path in (ROOT / "experiments").glob("*.toml")}
    assert shipped <= {path.stem for path in (ROOT / "docs/experiments").glob("*.md")}


def entry(reference: Generator, spec: str) -> str:
    systems = reference("systems")
    return systems.runs(systems.Entry("", spec, ""))


@pytest.mark.parametrize(
    ("spec", "runs"),
    [
        ("duckdb", "`air-traffic`, `wide-rows`"),
        ("mariadb", "all but `replication-lag`"),
        ("memcached://host", "`point-get`, `batch-get`, `game`, `result-cache` (rows_per_result = 1)"),
    ],
)
def test_a_system_runs_what_it_declares(reference: Generator, spec: str, runs: str) -> None:
    assert entry(reference, spec) == runs


def test_a_system_without_an_entry_is_listed_behind_its_relatives(
    reference: Generator, monkeypatch: pytest.MonkeyPatch
) -> None:
    systems = reference("systems")
    lacking = {"valkey", "tkrzw", "lmdb"}
    every = tuple(entry for entry in systems.ENTRIES if entry.spec not in lacking)
    monkeypatch.setattr(systems, "ENTRIES", every)
    listed = {entry.spec: entry for entry in systems.entries()}
    titles = [(listed[name].title, listed[name].page) for name in ("valkey", "tkrzw", "lmdb")]
    assert titles == [("Valkey", "redis"), ("Tkrzw", "tkrzw"), ("LMDB", "lmdb")]
    assert list(listed).index("valkey") == list(listed).index("redis") + 1


def test_an_engine_without_a_page_is_on_that_of_all_engines_and_a_server_is_refused(
    reference: Generator, monkeypatch: pytest.MonkeyPatch
) -> None:
    systems = reference("systems")
    monkeypatch.setattr(systems, "PAGES", ROOT)
    page = systems._page_of(SYSTEMS["tkrzw"])
    assert systems._path(systems.Entry("Tkrzw", "tkrzw", page)) == "embedded.md"
    with pytest.raises(ValueError, match=r"docs/systems/redis\.md is missing"):
        systems._page_of(SYSTEMS["redis"])


def test_options_that_a_system_refuses_are_told(reference: Generator) -> None:
    assert "`insert-indexes` (indexes = 0)" in entry(reference, "redis")
    assert "`dump-restore` (tool = sql, files; workers = 1)" in entry(reference, "sqlite")


def test_an_attached_server_is_not_killed_or_restarted(reference: Generator) -> None:
    said = entry(reference, "postgresql://user@host/database")
    assert said.startswith("all but ")
    assert {"durability", "dump-restore"} <= set(re.findall(r"`([^`]+)`", said))


def test_every_workload_has_its_section(reference: Generator) -> None:
    text = reference("workloads").workloads_page(ROOT)
    assert re.findall(r"^## (.+)$", text, re.MULTILINE) == list(WORKLOADS)


def test_a_key_of_the_json_without_a_meaning_is_refused(reference: Generator) -> None:
    with pytest.raises(ValueError, match="add or remove extra"):
        list(reference("json_document")._rows([{"known": 1, "extra": None}], {"known": "a number"}))


def test_the_readme_is_short() -> None:
    assert len((ROOT / "README.md").read_text(encoding="utf-8").splitlines()) <= 100
