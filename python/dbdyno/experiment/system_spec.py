"""The systems that an experiment names: a product with settings, a URL, or an arrangement of these.

    mariadb
    mysql@5.6
    mariadb?innodb_buffer_pool_size=64M&engine=MyISAM
    cache-aside(memcached?memory=64, mariadb)
    result-cache(memcached*3?memory=64, mariadb)
    mysql://user:password@host:3306/database?socket=/path&engine=MyISAM
    mysql://user@127.0.0.1/database?pid=1234
    postgresql://user@/database?host=/var/run/postgresql
    unix://:password@/run/redis.sock?db=0

Nothing here knows which systems exist; `dbdyno.systems` does.
"""

import re
from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field, replace
from itertools import accumulate, groupby, islice, product, takewhile
from pathlib import PurePosixPath
from typing import TYPE_CHECKING, Any
from urllib.parse import SplitResult, quote, unquote, urlsplit

from dbdyno.experiment.bounds import MOST_ARRANGED, MOST_TEXT, check_variants, cut
from dbdyno.experiment.clients import NATIVE
from dbdyno.experiment.redact import REDACTED, redact
from dbdyno.experiment.toml import as_list

if TYPE_CHECKING:
    from pydantic_core import CoreSchema

    from dbdyno.experiment.variant import Variant

_NAME = re.compile(r"[a-z][a-z0-9_.-]*")
_PID = re.compile(r"[1-9][0-9]{0,9}")
_SETTING = re.compile(r"[A-Za-z][A-Za-z0-9_.-]*")


@dataclass(frozen=True)
class Url:
    """The address of somebody else's server; the password exists here, in memory, and nowhere else.

    pid: its process on this host, if the person names it.
    """

    scheme: str
    user: str | None
    password: str | None = field(repr=False)
    host: str
    port: int | None
    database: str
    socket: str | None
    pid: int | None = None


def _no_variant() -> "Variant":
    # Loaded by the first use: a list of systems has no variants, and should not wait for pydantic.
    from dbdyno.experiment.variant import Variant  # noqa: PLC0415

    return Variant()


@dataclass(frozen=True)
class SystemSpec:
    """One configuration of one system.

    name: the system (`mariadb`), the arrangement (`cache-aside`) or the scheme of the URL (`mysql`).
    version: the one asked for (`5.6` of `mysql@5.6`), or empty for the one the host has.
    settings: as the person gave them, setting to value; text, in the system's own words.
    parts: the systems an arrangement combines, else empty.
    url: where the system is, if dbdyno does not start it.
    label: its name in tables and plots; unique within a run once `with_labels` gave it.
    client: what it is driven by (`dbdyno.experiment.clients`).
    variant: the keys of the experiment that it has for itself.
    """

    name: str
    settings: Mapping[str, str] = field(default_factory=dict)
    parts: tuple["SystemSpec", ...] = ()
    url: Url | None = None
    label: str = ""
    client: str = NATIVE
    version: str = ""
    variant: "Variant" = field(default_factory=_no_variant)

    @classmethod
    def __get_pydantic_core_schema__(cls, _source: object, _handler: object) -> "CoreSchema":
        """Return the schema of an instance: `read_systems` has checked what is in it."""
        from pydantic_core import core_schema  # noqa: PLC0415

        return core_schema.is_instance_schema(cls)

    @property
    def product(self) -> str:
        """The system with the version asked for: `mysql@5.6`."""
        return f"{self.name}@{self.version}" if self.version else self.name

    @property
    def attached(self) -> bool:
        """True if any part of it is somebody else's server."""
        return self.url is not None or any(part.attached for part in self.parts)


def parse_system(text: str) -> SystemSpec:
    """Read one system as it is written in an experiment or after `--system`.

    Raises ValueError, saying what is wrong and without the password, if it is not one.
    """
    text = text.strip()
    _check_extent(text)
    if re.match(r"[^(?/]*://", text):
        return _parse_url(text)
    match = re.fullmatch(r"([^(?@\s]+)(?:@([0-9][0-9a-z.]*))?\s*(?:\((.*)\))?(?:\?([^()]*))?", text, re.DOTALL)
    if not match or not _NAME.fullmatch(match[1]):
        raise ValueError(
            f"'{cut(redact(text))}' is not a system; write name, name@version, name?setting=value&setting=value, "
            "cache-aside(cache, store) or a URL such as mysql://user@host/database"
        )
    parts = tuple(parse_system(part) for part in _parts_of(match[3])) if match[3] else ()
    return SystemSpec(match[1], _parse_settings(match[4] or ""), parts, version=match[2] or "")


