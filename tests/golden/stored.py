"""The recorded runs, and what is computed from each of them."""

from __future__ import annotations

import json
import math
import platform
import re
import tarfile
from collections.abc import Iterator
from io import BytesIO, StringIO
from pathlib import Path
from typing import Any

from rich.console import Console

from dbdyno.conduct.plan import make_trial_plan
from dbdyno.conduct.resolve import driven
from dbdyno.experiment.read import read_experiment
from dbdyno.experiment.system_spec import bare_name
from dbdyno.experiment.trials import expand
from dbdyno.report.core.recordings import recordings_of
from dbdyno.report.details import print_details
from dbdyno.report.document import document, json_document
from dbdyno.report.html import render
from dbdyno.report.summary import Places, print_summary
from dbdyno.results.read import read_run
from dbdyno.results.write import write_object
from dbdyno.verdict.judge import judge

HERE = Path(__file__).parent
RUNS, EXPECTED = HERE / "runs", HERE / "expected"
SUMMARY_WIDTH, DETAILS_WIDTH = 80, 100
TOLERANCE = 1e-9
"""Other versions of numpy add floats in another order."""

_LEFT_OUT = re.compile(r"report\.html|summary\.npz|\.svg$|\.log$|^ceilings/|^confirmations/|^read-back/")
"""Files that are derived from others, or that nothing reads."""
_OWN = (
    (rb"(?: --out /[^ \"]+)|(?: --quiet)", b""),
    (rb"(?:/[\w.+-]+)+/(dbdyno-[\w.+-]+|data|runs)\b", rb"DIR/\1"),
    (rb'"host": "[^"]*"', b'"host": "bench-1"'),
    (rb'"%s((?:-slow)?\.log)?"' % re.escape(platform.node()).encode(), rb'"bench-1\1"'),
    (rb'"kernel": "[^"]*"', b'"kernel": "6.1.0-28-amd64"'),
    (rb'"system": "Linux-[^"]*"', b'"system": "6.1.0-28-amd64"'),
)
"""Values of one machine, and their replacements."""


def names() -> list[str]:
    """The names of the recorded runs."""
    return sorted(path.name.removesuffix(".tar.xz") for path in RUNS.glob("*.tar.xz"))


def pack(name: str, folder: Path) -> None:
    """Keep a run's folder as a golden one, without what is one machine's own."""
    with tarfile.open(RUNS / f"{name}.tar.xz", "w:xz") as archive:
        for path in sorted(folder.rglob("*")):
            inside = path.relative_to(folder).as_posix()
            if path.is_file() and not _LEFT_OUT.search(inside):
                _add(archive, f"{name}/{inside}", path.read_bytes())


def _add(archive: tarfile.TarFile, inside: str, content: bytes) -> None:
    if not inside.endswith((".parquet", ".bin")):
        for pattern, instead in _OWN:
            content = re.sub(pattern, instead, content)
    member = tarfile.TarInfo(inside)
    member.size = len(content)
    archive.addfile(member, BytesIO(content))


def extract(name: str, into: Path) -> None:
    """Unpack a recorded run as it was stored."""
    # Python has the filter since 3.11.4.
    filters = {"filter": "data"} if hasattr(tarfile, "data_filter") else {}
    with tarfile.open(RUNS / f"{name}.tar.xz") as archive:
        archive.extractall(into, **filters)


def unpack(name: str, into: Path) -> Path:
    """Unpack a recorded run and return its folder."""
    extract(name, into)
    _name_systems(into / name)
    return into / name


def _name_systems(folder: Path) -> None:
    """Put in the names of the systems: the kept files have the host's in their place."""
    experiment = read_experiment(str(folder / "experiment.toml")).experiment
    by_label = {spec.label: bare_name(spec) for spec in driven(experiment)}
    for file in (*folder.glob("trials/*/trial.json"), *folder.glob("preparations/*/preparation.json")):
        about = json.loads(file.read_text(encoding="utf-8"))
        if about.get("system") is not None:
            write_object(file, about | {"system": by_label[about["label"]]})


def page_of(folder: Path) -> str:
    """Return the HTML report of a run."""
    run = read_run(folder)
    return render(document(run), recordings_of(run))


def said_of(folder: Path) -> dict[str, str]:
    """Return what dbdyno says of a run, by the name of the file that holds it.

    `show.json`: `dbdyno show --json`. `summary.txt`: `dbdyno show`. `details.txt`: `dbdyno show --details`.
    `verdicts.json`: the verdicts, drawn anew from the recordings. `plan.json`: what the load client would be given,
    from `experiment.toml`.
    """
    run = read_run(folder)
    summary, details = (
        Console(file=StringIO(), width=width, highlight=False) for width in (SUMMARY_WIDTH, DETAILS_WIDTH)
    )
    print_summary(run, Places(folder.name, "report.html"), summary)
    print_details(run, details)
    return {
        "show.json": _json(json_document(run)),
        "summary.txt": _text(summary),
        "details.txt": _text(details),
        "verdicts.json": _json({trial.name: judge(trial).document() for trial in run.trials if trial.about}),
        "plan.json": _json(_plans(folder)),
    }


def _text(console: Console) -> str:
    return "\n".join(line.rstrip() for line in console.file.getvalue().splitlines()) + "\n"  # type: ignore[attr-defined]


def _json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, indent=1) + "\n"


def _plans(folder: Path) -> dict[str, Any]:
    experiment = read_experiment(str(folder / "experiment.toml")).experiment
    trials = [trial for preparation in expand(experiment, driven(experiment)) for trial in preparation.trials]
    # The rate of a share of capacity is not known before the run.
    planned = [trial for trial in trials if trial.rate is None or trial.rate.per_s]
    return {trial.name: make_trial_plan(experiment, "golden", {}, trial).document() for trial in planned}


def expected(name: str, file: str) -> str:
    """Return what was said of a run when that was last accepted."""
    return (EXPECTED / name / file).read_text(encoding="utf-8")


def update(name: str, folder: Path) -> None:
    """Accept what is said of a run now."""
    for file, text in said_of(folder).items():
        (EXPECTED / name).mkdir(parents=True, exist_ok=True)
        (EXPECTED / name / file).write_text(text, encoding="utf-8")


def differences(was: Any, now: Any, path: str = "") -> Iterator[str]:
    """Yield where two JSON values differ."""
    if isinstance(was, dict) and isinstance(now, dict):
        for key in was.keys() | now.keys():
            if key not in was or key not in now:
                yield f"{path}.{key}: {'new' if key not in was else 'gone'}"
            else:
                yield from differences(was[key], now[key], f"{path}.{key}")
    elif isinstance(was, list) and isinstance(now, list) and len(was) == len(now):
        for index, (one_was, one_now) in enumerate(zip(was, now, strict=True)):
            yield from differences(one_was, one_now, f"{path}[{index}]")
    elif type(was) is float and type(now) is float:
        if not math.isclose(was, now, rel_tol=TOLERANCE, abs_tol=TOLERANCE):
            yield f"{path}: {was!r} became {now!r}"
    elif was != now or type(was) is not type(now):
        yield f"{path}: {was!r} became {now!r}"
