"""The arguments, options and help of every command. A command's own module is loaded when it is called.

So help, completions and a wrong option answer at once: nothing here needs a library but click.
"""

from collections.abc import Callable
from functools import update_wrapper
from importlib import import_module
from pathlib import Path
from typing import Any

import click

from dbdyno.cli.color import with_color
from dbdyno.cli.duration import DURATION
from dbdyno.cli.options import experiment_options
from dbdyno.cli.percent import PERCENT
from dbdyno.cli.profile import AFTER
from dbdyno.cli.suggestions import suggest_experiments, suggest_runs
from dbdyno.export.names import TABLES, TABLES_OF
from dbdyno.stats.margin import MARGIN

PARSERS: dict[str, click.Command] = {}
"""The commands by name."""

Declaration = Callable[..., None]
"""A function without a body: its parameters are options, its docstring is the help."""


def _command(module: str, within: click.Group | None = None) -> Callable[[Declaration], click.Command]:
    """Declare a command by the name of its module, whose function `command` it calls.

    within: the group of a subcommand, whose module begins with the name of the group.
    """

    def declare(declaration: Declaration) -> click.Command:
        def call(**options: Any) -> Any:
            return load_command(module)(**options)

        name = module.removeprefix(f"{within.name}_") if within else module
        command = with_color(click.command(name)(update_wrapper(call, declaration)))
        (within.commands if within else PARSERS)[name] = command
        return command

    return declare


def load_command(module: str) -> Callable[..., Any]:
    """Return what a command does; it takes the options, and returns the exit status, where None is 0."""
    function: Callable[..., Any] = import_module(f"dbdyno.cli.{module}").command
    return function


_JSON = click.option("--json", "as_json", is_flag=True, help="One JSON document instead of the table.")
_DETAILS = click.option("--details", is_flag=True, help="Show everything.")
_NOISE = click.option("--noise", type=PERCENT, help="Noise of this host (default: as `dbdyno aa` measured it).")
_FORCE = click.option("--force", is_flag=True, help="Compare runs that differ in conditions, and mark the result.")


@_command("run")
@click.argument("experiment", required=False, shell_complete=suggest_experiments)
@click.option(
    "--resume",
    metavar="RUN",
    shell_complete=suggest_runs,
    help="Run the trials that an interrupted run lacks: its folder, its name in ./runs, or last.",
)
@click.option(
    "--system",
    multiple=True,
    help="A system instead of those in the file: name, name?setting=value or URL. Repeatable.",
)
@click.option(
    "--rate",
    metavar="R,R,…",
    help="Open loop: transactions per second, or shares of the closed loops' throughput, e.g. 50%,90%.",
)
@click.option("--find-rate", metavar="LIMIT", help='Search for the highest rate that holds a limit, e.g. "p99 < 10ms".')
@click.option("--pipeline", metavar="N,N,…", help="Requests that a client sends before it reads the answers.")
@click.option("--precise", metavar="P%", help="Repeat until every comparison is known to ±P %, 5 to 20 times.")
@click.option("--until-flat", metavar="P%", help="End a sweep of clients if two steps rise by less than P %.")
@click.option("--csv", metavar="DIR", help="For air-traffic: a folder of real files, zipped or not.")
@click.option(
    "--profile",
    is_flag=False,
    flag_value=AFTER,
    metavar="[on-stall]",
    help="Record flame graphs of server and client after each trial, or during it, when it stalls.",
)
@click.option(
    "--metrics",
    multiple=True,
    metavar="WAY",
    help="Live metrics: prometheus:9464 to be scraped, or otlp:http://host:4318 to be sent; repeatable.",
)
@click.option("--live", is_flag=True, help="Show the running trial in a browser; prints the address.")
@click.option(
    "--hosts", type=click.Path(dir_okay=False, path_type=Path), help="File with the keys of the table [hosts]."
)
@experiment_options
def _run() -> None:
    """Run EXPERIMENT: the name of a shipped one, or a file.

    With --resume there is no EXPERIMENT: the run's folder has it, and complete trials are kept.

    A password comes from the environment variable DBDYNO_PASSWORD, or from a file that DBDYNO_PASSWORD_FILE names and
    only you can read. A URL on the command line must not hold a password, because everybody can read that line.
    """


@_command("list")
@click.argument("name", required=False)
@_DETAILS
def _list() -> None:
    """List the shipped experiments, the systems and the workloads, or those with NAME in their name."""


