"""Documented tables of `make bench`: declared in results/benches.toml, kept in results/benches/, rebuilt from there."""

import json
import os
import shlex
import subprocess
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from time import gmtime, strftime
from typing import Any

from scripts.figures.form import figures_table, three
from scripts.reference.markdown import code, prose

DECLARATION = Path("results/benches.toml")
RESULTS = Path("target/bench/results.json")
"""Path of the pairs that `make bench` leaves, from the root."""


@dataclass(frozen=True, slots=True)
class Bench:
    """One documented run of `make bench`.

    Attributes:
        name: its name in results/benches/ and in the blocks of pages.
        command: what a shell runs, from its variables on.
        measures: the compared figures that the table shows; empty: all.
    """

    name: str
    command: str
    measures: tuple[str, ...] = ()

    @property
    def result(self) -> Path:
        """Path of the kept pairs, from the root."""
        return DECLARATION.parent / "benches" / f"{self.name}.json"


def benches(root: Path) -> dict[str, Bench]:
    """Return the documented benches by name; raises TypeError if one has an unknown key."""
    read = tomllib.loads((root / DECLARATION).read_text(encoding="utf-8"))
    return {name: Bench(name, keys.pop("command"), **keys) for name, keys in sorted(read.items())}


def take(root: Path, bench: Bench) -> None:
    """Run `make bench` with the declared variables and keep its pairs; raises FileNotFoundError if it measured nothing.

    A limit that is not met is a result too, so the exit status does not count.
    """
    *variables, _make, _bench = shlex.split(bench.command)
    set_here = dict(variable.split("=", 1) for variable in variables)
    (root / RESULTS).unlink(missing_ok=True)
    subprocess.run(["make", "bench"], cwd=root, env=os.environ | set_here, check=False)
    kept = json.loads((root / RESULTS).read_text(encoding="utf-8")) | {"command": bench.command}
    (root / bench.result).parent.mkdir(exist_ok=True)
    (root / bench.result).write_text(_text(kept), encoding="utf-8")


def _text(kept: Mapping[str, Any]) -> str:
    """Return kept pairs as JSON with a line for each compared figure."""
    lines = ",\n".join(json.dumps(line, ensure_ascii=False, sort_keys=True) for line in kept["lines"])
    rest = (f'"{key}": {json.dumps(kept[key], ensure_ascii=False, sort_keys=True)}' for key in ("command", "host"))
    return "{\n" + ",\n".join(rest) + f',\n"settings": {json.dumps(kept["settings"])},\n"lines": [\n{lines}\n]\n}}\n'


def block(bench: Bench, kept: Mapping[str, Any]) -> str:
    """Return what was run, when and on which host, and a row for each compared figure: medians of pairs, and ranges."""
    host, settings = kept["host"], kept["settings"]
    day = strftime("%Y-%m-%d", gmtime(settings["started_unix_s"]))
    said = (
        f"Measured on {day} with {settings['dbdyno_load']}, on {host['cpus']} processors ({host['cpu']}, "
        f"load average {settings['load_average'][0]:.2f} before), pairs in alternation: {settings['pairs']}."
    )
    return f"{prose(said)}\n\n```\n{bench.command}\n```\n\n{_table(bench, kept['lines'])}"


def _table(bench: Bench, lines: list[Mapping[str, Any]]) -> str:
    chosen = [line for line in lines if line["figures"] and (not bench.measures or line["what"] in bench.measures)]
    heads = ("", "Compared", "Client and server", "dbdyno", "The other", "Median of ratios", "Lowest to highest")
    return figures_table(heads, [_row(line) for line in chosen], left=3)


def _row(line: Mapping[str, Any]) -> tuple[str, ...]:
    ours, theirs = (f"{three(median(line[side]))} {line['unit']}" if line[side] else "–" for side in ("ours", "theirs"))
    figures = line["figures"]
    middle = f"{three(median(figures))} {line['figure_unit']}"
    return (
        line["row"],
        line["what"],
        code(line["placement"]),
        ours,
        theirs,
        middle,
        f"{three(min(figures))} to {three(max(figures))}",
    )
