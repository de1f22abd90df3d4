"""`dbdyno watch`: a live view of any server on one screen, without load."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping
from queue import Empty

from rich.console import Console
from rich.live import Live
from rich.text import Text

from dbdyno.cli.console import make_console
from dbdyno.cli.watch_screen import screen
from dbdyno.cli.watch_target import Target, opened
from dbdyno.errors import RunFailed
from dbdyno.experiment.redact import redact
from dbdyno.observe.live import LiveObserver
from dbdyno.observe.rates import Rates
from dbdyno.results.samples import AT

POLL_S = 0.5
"""How long a wait for a sample lasts before Ctrl-C is looked for again."""


def command(target: str, count: int | None) -> int:
    """Show a server second by second, until Ctrl-C, or so many times."""
    console = make_console()
    try:
        with opened(target) as server:
            observer = LiveObserver(server.observed)
            with observer.watching(None, False):
                _follow(server, observer, count, console)
    except KeyboardInterrupt:
        # The only way to end it that has no number of times.
        return 0
    return 0


def _follow(server: Target, observer: LiveObserver, count: int | None, console: Console) -> None:
    rates, times = Rates(), 0
    follows = console.is_terminal and not console.is_dumb_terminal
    live = Live(console=console, auto_refresh=False, redirect_stdout=False, redirect_stderr=False, transient=False)
    if follows:
        live.start()
    try:
        for number, row in enumerate(_samples(server, observer)):
            rates.see(row)
            if not number:
                # Nothing has grown yet.
                continue
            lines = [_title(server, row), *screen(row, rates, console.width - 1), *_not_seen(observer, number)]
            if follows:
                live.update(_fitted(lines, console), refresh=True)
            else:
                console.print(Text("\n".join(lines)), soft_wrap=True)
                console.print()
            times += 1
            if times == count:
                return
    finally:
        if follows:
            live.stop()


def _samples(server: Target, observer: LiveObserver) -> Iterator[Mapping[str, float]]:
    """Yield samples as they are taken; raises RunFailed if the process that is watched has ended."""
    while True:
        try:
            row = observer.samples.get(timeout=POLL_S)
        except Empty:
            continue
        if server.pid is not None and not any(name.startswith("process.") for name in row):
            raise RunFailed(f"{server.title} has ended, or this user may not observe it")
        yield row


def _title(server: Target, row: Mapping[str, float]) -> str:
    return f"{time.strftime('%H:%M:%S', time.localtime(row[AT]))} {redact(server.title)}"


def _not_seen(observer: LiveObserver, number: int) -> list[str]:
    """Return the bands that cannot be seen, at first only: reasons are long, and the screen is small."""
    return [f"not observed: {', '.join(sorted(observer.not_seen))}"] if observer.not_seen and number == 1 else []


def _fitted(lines: list[str], console: Console) -> Text:
    """Return as many lines as the terminal has room for, each cut at its edge."""
    room = max(1, console.height - 1)
    text = Text("\n".join(line[: console.width - 1] for line in lines[:room]), no_wrap=True, overflow="crop")
    text.stylize("bold", 0, len(lines[0]))
    return text