@_command("show")
@click.argument("run", shell_complete=suggest_runs)
@_DETAILS
@_JSON
def _show() -> None:
    """Print the results of RUN: its folder, its name in ./runs, or last.

    The exit status is that of the run: 0 if every trial ran, every answer was right and the limits hold, else 1.
    """


@_command("explain")
@click.argument("run", shell_complete=suggest_runs)
@click.argument("trial", required=False)
def _explain() -> None:
    """Say what limited each trial of RUN, with the evidence, and what to try next.

    RUN is its folder, its name in ./runs, or last. TRIAL is the name or number of one trial, or a part of the name,
    such as redis.
    """


@_command("export")
@click.argument("runs", nargs=-1, required=True, metavar="RUN...", shell_complete=suggest_runs)
@click.option("--format", "wanted", type=click.Choice(list(TABLES_OF)), help="Format of the output.")
@click.option("--table", type=click.Choice(TABLES), help="Table to write (default: trials).")
@click.option("--output", type=click.Path(path_type=Path), help="The file to write (default: standard output).")
def _export() -> None:
    """Write one or several RUNs for another program: CSV, Parquet, Prometheus, JUnit, Markdown or Apache Otava.

    It writes no password, whatever the run holds.
    """


@_command("report")
@click.argument("run", shell_complete=suggest_runs)
@click.option("--plots", type=click.Path(path_type=Path), metavar="DIR", help="Write the plots there, as SVG and PNG.")
@click.option(
    "--format",
    "form",
    type=click.Choice(["html", "markdown"]),
    default="html",
    help="html writes report.html; markdown prints a summary for an issue or pull request.",
)
def _report() -> None:
    """Write the report of RUN again: its folder, its name in ./runs, or last."""


@_command("index")
@click.argument("directory", metavar="DIR", default="runs", type=click.Path(path_type=Path))
def _index() -> None:
    """Write DIR/index.html: every run in DIR with its sentence and a link to its report."""


@_command("serve")
@click.argument("directory", metavar="DIR", default="runs", type=click.Path(path_type=Path))
@click.option("--host", default="127.0.0.1", show_default=True, help="Address of this host to listen on.")
@click.option("--port", type=click.IntRange(0, 65535), default=0, help="Port to listen on (default: any free one).")
def _serve() -> None:
    """Show the runs in DIR in a browser: the running trial second by second, all runs, two compared, and a matrix.

    It prints an address with a token, and refuses every request without that token.
    """


@_command("aa")
@click.argument("system")
@click.argument("experiment", default="game", shell_complete=suggest_experiments)
@experiment_options
def _aa() -> None:
    """Run SYSTEM against itself on EXPERIMENT's workload (game), at least ten pairs of trials in ABBA order.

    The result is the noise floor of this host for this workload. dbdyno keeps it. Tables, reports, `compare` and `gate`
    count smaller differences as equal.
    """


def _of_one_run_or_two(declared: Declaration) -> Declaration:
    """Declare what `compare` and `why` take: a run or two, and what counts as a difference."""
    for parameter in (
        _JSON,
        _FORCE,
        _NOISE,
        click.option(
            "--margin",
            type=PERCENT,
            default=f"{MARGIN:.0%}",
            show_default=True,
            help="Smaller differences count as equal.",
        ),
        click.option("--baseline", metavar="LABEL", help="Baseline system (default: the run's first)."),
        click.argument("other", metavar="[RUN]", required=False, shell_complete=suggest_runs),
        click.argument("run", shell_complete=suggest_runs),
    ):
        declared = parameter(declared)
    return declared


@_command("compare")
@_of_one_run_or_two
def _compare() -> None:
    """Compare the systems of RUN, or RUN with a second one: faster, slower, equivalent or inconclusive."""


@_command("why")
@_of_one_run_or_two
def _why() -> None:
    """Say what changed between the systems of RUN, or between RUN and a second one, if one is confirmed faster.

    Settings and versions come first, then what a transaction spends more time on, ordered by how much of the
    difference that can explain.
    """


