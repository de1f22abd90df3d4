"""The fairness card: what a reader must know before comparing a result (docs/statistics.md, section 7).

Every line comes from the run's own recordings. A fact that they lack is stated as not seen.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from dbdyno.results.operations import write_commits
from dbdyno.results.read import processes_of_store

if TYPE_CHECKING:
    from dbdyno.results.facts import TrialFacts
    from dbdyno.results.model import Run, Trial

FLUSHED = frozenset({"D2", "D3"})
BRIEF_SETTINGS = 6
"""Settings named if there is little room; dbdyno gives a store of Java fifty."""
SUM_CHARACTERS = 12
"""Characters of a sum or a build id: enough to tell builds apart."""
FROM_DISK_BYTES = 1024.0
"""Transactions that read this much from the disk on average do not live in memory: it is a page in every fourth."""
FROM_DISK_BYTES_PER_S = 1 << 18
"""And all of them together this much: two transactions a second can seem to read what the server reads anyway."""
QUICK_FLUSH_S = 50e-6
"""No medium keeps what it was given in less. A device that says so has a protected cache, or does not flush."""
FLUSHES_OF_COMMITS = 0.5
"""With fewer flushes than this share of the fewest that group commit allows, some did not reach the device."""
NOT_SEEN = "not observed"
_OF_ITS_PLACE = re.compile(r"\b(?:DIR|PORT|127\.0\.0\.1)\b|…")
"""Addresses and folders: no figure depends on these settings. Passwords are not repeated either."""
_CACHES = re.compile(r"(buffer_pool_size|buffers|buffer_size|cache_size(_kib)?|maxmemory|maxbytes|map_size(_bytes)?)$")
"""The ends of the names of settings that size what a store keeps in memory."""


@dataclass(frozen=True, slots=True)
class Line:
    """One line of the card.

    Attributes:
        brief: the same in two or three words, for a terminal; empty if the text of others says enough.
        badge: a few words that stand beside the system wherever it is ranked, or `None`.
    """

    name: str
    text: str
    brief: str = ""
    badge: str | None = None


@dataclass(frozen=True, slots=True)
class SystemCard:
    """The card of one system, in its trials of one run."""

    label: str
    lines: tuple[Line, ...]

    @property
    def badges(self) -> tuple[str, ...]:
        """Reasons why its figures mean less than they seem to."""
        return tuple(line.badge for line in self.lines if line.badge)


@dataclass(frozen=True, slots=True)
class Card:
    """The card of a run.

    Attributes:
        command: what repeats it, or `None` if that was not recorded.
        badge: of a ranking across durability classes, or `None` if all systems have the same.
        not_seen: what could not be observed, each with the reason.
    """

    command: str | None
    badge: str | None
    systems: tuple[SystemCard, ...]
    not_seen: tuple[str, ...]


def card(run: Run) -> Card:
    """Return the fairness card of a run; systems of which no trial was reached have none."""
    by_label: dict[str, list[Trial]] = {}
    for trial in run.trials:
        if trial.system is not None:
            by_label.setdefault(trial.label, []).append(trial)
    systems = tuple(SystemCard(label, tuple(_lines(trials, run))) for label, trials in by_label.items())
    classes = {trial.facts.promised.level for trials in by_label.values() for trial in trials}
    badge = f"not like with like: {', '.join(sorted(classes))}" if len(classes) > 1 else None
    return Card(run.facts.command, badge, systems, tuple(_not_seen(by_label)))


def _lines(trials: Sequence[Trial], run: Run) -> Iterator[Line]:
    first = trials[0]
    yield Line("versions", _versions(first, run))
    yield from _builds(first)
    yield _settings(first)
    yield from _configs(first)
    yield from _started_with(first)
    yield from _not_readable(first)
    yield _memory(trials)
    durability = first.facts.promised
    yield Line("durability", f"{durability.level}: {durability.reason or 'no reason known'}")
    yield _flushes(trials)
    yield _temperature(first, run)
    hosts = _place(first)
    yield Line("place", hosts, hosts.split(":")[0].split(", client")[0])
    yield _answers(trials)


def _versions(trial: Trial, run: Run) -> str:
    hello = trial.recorded.hello
    name = hello.get("program", "load client") if hello else "load client"
    version = hello.get("version", "of unknown version") if hello else "of unknown version"
    program = f"{name} {version}"
    servers = [f"{server.name} {server.version or f'built into {program}'}" for server in trial.facts.known_servers]
    return ", ".join([*(servers or ["server of unknown version"]), program, f"dbdyno {run.facts.dbdyno or '?'}"])


def _builds(trial: Trial) -> Iterator[Line]:
    """Yield the builds that were started from a path: two can state the same version."""
    for (_, build), text in zip(_stated_builds(trial), builds_of(trial), strict=True):
        yield Line("build", text, f"build {build.get('path')}")


def builds_of(trial: Trial) -> list[str]:
    """Return the builds that a path named, in words: version, path, sum and build id."""
    return [
        f"{name} {build.get('version')} from {build.get('path')}, sha256 {sha256}, build id {own}"
        for name, build in _stated_builds(trial)
        for sha256, own in [(_short_sum(build.get("sha256")), _short_sum(build.get("build_id")))]
    ]


def _stated_builds(trial: Trial) -> list[tuple[str, Mapping[str, object]]]:
    """Return what each build states, with its server, `client` or `client: C library`."""
    builds: list[tuple[str, Mapping[str, object]]] = [
        (server.name, server.build) for server in trial.facts.known_servers if server.build
    ]
    if client := trial.facts.client_build:
        builds.append(("client: C library" if client.get("setting") == "library" else "client", client))
    return builds


def _short_sum(text: object) -> str:
    return str(text)[:SUM_CHARACTERS] if text else "none"


def _settings(trial: Trial) -> Line:
    # A build and a file of settings have lines of their own.
    has_file = any(server.config for server in trial.facts.known_servers)
    given = {
        key: value
        for key, value in trial.facts.settings_but_builds.items()
        if not (has_file and key.rpartition(".")[2] == "config")
    }
    if limit := trial.facts.memory_limit_bytes:
        given["memory limit"] = f"{limit:,} bytes"
    if not given and trial.facts.attached:
        return Line("settings", "the owner's: dbdyno gave none", "owner's settings")
    if not given:
        return Line("settings", "default: the experiment gave none", "default settings")
    text = "tuned: " + ", ".join(f"{key} = {value}" for key, value in given.items())
    return Line("settings", text, text)


def _configs(trial: Trial) -> Iterator[Line]:
    """The settings of the user's configuration files."""
    for config in (server.config for server in trial.facts.known_servers if server.config):
        settings = ", ".join(f"{key} = {value}" if value else key for key, value in config["settings"].items())
        text = f"{config['path']}, sha256 {_short_sum(config['sha256'])}: {settings or 'nothing'}"
        yield Line("config", text, f"config {Path(config['path']).name}")


