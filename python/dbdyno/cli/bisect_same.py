"""Refuses a search whose good and bad build are the same program: its command builds no commit."""

from collections.abc import Sequence
from dataclasses import replace

from dbdyno.cli.bisect_builds import COMMIT
from dbdyno.errors import UserError
from dbdyno.experiment.system_spec import SystemSpec, parse_system, with_labels
from dbdyno.systems import PARTS, build, class_of


def refuse_same_build(good: str, bad: str, titles: Sequence[str]) -> None:
    """Raise UserError if two systems are the same programs with the same settings, whatever their paths are.

    titles: of the good and the bad build.
    """
    content = _content(good)
    if content != _content(bad):
        return
    sums = ", ".join(f"{name} {program[:12]}" for name, (program, _) in content[1].items() if program)
    raise UserError(
        f"{titles[0]} and {titles[1]} are the same build{f' (SHA-256: {sums})' if sums else ''}; "
        f"a --build command must build the {COMMIT} that it is given"
    )


def _content(text: str) -> tuple[SystemSpec, dict[str, tuple[str | None, str | None]]]:
    """Return a system without its paths, and the sums of each server's program and configuration file."""
    (spec,) = with_labels([parse_system(text)])
    sums = {}
    for name, origin in build(spec).origins().items():
        program, config = origin.get("build"), origin.get("config")
        sums[name] = (program["sha256"] if program else None, config["sha256"] if config else None)
    return _without_paths(spec), sums


def _without_paths(spec: SystemSpec) -> SystemSpec:
    layout = (PARTS.get(spec.name) or class_of(spec)).layout
    placing = layout.settings if layout else frozenset()
    settings = {key: value for key, value in spec.settings.items() if key not in placing}
    return replace(spec, settings=settings, parts=tuple(map(_without_paths, spec.parts)), label="")