@_command("gate")
@click.argument("baseline", shell_complete=suggest_runs)
@click.argument("run", shell_complete=suggest_runs)
@click.option("--margin", type=PERCENT, default="3%", show_default=True, help="Smaller slowdowns pass.")
@_NOISE
@_FORCE
@click.option(
    "--leave-out-limited",
    is_flag=True,
    help="Leave out cells that the client or the rate limited on both sides, and name them.",
)
@_JSON
def _gate() -> None:
    """End with status 1 if RUN is confirmed slower than BASELINE by more than the margin, else with 0.

    Status 2 says that it could not judge: the runs cannot be compared, or nothing is slower and a cell is left. A cell
    is left if RUN lacks it, if a side has one trial, or if it is not valid.
    """


@_command("ci")
@click.argument("experiments", nargs=-1, required=True, metavar="EXPERIMENT...", shell_complete=suggest_experiments)
@click.option("--base", required=True, metavar="SPEC", help="The base system: name, name?setting=value or URL.")
@click.option("--head", required=True, metavar="SPEC", help="The head system, as for --base.")
@click.option("--budget", type=DURATION, default="20m", show_default=True, help="Time for all experiments together.")
@click.option("--margin", type=PERCENT, default="5%", show_default=True, help="Smaller differences count as same.")
@click.option(
    "--report",
    type=click.Path(path_type=Path),
    metavar="DIR",
    default=Path("dbdyno-ci"),
    show_default=True,
    help="Folder for ci.md, ci.json, junit.xml and otava.csv.",
)
@click.option(
    "--unfit-host",
    type=click.Choice(["warn", "refuse"]),
    default="warn",
    show_default=True,
    help="Reaction if `dbdyno doctor` finds something that spoils a measurement.",
)
@click.option("--allow-unstable", is_flag=True, help="Pass if this host is too noisy for an answer.")
@experiment_options
def _ci() -> None:
    """Say whether HEAD is slower than BASE, by interleaved pairs of trials on this host.

    Pairs are added until each comparison is same, faster or slower, or the budget is up. A comparison without an answer
    is then unstable. Status 0: nothing is slower. Status 1: something is. Status 2: nothing is slower, and a comparison
    is unstable or could not be judged.
    """


@_command("bisect")
@click.argument("experiment", shell_complete=suggest_experiments)
@click.option("--good", required=True, metavar="SPEC", help="A build that is not slow; with --build a commit.")
@click.option("--bad", required=True, metavar="SPEC", help="A later build that is slow; with --build a commit.")
@click.option(
    "--builds",
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="The builds in order, a system a line (default: the versions of the catalogue).",
)
@click.option(
    "--build",
    metavar="COMMAND",
    help="Command that builds a {commit} and prints its system in the last line, e.g. './make.sh {commit}'.",
)
@click.option(
    "--repository",
    type=click.Path(path_type=Path),
    metavar="DIR",
    default=Path(),
    help="Git repository of the commits (default: this directory).",
)
@click.option("--budget", type=DURATION, default="10m", show_default=True, help="Time for each step.")
@click.option("--margin", type=PERCENT, default="2%", show_default=True, help="Smaller slowdowns are ignored.")
@click.option(
    "--state",
    type=click.Path(path_type=Path),
    metavar="DIR",
    default=Path("dbdyno-bisect"),
    show_default=True,
    help="Folder of the steps; the same command continues there.",
)
@click.option("--dry-run", is_flag=True, help="Say how long it may take, and measure nothing.")
@_JSON
@experiment_options
def _bisect() -> None:
    """Find the first slow build between GOOD and BAD, measured on EXPERIMENT at one load.

    Every step compares a build with GOOD in interleaved pairs until it is good, bad, or inconclusive. Status 0: the
    first slow build was found. Status 2: BAD is not certainly slower, or inconclusive builds leave a range.
    """


@_command("history")
@click.argument("directory", metavar="DIR", default="runs")
@_NOISE
@click.option("--json", "as_json", is_flag=True, help="One JSON document instead of the list.")
def _history() -> None:
    """Follow every system through the runs in DIR, and name the runs at which it became faster or slower.

    A change is at least 3 %, and at least twice the noise of the host. Runs of another host, size, durability or
    settings are followed separately.
    """


@_command("watch")
@click.argument("target")
@click.option("--count", type=click.IntRange(min=1), metavar="N", help="End after N screens (default: until Ctrl-C).")
def _watch() -> None:
    """Show a server live on one screen, without any load: TARGET is a process ID, a URL or a system's name.

    Host, disk, network, processes and their busiest threads are shown for a server of this host. A URL also shows the
    store's own counters, its waits and its locks. Nothing is changed. In a pipe each second is a few plain lines.
    """


