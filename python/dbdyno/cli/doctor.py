"""`dbdyno doctor`: what on this host would spoil a measurement."""

from collections.abc import Sequence

from rich.console import Console

from dbdyno.cli.console import make_console
from dbdyno.conduct.load_client import find_load_client, load_client_version
from dbdyno.errors import UserError
from dbdyno.experiment.model import Experiment
from dbdyno.experiment.read import read_experiment
from dbdyno.observe.doctor import Finding, examine
from dbdyno.observe.environment import data_directory
from dbdyno.report.core.terminal import heading, say
from dbdyno.systems import SYSTEMS, missing


def command(experiment: str | None) -> int:
    """Print what on this host would spoil a measurement, or one experiment."""
    console = make_console()
    named = read_experiment(experiment).experiment if experiment else None
    servers = _servers_of(named) if named else [_every_server()]
    private = named is None or any(not spec.url for spec in named.system)
    findings = [
        _load_client(),
        *servers,
        *examine(data_directory() if private else None, named is None or bool(named.profile)),
    ]
    _print(findings, console)
    return 0


def _print(findings: Sequence[Finding], console: Console) -> None:
    troubles = [finding for finding in findings if not finding.fine]
    spoiling = [finding for finding in troubles if finding.spoils]
    if spoiling:
        say(console, "Spoils a measurement", "bold yellow")
        _print_group(spoiling, console)
    else:
        say(console, "Nothing was found that spoils a measurement.", "bold green")
    if known := [finding for finding in troubles if not finding.spoils]:
        heading(console, "Good to know")
        _print_group(known, console)
    console.print()
    say(console, f"Fine: {', '.join(finding.name for finding in findings if finding.fine)}.", "dim", hang=2)


def _print_group(findings: Sequence[Finding], console: Console) -> None:
    for finding in findings:
        say(console, finding.what, indent=2, hang=2)
        say(console, finding.advice, "dim", indent=4)


def _load_client() -> Finding:
    try:
        program = find_load_client()
        version = load_client_version(program)
    except UserError as error:
        return Finding(False, "dbdyno-load cannot be used", str(error))
    debug = "a debug build measures itself: cargo build --release"
    return Finding("debug" not in version, f"{program}: {version}", debug, version)


def _servers_of(experiment: Experiment) -> list[Finding]:
    """Return whether each system of an experiment is installed."""
    reasons = {spec.label: missing(spec) for spec in experiment.system}
    return [
        Finding(reason is None, f"{label} is missing, so the run leaves it out", reason or "", label)
        for label, reason in reasons.items()
    ]


def _every_server() -> Finding:
    """Return how many systems are installed: nobody needs them all."""
    there = sum(system.missing() is None for system in SYSTEMS.values())
    return Finding(True, "", "", f"{there} of {len(SYSTEMS)} systems installed (dbdyno systems)")
