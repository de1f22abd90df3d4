"""Fixtures of the whole suite: a fake load client, a guard, and a place to start servers from."""

import json
import os
import shutil
import signal
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from dbdyno.experiment import password
from dbdyno.observe.gauges import measure
from dbdyno.observe.gauges.measure import Effort
from dbdyno.systems import SYSTEMS
from dbdyno.systems.base import Launch
from dbdyno.systems.running.guard import Guard
from fakes.system import FakeSystem
from helpers import PATIENCE_MS

FAKE_LOAD_CLIENT = Path(__file__).parent / "fakes" / "load_client.py"


def pytest_configure() -> None:
    """Let Ctrl-C reach what tests start, and let a pipe have no width.

    A shell ignores Ctrl-C for its background jobs, and children inherit that. xdist tells its processes a width.
    """
    for name in ("COLUMNS", "LINES"):
        os.environ.pop(name, None)
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.fixture
def fake_load(monkeypatch: pytest.MonkeyPatch, tmp_path_factory: pytest.TempPathFactory) -> Callable[..., None]:
    """Replace the real load client by the fake one; call the fixture to tell it what to do."""

    def tell(**behaviour: object) -> None:
        monkeypatch.setenv("FAKE_LOAD", json.dumps(behaviour))

    # Not by its first line: `env python3` may be a shim that costs more than the trial.
    program = tmp_path_factory.mktemp("bin") / "dbdyno-load"
    program.write_text(f'#!/bin/sh\nexec "{sys.executable}" -I "{FAKE_LOAD_CLIENT}" "$@"\n')
    program.chmod(0o755)
    monkeypatch.setenv("DBDYNO_LOAD", str(program))
    tell()
    return tell


@pytest.fixture
def fake_system(monkeypatch: pytest.MonkeyPatch) -> type[FakeSystem]:
    """Make `fake` a system, and start with nothing remembered."""
    monkeypatch.setitem(SYSTEMS, "fake", FakeSystem)
    monkeypatch.setattr(FakeSystem, "calls", [])
    monkeypatch.setattr(FakeSystem, "deaths", [])
    monkeypatch.setattr(FakeSystem, "copies", None)
    monkeypatch.setattr(FakeSystem, "lost_s", 0.0)
    return FakeSystem


@pytest.fixture(autouse=True, scope="session")
def own_data_home(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Keep the noise floors of whoever runs the tests out of them, and theirs out of that person's.

    For the session, so that it is there before any fixture of a module. Packages (XDG_CACHE_HOME) stay the person's:
    they are pinned, and take long to get.
    """
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_DATA_HOME", str(tmp_path_factory.mktemp("data-home")))
        patch.setenv("DBDYNO_STATE_DIR", str(tmp_path_factory.mktemp("states")))
        yield


@pytest.fixture(autouse=True)
def no_password(monkeypatch: pytest.MonkeyPatch) -> None:
    """Have no password from outside, or of an earlier test."""
    monkeypatch.setattr(password, "_kept", {})
    for name in (password.VARIABLE, password.FILE_VARIABLE):
        monkeypatch.delenv(name, raising=False)


@pytest.fixture(autouse=True)
def hasty_gauges(monkeypatch: pytest.MonkeyPatch) -> None:
    """Measure the host before a run as it always is, but in no time."""
    monkeypatch.setattr(measure, "SHORT", Effort(0.0, 0.0, 0.0, 0.0, 0.0, 0.0, with_fio=False))


@pytest.fixture
def guard() -> Iterator[Guard]:
    """A guard for the time of a test."""
    with Guard() as guard:
        yield guard


@pytest.fixture
def launch(guard: Guard, tmp_path: Path) -> Launch:
    """The launch of a small system."""
    return Launch(guard, tmp_path, clients=8, rows=100)


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    """The system's Chromium. Without it the test is skipped; with CI=true that is a failure."""
    program = shutil.which("chromium")
    playwright = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
    if program is None:
        reason = "chromium is not installed: apt install chromium"
        pytest.fail(reason) if os.environ.get("CI") == "true" else pytest.skip(reason)
    with playwright.sync_playwright() as started:
        options = ["--no-sandbox", "--disable-gpu", "--disable-background-networking"]
        chromium = started.chromium.launch(executable_path=program, args=options, timeout=PATIENCE_MS)
        yield chromium
        chromium.close()


@pytest.fixture
def look(browser: Any) -> Iterator[Callable[..., Any]]:
    """Open an address in its own window; what the page says of errors fails the test at its end."""
    wrong: list[str] = []
    contexts: list[Any] = []

    def look(address: str, width: int = 1280, scheme: str = "light") -> Any:
        context = browser.new_context(viewport={"width": width, "height": 900}, color_scheme=scheme)
        context.set_default_timeout(PATIENCE_MS)
        contexts.append(context)
        page = context.new_page()
        page.on("console", lambda message: wrong.append(message.text) if message.type == "error" else None)
        page.on("pageerror", lambda error: wrong.append(str(error)))
        page.goto(address)
        return page

    yield look
    for context in contexts:
        context.close()
    assert wrong == []