@_command("clean")
@click.argument("url")
@click.option("--dry-run", is_flag=True, help="Say what would be removed, and remove nothing.")
def _clean() -> None:
    """Remove dbdyno's leftovers, and nothing else, from the store at URL, e.g. mysql://user@host/database."""


@_command("doctor")
@click.argument("experiment", required=False)
def _doctor() -> None:
    """Say what on this host would spoil a measurement, and what to do about it.

    With EXPERIMENT (the name of a shipped one, or a file) it checks only what that needs.
    """


@_command("host")
@click.option(
    "--directory",
    type=click.Path(exists=True, file_okay=False, path_type=Path),
    help="Directory on the disk to measure (default: where private servers keep their data).",
)
@click.option(
    "--to", metavar="HOST:PORT", help="Also measure the network to a host that runs `dbdyno host --answer PORT`."
)
@click.option("--answer", "answer_at", metavar="PORT", help="Answer a host that measures its network to this one.")
@_JSON
def _host() -> None:
    """Measure this host: clock, scheduler, memory, loopback, disk and processor, in about 20 s.

    With --to also the network to another host: there, run `dbdyno host --answer PORT` first. It answers everybody who
    reaches the port, until Ctrl-C.
    """


class _Systems(click.Group):
    """Names the option that was meant if a system stands in the place of a command."""

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Return the command that is named first."""
        if self.get_command(ctx, args[0]) is None and not args[0].startswith("-"):
            ctx.fail(f"{args[0]!r} is no command; to list systems by name: dbdyno systems --name {args[0]}")
        return super().resolve_command(ctx, args)


@click.group("systems", cls=_Systems, invoke_without_command=True)
@click.option("--name", metavar="TEXT", help="Only systems with this in their name.")
@_DETAILS
@click.pass_context
def _systems(context: click.Context, name: str | None, details: bool) -> None:
    """List every system with its versions; get, check and remove versions."""
    if context.invoked_subcommand is None:
        load_command("systems")(name=name, details=details)


PARSERS["systems"] = with_color(_systems)


@_command("systems_install", _systems)
@click.argument("names", nargs=-1, required=True)
def _install() -> None:
    """Get versions such as mysql@5.6.

    They go to the cache directory. Nothing of the host is configured or started.
    """


@_command("systems_remove", _systems)
@click.argument("names", nargs=-1, required=True)
def _remove() -> None:
    """Remove versions that were installed here."""


@_command("systems_check", _systems)
@click.argument("name")
@click.option("--install", "allowed", is_flag=True, help="Install it first if it is missing.")
def _check() -> None:
    """Start a system, load 1,000 rows, read them back, and stop it."""


@_command("completions")
@click.argument("shell", type=click.Choice(("bash", "zsh", "fish")))
def _completions() -> None:
    """Print the script that completes dbdyno's command lines in SHELL; docs/install.md says where it goes."""


@_command("worker")
@click.argument("address")
@click.option("--name", required=True, help="Name of this host in the experiment and in its certificate.")
@click.option(
    "--role", type=click.Choice(("client", "server")), default="client", show_default=True, help="Role in the run."
)
@click.option(
    "--certificates",
    type=click.Path(file_okay=False, path_type=Path),
    metavar="DIR",
    help="Folder with this host's folder of certificates (default: where `dbdyno hosts init` writes).",
)
@click.option(
    "--source-address",
    "source_addresses",
    multiple=True,
    metavar="ADDRESS",
    help="Address of this host from which clients connect. Several are used in turn, each with its own ports.",
)
def _worker() -> None:
    """Serve runs whose conductor listens at ADDRESS, such as tls://10.0.0.1:8786, until a signal ends it."""


@click.group("hosts", invoke_without_command=True)
@click.pass_context
def _hosts(context: click.Context) -> None:
    """List the hosts that have certificates here, or make some."""
    if context.invoked_subcommand is None:
        load_command("hosts")()


PARSERS["hosts"] = with_color(_hosts)


@_command("hosts_init", _hosts)
@click.argument("names", nargs=-1, required=True)
@click.option(
    "--directory",
    type=click.Path(file_okay=False, path_type=Path),
    metavar="DIR",
    help="Folder to write (default: dbdyno/hosts in your directory for data).",
)
def _hosts_init() -> None:
    """Make the certificates of the conductor and of the hosts NAMES.

    A new authority signs them. Copy each host's folder to that host. The key of the authority stays here.
    """
