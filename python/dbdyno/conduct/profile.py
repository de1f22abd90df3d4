"""Stacks of the server and of the client under a trial's load (`--profile`).

Recording slows what it records, so nothing is recorded while a trial is measured. Afterwards the same load runs once
more, for a few seconds. Its own records lie in the trial's folder `profile`, and no figure is computed from them.
"""

from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path

from dbdyno.conduct.context import Context
from dbdyno.conduct.load_client import Summary, execute, why_it_failed
from dbdyno.conduct.on_hosts import Load, execute_on_hosts
from dbdyno.conduct.plan import Plan
from dbdyno.conduct.server_processes import server_processes
from dbdyno.contract import Record
from dbdyno.errors import RunFailed
from dbdyno.hosts.elsewhere import hosted
from dbdyno.hosts.window import HostsWindow
from dbdyno.observe.stacks.permission import in_words, not_seen
from dbdyno.observe.stacks.window import EventsPerS, Window, stack_names
from dbdyno.results.profile import NotRecordedStated, ProfileStated
from dbdyno.results.write import write_profile
from dbdyno.systems.base import System

WINDOW_S = 5
_WARMUP_S = 1
_MARGIN_S = 2
"""perf takes about a second to attach to a server of many threads; the load must outlast it and the window."""

AnyWindow = Window | HostsWindow


def announce(context: Context) -> None:
    """Say, once in a run, which of the requested stacks this host does not show; server hosts say it later."""
    if context.experiment.profile and not context.crew:
        _say(context, not_seen())


def open_window(context: Context, system: System, scratch: Path) -> AnyWindow:
    """Return what records the stacks of a system's servers, wherever these run; perf's data lie in `scratch`."""
    if not context.crew:
        return Window(context.guard.tell, stack_names(server_processes(system)), scratch, WINDOW_S)
    there = HostsWindow(hosted(system), WINDOW_S)
    _say(context, there.missing)
    return there


def _say(context: Context, missing: dict[str, str]) -> None:
    """Say which stacks are missing, each once in a run."""
    for kind_and_reason in in_words(missing).items():
        if kind_and_reason not in context.said:
            context.said.add(kind_and_reason)
            context.listener.not_seen(*kind_and_reason)


def profile(context: Context, plan: Plan, secrets: list[str], system: System, folder: Path) -> None:
    """Run the load of a trial's `plan` once more and record stacks meanwhile, into `folder`, which is made.

    Whatever does not work is said in `profile.json`; a trial that was measured is not spoiled by it.
    Raises OSError if the disk is full.
    """
    folder.mkdir()
    stated: ProfileStated = {
        "seconds": WINDOW_S,
        "begun_unix_s": None,
        "transactions_per_s": None,
        "stacks": {},
        "counters": {},
        "not_seen": [],
    }
    with context.guard.scratch() as scratch, open_window(context, system, scratch) as window:
        missing = dict(window.missing)
        if not window.is_blind:
            try:
                summary = _run_again(context, plan, secrets, system, folder, window)
                if reason := why_it_failed(summary, folder):
                    missing |= {"load": reason}
                elif summary.seconds:
                    stated["transactions_per_s"] = summary.transactions / summary.seconds
                stated["begun_unix_s"] = window.begun_unix_s
                stated["stacks"], failed = window.write(folder)
                stated["counters"] = per_transaction(window.events_per_s(), stated["transactions_per_s"])
                missing |= failed
            except RunFailed as failure:
                missing |= {"load": str(failure)}
    stated["not_seen"] = not_recorded(missing)
    write_profile(folder, stated)


def _run_again(
    context: Context, plan: Plan, secrets: list[str], system: System, folder: Path, window: AnyWindow
) -> Summary:
    """Run the load of a trial for as long as the window takes; returns what is known of its records."""
    longer = replace(plan, warmup_s=_WARMUP_S, duration_s=WINDOW_S + _MARGIN_S, query_plans=False)
    record_came = _after_warmup(window)
    if context.crew:
        return execute_on_hosts(context, Load(longer, secrets, folder, system, system.death, record_came))[0]
    return execute(longer, secrets, folder, context.supervision(), record_came)


def per_transaction(events_per_s: EventsPerS, transactions_per_s: float | None) -> dict[str, dict[str, float | None]]:
    """Return the events of each process for a transaction; `None` if they or the transactions are not known."""
    return {
        name: {
            event: count_per_s / transactions_per_s if count_per_s is not None and transactions_per_s else None
            for event, count_per_s in counted.items()
        }
        for name, counted in events_per_s.items()
    }


def not_recorded(missing: Mapping[str, str]) -> list[NotRecordedStated]:
    """Return the kinds of stacks that were not recorded, with the reasons."""
    return [{"what": what, "reason": reason} for what, reason in missing.items()]


def _after_warmup(window: AnyWindow) -> Callable[[Record], None]:
    """Return what begins a window with the first second that is not the warm-up's."""

    def record_came(record: Record) -> None:
        if record["record"] == "hello":
            window.add_client(record["pid"])
        if record["record"] == "interval" and record["second"] + 1 >= _WARMUP_S and window.begun_unix_s is None:
            window.begin()

    return record_came
