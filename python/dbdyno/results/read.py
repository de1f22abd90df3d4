"""From a run's folder (docs/run-folder.md) to a `Run`; a run that was killed is read as far as it went."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from dbdyno.errors import UserError
from dbdyno.later import LaterModule
from dbdyno.results.client_limit import client_limited
from dbdyno.results.conclusions import VERDICT_FORMAT, Conclusions
from dbdyno.results.confirmation import Confirmation
from dbdyno.results.environment import read_environment
from dbdyno.results.facts import PreparationFacts, TrialFacts
from dbdyno.results.foreign_content import understood
from dbdyno.results.identities import warnings_of
from dbdyno.results.jsonfiles import read_lines, read_object
from dbdyno.results.model import Preparation, Recorded, Run, Trial, Usage
from dbdyno.results.observations import read_observations
from dbdyno.results.records import read_records
from dbdyno.results.summary import is_summarized, read_summary
from dbdyno.results.usage import stated_usage, usage_of
from dbdyno.results.write import FORMAT

if TYPE_CHECKING:
    from concurrent import futures

    from dbdyno.contract import JsonObject
else:
    futures = LaterModule("concurrent.futures")

PARALLEL_ABOVE_BYTES = 64 << 20
"""Above this many bytes of records not yet summarized reading takes seconds, and is shared between processors."""

_TRIAL_KEYS = ("system", "label", "workload", "clients", "state")


def read_run(path: Path | str) -> Run:
    """Read a run's folder.

    Raises:
        UserError: it is not a run's folder, of another format, or holds a file that cannot be understood.
    """
    folder = Path(path)
    with understood(folder):
        return _read(folder)


def _read(folder: Path) -> Run:
    about = read_run_json(folder)
    trials = [folder / "trials" / name for name in about["trials"]]
    unread = [
        records for trial in trials if (records := trial / "records.jsonl").is_file() and not is_summarized(trial)
    ]
    size_bytes = sum(records.stat().st_size for records in unread)
    if size_bytes > PARALLEL_ABOVE_BYTES:
        with futures.ProcessPoolExecutor() as pool:
            read = tuple(pool.map(read_trial, trials))
    else:
        read = tuple(map(read_trial, trials))
    return Run(folder, about, read_environment(folder), read, _preparations(folder))


def read_run_json(folder: Path) -> JsonObject:
    """Return `run.json`; raises UserError if it is none of this format."""
    file = folder / "run.json"
    if not file.is_file():
        raise UserError(f"{folder}: is not a run: it has no run.json (runs are the folders below runs/)")
    about = read_object(file)
    if about.get("format") != FORMAT:
        raise UserError(
            f"{file}: is of format {about.get('format')!r}, this dbdyno reads format {FORMAT}; "
            f"it was written by dbdyno {about.get('dbdyno', 'of unknown version')}, use that one"
        )
    names = about.get("trials")
    if not isinstance(names, list) or not all(isinstance(name, str) for name in names):
        raise UserError(f"{file}: 'trials' is not a list of names")
    return about


def read_command(folder: Path) -> str | None:
    """Return the command that started the run in `folder`; `None` if its `run.json` does not say, or is not there.

    Raises:
        UserError: `run.json` cannot be understood.
    """
    file = folder / "run.json"
    command = read_object(file).get("command") if file.is_file() else None
    return command if isinstance(command, str) else None


def read_trial(folder: Path) -> Trial:
    """Read one trial's folder; one that does not exist was not reached.

    Raises:
        UserError: a file in it cannot be understood.
    """
    file = folder / "trial.json"
    if not file.is_file():
        return Trial(folder.name, "not reached", None, {}, read_records(folder / "records.jsonl"), (), ())
    about = read_object(file)
    if missing := [key for key in _TRIAL_KEYS if key not in about]:
        raise UserError(f"{file}: lacks {', '.join(missing)}")
    facts = TrialFacts.read(about)
    summary = read_summary(folder, auto_warmup=facts.automatic_warmup, profiled=facts.profiled_seconds)
    recorded = summary.recorded
    usage = stated_usage(facts, file) or _seen_usage(facts, recorded, folder)
    state, reason = _state(facts, recorded)
    judged, confirmation = _conclusions(folder / "verdict.json"), _confirmation(folder / "confirmation.json")
    trial = Trial(
        folder.name, state, reason, about, recorded, usage, (), None, folder, judged, confirmation, summary.observed
    )
    limited = judged.client_limited if judged else client_limited(recorded, trial.facts, trial.embedded)
    try:
        warnings = warnings_of(recorded, trial.facts, limited)
    except (KeyError, TypeError) as error:
        raise UserError(f"{folder / 'records.jsonl'}: its total cannot be understood: {error!r}") from error
    return replace(trial, warnings=warnings, client_limited=limited)


def _conclusions(file: Path) -> Conclusions | None:
    """Return the conclusions of `verdict.json`; `None` if it is not there, or was written in another format."""
    stated = read_object(file) if file.is_file() else {}
    with understood(file):
        return Conclusions.read(stated) if stated.get("format") == VERDICT_FORMAT else None


def _confirmation(file: Path) -> Confirmation | None:
    """Return the confirmation of `confirmation.json`; `None` if it is not there."""
    if not file.is_file():
        return None
    with understood(file):
        return Confirmation.read(read_object(file))


def _seen_usage(facts: TrialFacts, recorded: Recorded, folder: Path) -> tuple[Usage, ...]:
    """Return the usage that was observed in a trial that was not closed."""
    return usage_of(read_observations(folder), recorded.window_unix_s) if facts.state == "running" else ()


def _state(facts: TrialFacts, recorded: Recorded) -> tuple[str, str | None]:
    """The trial's state, if a kill left none that is true."""
    state, reason = str(facts.state), facts.reason
    if state == "failed":
        return state, reason
    # An embedded store that was killed on purpose took its load client with it.
    if recorded.end is None and not facts.crash:
        return "interrupted", reason or "cut short: the records end before the trial did"
    if state == "running":
        return "interrupted", "dbdyno was killed before it closed this trial"
    return state, reason


def _preparations(folder: Path) -> dict[str, Preparation]:
    preparations: dict[str, Preparation] = {}
    for file in sorted(folder.glob("preparations/*/preparation.json")):
        load: JsonObject = {}
        for _, record in read_lines(file.with_name("records.jsonl")):
            if (record.get("record"), record.get("phase"), record.get("state")) == ("phase", "load", "end"):
                load = record
        name, about = file.parent.name, read_object(file)
        # Restored data was loaded in an earlier preparation, or in this one, as the first of its kind.
        loaded = preparations.get(str(PreparationFacts.read(about).loaded_in))
        rows, seconds = (loaded.rows, loaded.load_seconds) if loaded else (load.get("rows"), load.get("seconds"))
        preparations[name] = Preparation(name, about, rows, seconds)
    return preparations


def usage_of_servers(trial: Trial) -> tuple[Usage, ...]:
    """The processes of the store, without the load client's own."""
    return tuple(used for used in trial.usage if used.process != "client")


def processes_of_store(trial: Trial) -> tuple[str, ...]:
    """Return the observed processes that do a store's work: of an embedded one the client, of servers all of them.

    None if one of its servers was not seen: what the others took is not what the store takes.
    """
    if trial.embedded:
        return ("client",)
    seen = tuple(used.process for used in usage_of_servers(trial))
    servers = set(trial.server_names)
    return seen if servers <= set(seen) else ()