def _started_with(trial: Trial) -> Iterator[Line]:
    """Settings that dbdyno itself gave the servers it started, beside the experiment's: they are no defaults."""
    started_with = {server.name: server.started_with for server in trial.facts.known_servers}
    known = {name: settings for name, settings in started_with.items() if settings}
    if not known:
        return
    given = {_key(key.rpartition(".")[2]) for key in trial.facts.settings or ()}
    given |= {_key(key) for server in trial.facts.known_servers for key in (server.config or {}).get("settings", ())}
    own = [setting for settings in known.values() for setting in settings if not _OF_ITS_PLACE.search(setting)]
    own = [setting for setting in own if _key(setting) not in given]
    text = "; ".join(f"{name}: {', '.join(settings)}" for name, settings in known.items())
    more = [f"{len(own) - BRIEF_SETTINGS} more"] if len(own) > BRIEF_SETTINGS else []
    yield Line("started with", text, f"dbdyno set {', '.join([*own[:BRIEF_SETTINGS], *more])}" if own else "")


def _not_readable(trial: Trial) -> Iterator[Line]:
    """Settings that were given to an embedded store's library without an error, and that it shows nobody."""
    for server in trial.facts.known_servers:
        if hidden := server.not_readable:
            yield Line("not readable", f"{', '.join(hidden)}: taken without an error, not shown by {server.name}")


def _key(setting: str) -> str:
    """The name of the setting in an option, however that is written: `--max-connections=9`, `-c max_connections=9`."""
    words = setting.removeprefix("-c ").lstrip("-").replace("=", " ").split()
    return words[0].replace("-", "_") if words else ""


