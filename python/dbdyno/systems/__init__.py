"""Systems under test: one folder for each family, and here all of them by name."""

from dataclasses import replace

from dbdyno.errors import UserError, did_you_mean
from dbdyno.experiment.system_spec import SystemSpec
from dbdyno.systems import (
    analytic,
    arrangements,
    cassandra,
    embedded,
    memcached,
    mongodb,
    mysql,
    postgresql,
    redis,
    tokyotyrant,
)
from dbdyno.systems.base import System
from dbdyno.systems.foreign_server import asked_in_child
from dbdyno.systems.packages.cache import installed
from dbdyno.systems.packages.catalogue import find_package
from dbdyno.systems.packages.package import Package

_FOLDERS = (mysql, postgresql, memcached, redis, mongodb, tokyotyrant, cassandra, embedded, analytic, arrangements)
_FAMILIES = tuple(folder.FAMILY for folder in _FOLDERS)
SYSTEMS: dict[str, type[System]] = {system.name: system for family in _FAMILIES for system in family.systems}
"""The systems that dbdyno can start, by name."""
ATTACHED: dict[str, type[System]] = {
    scheme: asked
    for family in _FAMILIES
    for system in family.attached
    for asked in [asked_in_child(system)]
    for scheme in system.schemes
}
"""The systems that dbdyno can attach to, by the scheme of their URL."""
PARTS: dict[str, type[System]] = {part.name: part for family in _FAMILIES for part in family.parts}
"""The systems that there are in arrangements only, by name."""
ARRANGEMENTS = tuple(system for system in SYSTEMS.values() if system.takes_parts)
"""The systems that are made of parts."""
_VARIANTS = tuple(system for family in _FAMILIES for system in family.variants)


def class_of(spec: SystemSpec) -> type[System]:
    """Return the system that a configuration names; raises UserError if there is none."""
    known = ATTACHED if spec.url else SYSTEMS
    system = known.get(spec.name)
    if system is None:
        kind = "URL scheme" if spec.url else "system"
        raise UserError(
            f"there is no {kind} '{spec.name}'{did_you_mean(spec.name, known)} There are {', '.join(known)}."
        )
    return next((variant for variant in _VARIANTS if variant.serves(spec)), system)


def build(spec: SystemSpec) -> System:
    """Return the system of a configuration, not started; raises UserError if there is none or it cannot be so."""
    if not spec.url and spec.name in PARTS:
        raise UserError(f"{spec.label}: '{spec.name}' stores nothing by itself: {PARTS[spec.name].what}")
    system = class_of(spec)
    if spec.version:
        find_package(spec.product)
    if system.takes_parts:
        return system.made_of(spec, [_build_part(part) for part in _labelled(spec)])
    if spec.parts:
        raise UserError(
            f"{spec.label}: '{spec.name}' is not an arrangement; {', '.join(known.name for known in ARRANGEMENTS)} are"
        )
    return system(spec)


def _build_part(spec: SystemSpec) -> System:
    """Return a system of an arrangement."""
    return build(spec) if spec.url or spec.name not in PARTS else PARTS[spec.name](spec)


def _of_host(spec: SystemSpec) -> type[System]:
    """Return the system, or the part of an arrangement, that a configuration without a URL names."""
    return (SYSTEMS | PARTS)[spec.name]


def sized(spec: SystemSpec, data_bytes: int | None) -> SystemSpec:
    """Return a configuration in which a share of the data, such as `memory=25%`, is what the server takes.

    data_bytes: of the rows' values, or None if that is not known. Raises UserError for a share of that.
    """
    system = None if spec.url else SYSTEMS.get(spec.name)
    room = system.room if system else {}
    shares = {key: value for key, value in spec.settings.items() if key in room and value.endswith("%")}
    if shares and data_bytes is None:
        key, value = next(iter(shares.items()))
        raise UserError(
            f"{spec.label}: {key} = '{value}': the size of this workload's rows is unknown; give a size in bytes"
        )
    try:
        given = {key: room[key].setting(value, data_bytes or 0) for key, value in shares.items()}
    except ValueError:
        raise UserError(f"{spec.label}: give a share of the data as in 25%, not {', '.join(shares.values())}") from None
    parts = tuple(sized(part, data_bytes) for part in _labelled(spec))
    return replace(spec, settings={**spec.settings, **given}, parts=parts)


def _labelled(spec: SystemSpec) -> list[SystemSpec]:
    return [replace(part, label=spec.label) for part in spec.parts]


def missing(spec: SystemSpec) -> str | None:
    """Return what a configuration needs that is not installed, and how to get it; None if everything is there."""
    if spec.url:
        return None
    of_host = _of_host(spec)
    own = missing_version(spec) if spec.version else _missing_here(of_host, spec)
    reasons = [own, *(missing(part) for part in spec.parts)]
    return "; ".join(filter(None, reasons)) or None


def _missing_here(system: type[System], spec: SystemSpec) -> str | None:
    # A build with a path was checked when the system was built.
    return None if system.path_of(spec) else system.missing() or system.missing_for(spec.settings)


def missing_packages(spec: SystemSpec) -> list[Package]:
    """Return the packages that a configuration needs and that are not installed; what the host is to have is none."""
    if spec.url:
        return []
    system = _of_host(spec)
    name = spec.product if spec.version else None if system.path_of(spec) else system.package
    own = [find_package(name)] if name else []
    every = [
        *(package for package in own if not installed(package)),
        *(package for part in spec.parts for package in missing_packages(part)),
    ]
    return list(dict.fromkeys(every))


def missing_version(spec: SystemSpec) -> str | None:
    """Return that the version a configuration asks for is not installed, and how to get it; None if it is."""
    package = find_package(spec.product)
    return None if installed(package) else f"{package.name} is not installed: {package.how_to_get_it}"
