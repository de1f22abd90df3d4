"""Runs loads and cases, and reads their verdicts; a run stays in its folder and can be judged again."""

from __future__ import annotations

import json
import subprocess
import sys
from contextlib import ExitStack
from pathlib import Path
from time import gmtime, strftime
from urllib.parse import quote

from dbdyno.conduct.run import conduct
from dbdyno.errors import RunFailed
from dbdyno.experiment.read import NamedExperiment
from dbdyno.experiment.system_spec import parse_system
from dbdyno.results.model import Trial
from dbdyno.results.read import read_run
from dbdyno.systems import missing
from dbdyno.systems.base import Launch
from dbdyno.systems.running.guard import Guard
from dbdyno.verdict.judge import judge_folder
from helpers import system

from .case import Case, Load, Variant, causes_of, experiment_of, is_attached, keys_of, system_of
from .causes import end_with
from .grade import Verdict
from .stage import AtTheTrial, CannotInject, Stage

SCRIPTED = Path(__file__).with_name("scripted.py")
SCHEMES = {"mariadb": "mysql"}
"""The scheme of the URL of an attached system, if it is not the system's name."""


def folder_of(parent: Path, scenario: Load | Case, variant: Variant, repeat: int) -> Path:
    """Return the folder of one repetition."""
    return parent / scenario.name / f"{variant.value}-{repeat}"


def run(scenario: Load | Case, variant: Variant, folder: Path) -> None:
    """Run it once, and keep the run in `folder`.

    Raises CannotInject if this host lacks what it takes, RunFailed if the run did not end as it should.
    """
    need_system(system_of(scenario))
    with ExitStack() as stack:
        guard = stack.enter_context(Guard())
        cpus = tuple(variant.cpus.get("server", ())) or None
        stage = Stage(guard, stack, stack.enter_context(ExitStack()), cpus)
        if is_attached(scenario):
            attach(scenario, stage)
        for cause in causes_of(scenario):
            cause(stage)
        experiment = experiment_of(scenario, variant, stage.url or system_of(scenario))
        end = conduct(NamedExperiment(scenario.name, experiment), "make test-verdicts", folder, AtTheTrial(stage))
    if end.state == "interrupted":
        # A run takes it for its own end alone, and the next case would follow.
        raise KeyboardInterrupt
    if end.state != "complete":
        raise RunFailed(str(end.reason))


def need_system(text: str) -> None:
    """Raise CannotInject if a system is not installed."""
    if not text.startswith("scripted") and (reason := missing(parse_system(text))):
        raise CannotInject(reason)


def attach(scenario: Load | Case, stage: Stage) -> None:
    """Start the server of a load or case as somebody else's."""
    text = system_of(scenario)
    if text.startswith("scripted"):
        start_scripted(text, stage)
        return
    logs = stage.stack.enter_context(stage.guard.scratch())
    stage.server = system(text)
    stage.stack.callback(stage.server.stop)
    keys = keys_of(scenario)
    stage.server.start(Launch(stage.guard, logs, keys["clients"], keys["rows"], stage.server_cpus))
    endpoint = stage.server.endpoint
    scheme = SCHEMES.get(stage.server.name, stage.server.name)
    login = f"{endpoint.user or ''}:{quote(endpoint.password)}@" if endpoint.password else ""
    stage.url = f"{scheme}://{login}127.0.0.1:{endpoint.port}/{endpoint.database}"


def start_scripted(text: str, stage: Stage) -> None:
    """Start the scripted server with the settings behind its name, `scripted?think_ms=2&workers=4`."""
    settings = dict(pair.split("=") for pair in text.partition("?")[2].split("&") if pair)
    options = json.dumps({key: float(value) if "." in value else int(value) for key, value in settings.items()})
    pinned = ["taskset", "-c", ",".join(map(str, stage.server_cpus))] if stage.server_cpus else []
    argv = [*pinned, sys.executable, "-I", str(SCRIPTED), options]
    process = subprocess.Popen(argv, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    end_with(stage, process)
    stage.url = f"memcached://127.0.0.1:{process.stdout.readline().strip()}"


def read(scenario: Load | Case, variant: Variant, repeat: int, folder: Path, again: bool = False) -> Verdict | None:
    """Return the verdict on the run in `folder`, drawn again if asked for; None if no run is complete."""
    for run_folder in sorted(folder.glob("*/run.json")):
        if again:
            for trial_folder in run_folder.parent.glob("trials/*/"):
                judge_folder(trial_folder)
        trials = read_run(run_folder.parent).trials
        if len(trials) == 1 and trials[0].state == "complete":
            return verdict_of(scenario, variant, repeat, trials[0])
    return None


def verdict_of(scenario: Load | Case, variant: Variant, repeat: int, trial: Trial) -> Verdict:
    """Return the verdict on a trial."""
    judged = trial.judged.verdict
    words = judged.limit, judged.confidence, judged.sentence
    day = strftime("%Y-%m-%d", gmtime(trial.facts.started_unix_s))
    return Verdict(scenario, variant, repeat, *words, trial.recorded.throughput_per_s, day)