def _memory(trials: Sequence[Trial]) -> Line:
    """Return whether the data is larger than the cache, judged by what was read from the disk while measuring."""
    caches = ", ".join(_caches(trials[0].facts)) or "size of its cache not known"
    read = [size_bytes for trial in trials if (size_bytes := _read_bytes_per_transaction(trial)) is not None]
    if not read:
        return Line("memory", f"whether the data fits the cache was {NOT_SEEN} ({caches})", f"cache {NOT_SEEN}")
    least, most = min(read), max(read)
    if least >= FROM_DISK_BYTES:
        text = f"data larger than the cache: {least:,.0f} bytes or more read from disk a transaction ({caches})"
        return Line("memory", text, "data larger than the cache")
    filled = f"up to {most:,.0f} bytes read from disk a transaction, while the cache was being filled"
    figure = filled if most >= FROM_DISK_BYTES else "almost nothing was read from disk"
    return Line("memory", f"data smaller than the cache: {figure} ({caches})", "data smaller than the cache")


def _caches(facts: TrialFacts) -> Iterator[str]:
    for server in facts.known_servers:
        for key, value in (server.effective_settings or {}).items():
            if _CACHES.search(key) and str(value) != "0":
                yield f"{key} {value}"


def _read_bytes_per_transaction(trial: Trial) -> float | None:
    rate = trial.recorded.throughput_per_s
    read = [trial.observed.get(f"process.{name}.read_bytes_total") for name in processes_of_store(trial)]
    known = [value for value in read if value is not None]
    if not known or not rate:
        return None
    return sum(known) / rate if sum(known) >= FROM_DISK_BYTES_PER_S else 0.0


def _flushes(trials: Sequence[Trial]) -> Line:
    """Return whether what was acknowledged as flushed can have been: "lying flush"."""
    flushed = [trial for trial in trials if trial.facts.promised.level in FLUSHED]
    commits = [(trial, _write_commits_per_s(trial)) for trial in flushed]
    writing = [(trial, per_s) for trial, per_s in commits if per_s is None or per_s > 0]
    if not writing:
        return Line("flushes", "no write had to wait for a flush")
    writing.sort(key=lambda write: write[1] is None)
    judged = [line for trial, per_s in writing if (line := _flushed(trial, per_s))]
    return next((line for line in judged if line.badge), judged[0] if judged else _unseen_flushes())


def _unseen_flushes() -> Line:
    return Line("flushes", f"whether flushes reach the device was {NOT_SEEN}", f"flushes {NOT_SEEN}")


def _write_commits_per_s(trial: Trial) -> float | None:
    commits, seconds = write_commits(trial.recorded.operations), trial.recorded.seconds
    return None if commits is None else commits / seconds if seconds else 0.0


def _flushed(trial: Trial, commits_per_s: float | None) -> Line | None:
    """Flushes seen on the device; if the commits that wrote are unknown, judged by the time of flushes alone."""
    per_s, spent_s = _flushes_of_device(trial.observed)
    if per_s is None:
        return None
    least = (commits_per_s or 0.0) / max(1, trial.facts.transactions_in_flight)
    if per_s < FLUSHES_OF_COMMITS * least:
        text = (
            f"the device received {per_s:,.1f} flushes/s, but group commit needs at least {least:,.1f}/s: "
            "the device says that it needs none, or flushes do not reach it"
        )
        return Line("flushes", text, "flush in doubt", "flush in doubt")
    mean_s = spent_s / per_s if spent_s is not None and per_s else None
    if mean_s is not None and mean_s < QUICK_FLUSH_S:
        text = f"a flush took {mean_s * 1e6:,.0f} µs: a protected cache, or a device that lies"
        return Line("flushes", text, "flush in doubt", "flush in doubt")
    took = "" if mean_s is None else f", {mean_s * 1e6:,.0f} µs each"
    if commits_per_s is None:
        text = f"not judged: which commits wrote is unknown; {per_s:,.1f}/s reached the device{took}"
        return Line("flushes", text, "flushes not judged")
    return Line("flushes", f"{per_s:,.0f}/s reached the device{took}")


def _flushes_of_device(observed: Mapping[str, float]) -> tuple[float | None, float | None]:
    """How many flushes a second the device had that had most, and how long these took together."""
    ending = ".flushes_total"
    counts = {key: value for key, value in observed.items() if key.startswith("disk.") and key.endswith(ending)}
    if not counts:
        return None, None
    most = max(counts, key=lambda key: counts[key])
    return counts[most], observed.get(most.removesuffix(ending) + ".flush_s_total")


