"""One hostile input of each kind: an experiment's file, a command line, a run's folder; each drawn from a generator."""

from __future__ import annotations

import json
import os
import shutil
import tomllib
from dataclasses import dataclass
from pathlib import Path
from random import Random

import click
import tomli_w

from dbdyno.cli.commands import COMMANDS, dbdyno
from dbdyno.systems import ATTACHED, SYSTEMS
from torture.inputs_mutations import NUMBERS, WORDS, change, data, text

GOOD_WORDS = (*SYSTEMS, *(f"{scheme}://u@h/d" for scheme in ATTACHED), "game", "point-get", "last", "1", "2%", "all")
SHARE_OF_REPORTS = 0.03
"""Drawing all plots takes ten times as long as all else."""


@dataclass(frozen=True)
class Inputs:
    """The material of cases. folder: a directory where nothing else is. run_files: of each run, relative paths."""

    folder: Path
    experiments: list[str]
    runs: list[Path]
    run_files: dict[Path, list[Path]]


def gathered(folder: Path, experiments: list[str], runs: list[Path]) -> Inputs:
    """Return inputs of these texts and folders."""
    files = {run: [file.relative_to(run) for file in sorted(run.rglob("*")) if file.is_file()] for run in runs}
    return Inputs(folder, experiments, runs, files)


def experiment_case(inputs: Inputs, random: Random) -> list[str]:
    """Write a hostile experiment's file, and return the command line that reads it."""
    good = random.choice(inputs.experiments)
    way = random.randrange(10)
    if way < 6:
        content = _document_changed(good, random).encode()
    elif way < 9:
        content = text(good, random).encode(errors="surrogatepass")
    else:
        content = data(good.encode(), random)
    file = inputs.folder / "mine.toml"
    file.write_bytes(content)
    return ["run", str(file)]


def _document_changed(good: str, random: Random) -> str:
    document = tomllib.loads(good)
    for _ in range(random.choice((1, 1, 2, 3))):
        change(document, random)
    try:
        return tomli_w.dumps(document)
    except (TypeError, ValueError, RecursionError):
        # TOML has no null, and Python writes no number of more than 4,300 digits: as text it is another mutation.
        return text(good, random)


def command_case(inputs: Inputs, random: Random) -> list[str]:
    """Return a hostile command line of any command."""
    name = random.choice([*COMMANDS, *["run"] * 8, *["systems"] * 3, "clean", "clean", random.choice(WORDS)])
    command: click.Command | None = dbdyno.get_command(click.Context(dbdyno), name)
    line = [name]
    if isinstance(command, click.Group) and random.random() < 0.8:
        inner = random.choice(list(command.commands))
        line.append(inner)
        command = command.commands[inner]
    for parameter in command.params if command else ():
        if isinstance(parameter, click.Argument):
            line += [_word(inputs, random) for _ in range(random.choice((0, 1, 1, 1, 1, 2)))]
        elif random.random() < 0.25:
            line += _option(parameter, inputs, random)
    if random.random() < 0.1:
        line.insert(random.randrange(len(line) + 1), _word(inputs, random))
    if name == "run" and len(line) > 1 and random.random() < 0.7:
        line[1] = random.choice(("game", "point-get", "tpcc", "quickstart", "air-traffic", "sysbench", "durability"))
    # An argument has no null character: the kernel takes none.
    return [word.replace("\0", "0") for word in line]


def _option(parameter: click.Parameter, inputs: Inputs, random: Random) -> list[str]:
    flag = isinstance(parameter, click.Option) and parameter.is_flag
    name = random.choice(parameter.opts)
    if flag and random.random() < 0.9:
        return [name]
    value = _word(inputs, random)
    if name == "--set":
        keys = ("system", "rows", "clients", "options.access", "cpus.client", "workload", "rate", "a" + ".a" * 3000, "")
        value = f"{random.choice(keys)}={value}"
    return [f"{name}={value}"] if random.random() < 0.3 else [name, value]


def _word(inputs: Inputs, random: Random) -> str:
    way = random.randrange(6)
    if way == 0:
        return str(random.choice(NUMBERS[:10]))
    if way == 1:
        return text(random.choice(GOOD_WORDS), random)
    if way == 2:
        return str(random.choice(inputs.runs))
    return random.choice(GOOD_WORDS if way == 3 else WORDS)


def run_case(inputs: Inputs, random: Random) -> list[str]:
    """Make a hostile folder of a run, and return a command line that reads it."""
    good = random.choice(inputs.runs)
    parent = inputs.folder / "hostile"
    shutil.rmtree(parent, ignore_errors=True)
    folder = parent / good.name
    files = inputs.run_files[good]
    hostile = set(random.choices(files, k=random.choice((1, 1, 1, 2, 4))))
    for file in files:
        target = folder / file
        target.parent.mkdir(parents=True, exist_ok=True)
        if file in hostile:
            _write_hostile(good / file, target, random)
        elif file.name != "summary.npz" or random.random() < 0.9:
            # A derived file may hide the file it was derived from.
            os.link(good / file, target)
    other = str(random.choice(inputs.runs))
    if random.random() < SHARE_OF_REPORTS:
        return random.choice((["report", str(folder)], ["index", str(parent)]))
    ways = (
        *(["show", str(folder)], ["show", str(folder), "--json"], ["compare", str(folder)]),
        *(["compare", str(folder), other], ["compare", other, str(folder), "--force"], ["gate", str(folder), other]),
        *(["gate", other, str(folder), "--force"], ["history", str(parent)], ["history", str(parent), "--json"]),
    )
    return random.choice(ways)


def _write_hostile(good: Path, target: Path, random: Random) -> None:
    """Write a file that is like another one, or something that is none."""
    way = random.randrange(12)
    if way == 0:
        return
    if way == 1:
        target.mkdir()
        return
    content = good.read_bytes()
    if good.suffix == ".json" and way < 10:
        document = json.loads(content)
        for _ in range(random.choice((1, 1, 2))):
            change(document, random)
        content = _as_json(document, content)
    elif good.suffix == ".jsonl" and way < 10:
        content = _line_changed(content, random)
    else:
        content = data(content, random)
    target.write_bytes(content)


def _as_json(document: object, otherwise: bytes) -> bytes:
    try:
        return json.dumps(document).encode()
    except (ValueError, RecursionError):
        return otherwise


def _line_changed(content: bytes, random: Random) -> bytes:
    lines = content.splitlines(keepends=True)
    if not lines:
        return data(content, random)
    at = random.randrange(len(lines))
    way = random.randrange(6)
    if way == 0:
        del lines[at]
    elif way == 1:
        lines.insert(random.randrange(len(lines)), lines[at])
    else:
        try:
            document = json.loads(lines[at])
        except ValueError:
            # A run that was killed ends within a line.
            return data(content, random)
        change(document, random)
        lines[at] = _as_json(document, lines[at]) + b"\n"
    return b"".join(lines)