def _check_extent(text: str) -> None:
    """Raise ValueError for what no configuration is as long as, or nested as deeply."""
    if len(text) > MOST_TEXT:
        raise ValueError(
            f"'{cut(redact(text[:MOST_TEXT]))}' is not a system: it has more than {MOST_TEXT:,} characters"
        )
    opened = list(accumulate({"(": 1, ")": -1}.get(character, 0) for character in text))
    if max(opened, default=0) > MOST_ARRANGED:
        raise ValueError(f"'{cut(redact(text))}' is not a system: arrangements nest at most {MOST_ARRANGED} deep")


def _parts_of(text: str) -> list[str]:
    """Return the text of each part; of `memcached*3` there are three."""
    parts: list[str] = []
    for part in _split_outside_parentheses(text):
        several = re.fullmatch(r"([^*?(]+)\*([1-9]\d?)((?:\?.*)?)", part.strip(), re.DOTALL)
        parts += [several[1] + several[3]] * int(several[2]) if several else [part]
    return parts


def _split_outside_parentheses(text: str) -> list[str]:
    """Split at the commas that are in no parentheses."""
    parts, depth = [""], 0
    for character in text:
        depth += {"(": 1, ")": -1}.get(character, 0)
        if character == "," and depth == 0:
            parts.append("")
        else:
            parts[-1] += character
    return parts


def _parse_settings(query: str) -> dict[str, str]:
    """Read `setting=value&setting=value`; a setting without a value is an option that takes none."""
    settings = {}
    for pair in filter(None, query.split("&")):
        key, _, value = pair.partition("=")
        key, value = checked_setting(unquote(key), unquote(value))
        if key in settings:
            raise ValueError(f"the setting '{key}' is given twice")
        settings[key] = value
    return settings


def checked_setting(key: str, value: str) -> tuple[str, str]:
    """Return a setting; raises ValueError for one that a server could take for something else, or for several."""
    if not _SETTING.fullmatch(key):
        raise ValueError(f"{cut(repr(key))} is not a setting: its name has letters, digits, '_', '-' and '.'")
    if len(value) > MOST_TEXT:
        raise ValueError(f"{key} = {cut(repr(value))}: a setting has at most {MOST_TEXT:,} characters")
    if not value.isprintable():
        raise ValueError(f"{key} = {cut(repr(value))}: a setting has no line breaks and no control characters")
    return key, value


def _parse_url(text: str) -> SystemSpec:
    try:
        parts = urlsplit(text)
    except ValueError:
        raise ValueError(_no_url(text)) from None
    port = _port_of(text, parts)
    settings = _parse_settings(parts.query)
    scheme, database = parts.scheme, unquote(parts.path.strip("/"))
    socket, pid = settings.pop("socket", None), settings.pop("pid", None)
    if pid is not None and not _PID.fullmatch(pid):
        raise ValueError(f"'{cut(redact(text))}': pid={cut(pid)} is not a process ID")
    if scheme == "postgresql" and settings.get("host", "").startswith("/"):
        # libpq's way to say it: the socket's directory, in which it is named after the port.
        socket = f"{settings.pop('host').rstrip('/')}/.s.PGSQL.{port or 5432}"
    if scheme == "unix":
        # redis-py's.
        scheme, socket, database = "redis", unquote(parts.path), settings.pop("db", "")
    url = Url(
        scheme,
        unquote(parts.username) if parts.username else None,
        unquote(parts.password) if parts.password else None,
        parts.hostname or "127.0.0.1",
        port,
        database,
        socket,
        int(pid) if pid else None,
    )
    for part in (scheme, url.user, url.host, database, socket):
        if not (part or "").isprintable():
            raise ValueError(f"'{cut(redact(text))}': a URL has no line breaks and no control characters")
    try:
        url.host.encode("idna")
    except UnicodeError:
        raise ValueError(f"'{cut(redact(text))}': {cut(url.host)} is not a host name") from None
    return SystemSpec(scheme, settings, url=url)