def _temperature(trial: Trial, run: Run) -> Line:
    if analysis := trial.facts.analysis:
        both = f"{trial.facts.cache_state or 'as it was'}, then hot"
        return Line("temperature", f"each query {both}: {analysis['cold']}", both)
    preparation = run.preparations.get(str(trial.facts.preparation))
    state = preparation.facts.cache_state if preparation else None
    warmup_s = trial.facts.warmup_seconds or 0
    warmed = f"{warmup_s:g} s of warm-up before" if warmup_s else "no warm-up before"
    if trial.facts.warmup == "auto":
        warmed = "warmed up until its steady state"
    restored = preparation is not None and preparation.facts.data == "restored"
    how = "on a copy of the loaded data" if restored else "as loading left it"
    return Line("temperature", f"{state or NOT_SEEN}: {how}, {warmed}", state or f"cold or hot {NOT_SEEN}")


def _place(trial: Trial) -> str:
    facts = trial.facts
    if facts.hosts:
        clients, servers = (
            ", ".join(host["name"] for host in hosts) for hosts in (facts.client_hosts, facts.server_hosts)
        )
        return f"clients on {clients}, server on {servers or 'a host that was not observed'}"
    if facts.attached and processes_of_store(trial):
        return "attached, on this host: client and server share it, and the server is not dbdyno's to pin"
    if facts.attached:
        return "attached: the host of the server, and what else runs there, were not observed"
    if trial.embedded:
        return f"embedded: it runs in the client's own threads, {_cpus(facts.client_cpus)}"
    client, server = facts.client_cpus, facts.server_cpus
    if not client and not server:
        return "client and server on one host, neither pinned to processors"
    return f"client and server on one host, client {_cpus(client)}, server {_cpus(server)}"


def _cpus(cpus: Iterable[int] | None) -> str:
    return f"pinned to CPU {', '.join(map(str, cpus))}" if cpus else "not pinned"


def _answers(trials: Sequence[Trial]) -> Line:
    read = sum(trial.recorded.sums.reads_verified for trial in trials)
    wrong = sum(trial.recorded.sums.mismatches for trial in trials)
    checks = [check.get("ok") for trial in trials for check in trial.recorded.checks]
    if wrong or False in checks:
        text = f"{wrong:,} of {read:,} rows read were wrong, {checks.count(False)} checks failed"
        return Line("answers", text, "wrong answers", "wrong answers")
    hellos = [trial.recorded.hello for trial in trials if trial.recorded.hello]
    if not_given := [hello["not_given"] for hello in hellos if "not_given" in hello]:
        part = f" ({len(not_given)} of {len(trials)} trials)" if len(not_given) < len(trials) else ""
        text, brief = f"{not_given[0]['text']}{part}", f"{not_given[0]['brief']}{part}"
        return Line("answers", text, brief, "answers not checked")
    if not read and True not in checks:
        return Line("answers", "none was checked", "answers not checked", "answers not checked")
    text = f"{read:,} rows read were checked and {checks.count(True)} checks made, all right"
    return Line("answers", text, "answers checked")


def _not_seen(by_label: Mapping[str, Sequence[Trial]]) -> Iterator[str]:
    trials = [trial for group in by_label.values() for trial in group]
    reasons: dict[str, None] = {}
    for trial in trials:
        for unseen in trial.facts.unseen:
            reasons.setdefault(f"{unseen.band}: {unseen.reason}")
    yield from reasons
    blind = [label for label, group in by_label.items() if not any(trial.observed for trial in group)]
    if blind:
        yield f"host, disk and waits: nothing was observed of {', '.join(blind)}"


def short(card: Card) -> list[str]:
    """Return the card in a line for each kind of system, the kinds told apart by what they differ in."""
    labels_by_text: dict[str, list[str]] = {}
    for system in card.systems:
        labels_by_text.setdefault(" · ".join(line.brief for line in system.lines if line.brief), []).append(
            system.label
        )
    if len(labels_by_text) == 1:
        return list(labels_by_text)
    return [f"{', '.join(labels)}: {text}" for text, labels in labels_by_text.items()]
