"""The builds that `dbdyno bisect` searches: a list, the versions of the catalogue, or commits and a command."""

import shlex
import subprocess
from collections.abc import Callable, Sequence
from pathlib import Path
from textwrap import shorten

from dbdyno.errors import RunFailed, UserError
from dbdyno.experiment.bounds import read_bounded
from dbdyno.experiment.system_spec import parse_system
from dbdyno.systems.packages.catalogue import PACKAGES
from dbdyno.systems.packages.versions import in_range

COMMIT = "{commit}"
_MOST_SUBJECT = 60
_MOST_LINES = 10_000

Maker = Callable[[str], str]
"""Returns the system of a build; raises RunFailed if it cannot be made."""


def builds_between(good: str, bad: str, listed: Path | None, build: str | None, repository: Path) -> list[str]:
    """Return the builds from the good one to the bad one, both included, in order.

    listed: a file with a build a line. build: the command that makes one of a commit of `repository`.
    Raises UserError if there are none between both, or they are not in this order.
    """
    if listed:
        builds = _listed(listed)
    elif build:
        return [good, *_commits(good, bad, repository)]
    else:
        builds = _versions(good, bad)
    for option, name in (("--good", good), ("--bad", bad)):
        if name not in builds:
            raise UserError(f"{option} {name}: not among the builds {', '.join(builds[:10])}")
    first, last = builds.index(good), builds.index(bad)
    if first >= last:
        raise UserError(f"{good} does not come before {bad} in the builds; list them from the oldest to the newest")
    return builds[first : last + 1]


def _listed(file: Path) -> list[str]:
    """Return the builds of a file; a range of versions stands for each of them."""
    try:
        lines = read_bounded(file).decode().splitlines()[:_MOST_LINES]
    except (OSError, ValueError) as error:
        raise UserError(f"{file}: cannot be read: {error}") from None
    named = [line.strip() for line in lines if line.strip() and not line.startswith("#")]
    builds = [build for line in named for build in in_range(line)]
    if twice := [name for name in builds if builds.count(name) > 1]:
        raise UserError(f"{file}: lists {twice[0]} twice")
    return builds


def _versions(good: str, bad: str) -> list[str]:
    """Return the versions that the catalogue has of a product, each with the settings that both builds have."""
    named = [text.partition("?") for text in (good, bad)]
    products = {name.partition("@")[0] for name, *_ in named}
    settings = f"{named[0][1]}{named[0][2]}"
    if len(products) > 1 or named[0][1:] != named[1][1:] or not all("@" in name for name, *_ in named):
        raise UserError(
            "the builds in between are unknown. Give --builds FILE, or --build COMMAND, or two versions such as "
            "mysql@5.5 with the same settings"
        )
    return [f"{name}{settings}" for name in PACKAGES if name.partition("@")[0] in products]


def _commits(good: str, bad: str, repository: Path) -> list[str]:
    """Return the commits after the good one, up to the bad one, oldest first."""
    done = _git(repository, "rev-list", "--reverse", "--first-parent", f"{good}..{bad}", "--")
    if done.returncode:
        raise UserError(f"git finds no commits {good}..{bad} in {repository}: {done.stderr.strip()[:200]}")
    if not (commits := done.stdout.split()):
        raise UserError(f"there is no commit between {good} and {bad} in {repository}; is --good the older one?")
    return commits


def _git(repository: Path, *words: str) -> subprocess.CompletedProcess[str]:
    try:
        return subprocess.run(
            ("git", "-C", str(repository), *words), capture_output=True, text=True, errors="replace", check=False
        )
    except OSError as error:
        raise UserError(f"git cannot be started: {error.strerror}; install it") from None


def titles_of(builds: Sequence[str], build: str | None, repository: Path) -> list[str]:
    """Return the builds as a person reads them: a commit by its short name and its subject, others as they are."""
    if build is None:
        return list(builds)
    done = _git(repository, "log", "--no-walk=unsorted", "--format=%H%x09%h%x09%s", *builds[1:], "--")
    split = [line.split("\t", 2) for line in done.stdout.splitlines()]
    titles = {name: f"{short} ({shorten(subject, _MOST_SUBJECT, placeholder='…')})" for name, short, subject in split}
    return [titles.get(name, name) for name in builds]


def maker_of(build: str | None, repository: Path, logs: Path) -> Maker:
    """Return what makes a build's system: the build itself, or what the command prints last.

    Raises UserError if the command has no `{commit}`.
    """
    if build is None:
        return _checked
    try:
        words = shlex.split(build)
    except ValueError as error:
        raise UserError(f"--build {build}: {error}") from None
    if not any(COMMIT in word for word in words):
        raise UserError(f"--build {build}: has no {COMMIT}, e.g. --build './make.sh {COMMIT}'")

    def make(commit: str) -> str:
        return _made([word.replace(COMMIT, commit) for word in words], repository, logs / f"build-{commit[:12]}.log")

    return make


def _checked(text: str) -> str:
    try:
        parse_system(text)
    except ValueError as error:
        raise RunFailed(str(error)) from None
    return text


def _made(words: Sequence[str], repository: Path, log: Path) -> str:
    """Run the command and return the last line that it prints."""
    try:
        with log.open("w") as errors:
            done = subprocess.run(words, cwd=repository, stdout=subprocess.PIPE, stderr=errors, text=True, check=False)
    except OSError as error:
        raise RunFailed(f"{shlex.join(words)}: {error.strerror}") from None
    lines = [line for line in done.stdout.splitlines() if line.strip()]
    if done.returncode:
        raise RunFailed(f"{shlex.join(words)} ended with status {done.returncode}; see {log}")
    if not lines:
        raise RunFailed(f"{shlex.join(words)} printed no system; its last line must be one, e.g. redis?io-threads=2")
    return _checked(lines[-1].strip())