def _port_of(text: str, parts: SplitResult) -> int | None:
    """Return the port of a URL, or None if it has none; raises ValueError if it is none."""
    with suppress(ValueError):
        if parts.port != 0:
            return parts.port
    if "@" in text.partition(parts.netloc)[2]:
        # The apparent port is the beginning of a password with a '/' or '?' in it.
        raise ValueError(_no_url(text))
    written = parts.netloc.rpartition("@")[2].rpartition(":")[2]
    raise ValueError(f"'{cut(redact(text))}': '{cut(written)}' is not a port: give a number from 1 to 65,535")


def _no_url(text: str) -> str:
    # A sign that ends a password must not follow: what goes before it would be taken for one, and left out (`redact`).
    return (
        f"'{cut(redact(text))}' is not a URL: write scheme://host:port/database, with an IPv6 address in brackets; "
        "the signs of a URL in a password are %2F for /, %3F for ?, %3A for : and %40 for the at sign"
    )


def format_system(spec: SystemSpec) -> str:
    """Write a system so that `parse_system` reads it again, but for its password, which becomes `***`."""
    settings = dict(spec.settings)
    if spec.url:
        text = f"{spec.url.scheme}://{_format_user(spec.url)}{_place(spec.url)}"
        settings |= {"socket": spec.url.socket} if spec.url.socket else {}
        settings |= {"pid": str(spec.url.pid)} if spec.url.pid else {}
    else:
        text = spec.product + (f"({', '.join(map(format_system, spec.parts))})" if spec.parts else "")
    pairs = [f"{_escape(key)}={_escape(value)}" if value else _escape(key) for key, value in settings.items()]
    return text + ("?" + "&".join(pairs) if pairs else "")


def _escape(text: str) -> str:
    return quote(text, safe="/:.+ ")


def _format_user(url: Url) -> str:
    if url.password:
        return f"{_escape(url.user or '')}:{REDACTED}@"
    return f"{_escape(url.user)}@" if url.user else ""


def _place(url: Url) -> str:
    host = f"[{url.host}]" if ":" in url.host else url.host
    port = f":{url.port}" if url.port else ""
    return host + port + (f"/{_escape(url.database)}" if url.database else "")


def with_labels(specs: list[SystemSpec]) -> list[SystemSpec]:
    """Give every system the label it has in tables and plots, unique within the run.

    It is the given label, else the name. If systems share a name, the settings that differ are added, and behind a
    comma the keys of their variants: `mariadb, rows 1M`. A path adds only the folders that differ.
    Raises ValueError if two are the same configuration or were given the same label.
    """
    names = [spec.label or bare_name(spec) for spec in specs]
    settings = _short_paths(_telling([_settings_words(spec) for spec in specs], names), names)
    keys = [tuple(f"{key} {value}" for key, value in spec.variant.words.items()) for spec in specs]
    variants = _telling(keys, names)
    labels = [
        ", ".join([" ".join([name, *words]), *variant])
        for name, words, variant in zip(names, settings, variants, strict=True)
    ]
    for label in labels:
        if labels.count(label) > 1:
            raise ValueError(f"two systems have the label '{label}'; leave one out, or give each its own label")
    return [replace(spec, label=label) for spec, label in zip(specs, labels, strict=True)]


def _telling(words: list[tuple[str, ...]], names: list[str]) -> list[list[str]]:
    """Return the words of each system that not all systems of its name have."""
    common: dict[str, set[str]] = {}
    for own, name in zip(words, names, strict=True):
        common[name] = common.get(name, set(own)) & set(own)
    return [[word for word in own if word not in common[name]] for own, name in zip(words, names, strict=True)]


def _short_paths(words: list[list[str]], names: list[str]) -> list[list[str]]:
    """Return the words with paths cut to what tells them apart: `binary=a` of `binary=/builds/a/redis-server`."""
    paths: dict[tuple[str, str], set[str]] = {}
    for own, name in zip(words, names, strict=True):
        for key, _, value in (word.partition("=") for word in own):
            paths.setdefault((name, key), set()).add(value)
    short = {of: _telling_folders(values) for of, values in paths.items() if all("/" in value for value in values)}
    return [
        [_with_value(word, short.get((name, word.partition("=")[0]), {})) for word in own]
        for own, name in zip(words, names, strict=True)
    ]


def _with_value(word: str, values: Mapping[str, str]) -> str:
    """Return a setting with what stands for its value; the same if nothing does."""
    key, is_set, value = word.partition("=")
    return f"{key}{is_set}{values.get(value, value)}"


def _telling_folders(paths: set[str]) -> dict[str, str]:
    """Return each path without the folders that all begin with and end in; a single path stays whole."""
    parts = {path: PurePosixPath(path).parts for path in paths}
    if len(paths) < 2:
        return {path: path for path in paths}
    most = min(map(len, parts.values())) - 1
    begin = _common(parts.values(), most)
    end = _common((own[::-1] for own in parts.values()), most - begin)
    return {path: str(PurePosixPath(*own[begin : len(own) - end])) for path, own in parts.items()}


def _common(sequences: Iterable[tuple[str, ...]], most: int) -> int:
    """Return how many parts all sequences begin with, `most` of them at most."""
    columns = islice(zip(*sequences, strict=False), most)
    return sum(1 for _ in takewhile(lambda column: len(set(column)) == 1, columns))


def with_settings(spec: SystemSpec, settings: Mapping[str, str]) -> SystemSpec:
    """Return a system with more settings; `PART.SETTING` is one of each part of that name of an arrangement."""
    names = {part.name for part in spec.parts}
    split = {key: key.partition(".") for key in settings}
    own = {key: value for key, value in settings.items() if split[key][0] not in names}
    parts = tuple(
        with_settings(part, {split[key][2]: settings[key] for key in settings if split[key][0] == part.name})
        for part in spec.parts
    )
    return replace(spec, settings={**spec.settings, **own}, parts=parts)


def bare_name(spec: SystemSpec) -> str:
    """Return what a system is, without its settings, user and password: `result-cache(memcached*3, mariadb)`."""
    if spec.url:
        return f"{spec.url.scheme}://{spec.url.socket or _place(spec.url)}"
    counted = [(name, len(list(equal))) for name, equal in groupby(map(bare_name, spec.parts))]
    parts = ", ".join(f"{name}*{count}" if count > 1 else name for name, count in counted)
    return spec.product + (f"({parts})" if parts else "")


def _settings_words(spec: SystemSpec) -> tuple[str, ...]:
    """Return the settings as words, those of an arrangement's parts with the part's name, each once."""
    named = [("", spec), *((f"{part.name}.", part) for part in spec.parts)]
    words = (
        f"{prefix}{key}={value}" if value else f"{prefix}{key}"
        for prefix, part in named
        for key, value in part.settings.items()
    )
    return tuple(dict.fromkeys(words))


def read_systems(value: Any) -> list[SystemSpec]:
    """Read the key `system`: text, a table, or a list of these; raises ValueError for anything else."""
    return with_labels([spec for entry in as_list(value) for spec in _read_system(entry)])


def _read_system(entry: Any) -> list[SystemSpec]:
    """Read a string or a table; a table whose settings hold lists is one system for each combination of them."""
    if isinstance(entry, str):
        return [parse_system(entry)]
    if not isinstance(entry, dict) or not isinstance(entry.get("system"), str):
        raise ValueError(
            'a system is a string such as "mariadb", or a table: {system = "mariadb", settings = {…}, label = "…"}'
        )
    if unknown := set(entry) - {"system", "settings", "label", "with"}:
        raise ValueError(f"a system has no key '{unknown.pop()}'; it has system, settings, label, with and scale")
    from dbdyno.experiment.variant import read_variant  # noqa: PLC0415

    spec = replace(parse_system(entry["system"]), variant=read_variant(entry.get("with", {})))
    table = entry.get("settings", {})
    if not isinstance(table, dict):
        raise ValueError('settings is a table, e.g. settings = {innodb_buffer_pool_size = ["64M", "256M"]}')
    label = entry.get("label", "")
    if not isinstance(label, str) or not label.isprintable():
        raise ValueError(f"label = {cut(repr(label))}: give text in one line")
    choices = [[(key, _setting(key, value)) for value in as_list(values)] for key, values in table.items()]
    check_variants(f"settings of '{entry['system']}'", choices)
    return [with_settings(replace(spec, label=label), dict(chosen)) for chosen in product(*choices)]


def _setting(key: str, value: Any) -> str:
    if isinstance(value, bool) or not isinstance(value, str | int | float):
        raise ValueError(f'setting {key}: write the value as the system does, e.g. {key} = "on" or {key} = 1')
    return checked_setting(key, str(value))[1]
