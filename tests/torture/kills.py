"""Random kills: a signal to any process of a run, at any moment of any phase; afterwards nothing of the run is left.

A case draws one of the scenes, one or two victims, a signal and a moment. The moment is a share of what the scene takes
undisturbed, which is measured once. Victims are the server, the load client, dbdyno, its guard, and pairs. The signal
is SIGKILL, SIGTERM, SIGHUP or SIGSTOP. A stopped victim gets SIGCONT after up to three seconds or, if it is given up,
none; a dbdyno that is given up is killed, as a person would.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import psutil

from torture.folders import check_folder, complete_in_spite
from torture.isolation import adopt_orphans, isolate
from torture.leftovers import Leftover, below, describe, is_alive, snapshot, sweep, wait_for_the_end
from torture.part import Part, Report, dice
from torture.scenes import SCENES, Scene

DBDYNO = [sys.executable, "-P", "-m", "dbdyno"]
BOUND_S = 100
"""A disturbed run may last so much longer: a server has 60 s to start and 10 s to end, and operations 2 s each."""
GRACE_S = 15
"""The guard gives what it ends 5 s before SIGKILL, and as many behind it."""
VICTIMS = {
    "server": 4,
    "load": 3,
    "dbdyno": 5,
    "guard": 2,
    "guards": 1,
    "guard + dbdyno": 2,
    "guards + dbdyno": 2,
    "server + dbdyno": 2,
    "server + load": 1,
    "load + dbdyno": 1,
}
"""The victims, and how often each is struck. `guards` are all there are."""
GIVEN_UP = "STOP, given up"
MISSED = "missed"
NEXT = Scene("sqlite", "sqlite", "point-get")
"""A run that follows one whose guards are all gone."""
SIGNALS = {"KILL": 6, "TERM": 3, "HUP": 2, "STOP": 3, GIVEN_UP: 1}


@dataclass(frozen=True)
class Disturbance:
    """The plan of one case.

    share: of the undisturbed run's length. stopped_s: until SIGCONT, or until a dbdyno that is given up is killed.
    which: of several such processes, 0 to 1, in the order they began.
    """

    scene: Scene
    victims: tuple[str, ...]
    signal_name: str
    share: float
    stopped_s: float
    which: float

    def __str__(self) -> str:
        words = [self.scene.experiment, self.scene.store, *self.scene.options]
        return f"{' '.join(words)}: {' + '.join(self.victims)} {self.signal_name} at {self.share:.3f}"


def draw(seed: int, case: int, scenes: list[Scene]) -> Disturbance:
    """Return what case number `case` does: its own dice decide, so that it can be repeated alone."""
    chance = dice(seed, case)
    # Every store as often as every other one, however many scenes it has.
    group = chance.choice(sorted({scene.group for scene in scenes}))
    scene = chance.choice([scene for scene in scenes if scene.group == group])
    (victims,) = chance.choices(list(VICTIMS), list(VICTIMS.values()))
    (name,) = chance.choices(list(SIGNALS), list(SIGNALS.values()))
    names = victims.split(" + ")
    if scene.embedded:
        names = list(dict.fromkeys("load" if name == "server" else name for name in names))
    share, stopped_s = chance.uniform(0, 1.02), chance.uniform(0.2, 3)
    # A server's first process most often, its children now and then.
    return Disturbance(scene, tuple(names), name, share, stopped_s, chance.random() ** 4)


class Stage:
    """The scene of one case: directories of its own, and the run in them."""

    isolated = False

    def __init__(self, scene: Scene) -> None:
        self.folder = Path(tempfile.mkdtemp(prefix="torture-"))
        # Servers run as another user where dbdyno is root.
        self.folder.chmod(0o755)
        for name in ("data", "tmp", "home", "state"):
            (self.folder / name).mkdir()
        (self.folder / "data").chmod(0o755)
        (self.folder / "tmp").chmod(0o1777)
        self._before = snapshot(self.folder, self.isolated)
        places = {"DBDYNO_DATA_DIR": "data", "TMPDIR": "tmp", "XDG_DATA_HOME": "home", "DBDYNO_STATE_DIR": "state"}
        self.environment = os.environ | {key: str(self.folder / name) for key, name in places.items()}
        self.began = time.monotonic()
        self.dbdyno = self.run(scene, "runs")

    def run(self, scene: Scene, out: str) -> psutil.Popen:
        """Start dbdyno, its runs going to the folder `out`."""
        with (self.folder / "said").open("ab") as said:
            return psutil.Popen(
                [*DBDYNO, *scene.command, "--out", str(self.folder / out)],
                stdin=subprocess.DEVNULL,
                stdout=said,
                stderr=said,
                env=self.environment,
                cwd=self.folder,
            )

    def leftovers(self) -> set[Leftover]:
        """Return what was not there before."""
        return snapshot(self.folder, self.isolated).since(self._before)

    def said(self) -> str:
        """Return what dbdyno printed."""
        return (self.folder / "said").read_text(errors="replace")

    def processes(self) -> list[psutil.Process]:
        """Return the live processes of the run."""
        return below(waited_for=self.dbdyno.pid)

    def victims(self, name: str, which: float) -> list[psutil.Process]:
        """Return the processes of that name that are there now: all of them if it is `guards`, else at most one.

        which: of several, 0 to 1, in the order they began.
        """
        if name == "dbdyno":
            return [self.dbdyno] if is_alive(self.dbdyno) else []
        matching = []
        for process in sorted(self.processes(), key=lambda process: process.pid):
            with suppress(psutil.NoSuchProcess, psutil.AccessDenied):
                if process.pid != self.dbdyno.pid and role(process, self.folder) == name.removesuffix("s"):
                    matching.append(process)
        return matching if name == "guards" or not matching else [matching[int(which * len(matching))]]


def role(process: psutil.Process, folder: Path) -> str:
    """Return what a process of a run is: the guard, a load client, a server, or a tool."""
    words = process.cmdline()
    if "dbdyno.leftovers" in words:
        return "guard"
    if any("dbdyno-load" in word or "dbdyno.load_" in word for word in words):
        return "load"
    # Tools run in dbdyno's own directory; what makes a server's data ready is as good a victim as the server.
    return "server" if Path(process.cwd()).is_relative_to(folder / "data") else "tool"


@cache
def undisturbed_s(scene: Scene) -> float:
    """Return how long a scene takes if nobody disturbs it; raises RuntimeError if it does not end well by itself."""
    stage = Stage(scene)
    try:
        status = stage.dbdyno.wait(BOUND_S)
        if status != 0:
            raise RuntimeError(f"undisturbed it ended with status {status}: {stage.said().strip()}")
        took_s = time.monotonic() - stage.began
        if left := stage.leftovers():
            raise RuntimeError(f"undisturbed it left {', '.join(map(str, left))}")
        return took_s
    finally:
        sweep(stage.folder, stage.leftovers())


def disturb(stage: Stage, todo: Disturbance, moment_s: float) -> float | None:
    """Wait for the moment, signal the victims, and return when; None if the run ended before they were there."""
    while time.monotonic() - stage.began < moment_s and is_alive(stage.dbdyno):
        time.sleep(0.002)
    victims: list[psutil.Process] = []
    while not victims and is_alive(stage.dbdyno):
        there = [stage.victims(name, todo.which) for name in todo.victims]
        victims = [victim for several in there for victim in several] if all(there) else []
    number = getattr(signal, f"SIG{todo.signal_name.partition(',')[0]}")
    for victim in victims:
        with suppress(psutil.NoSuchProcess):
            victim.send_signal(number)
    struck_unix_s = time.time() if victims else None
    if number == signal.SIGSTOP and victims:
        _go_on(stage, todo, victims)
    return struck_unix_s


def _go_on(stage: Stage, todo: Disturbance, victims: list[psutil.Process]) -> None:
    """Let the stopped victims continue, unless they are given up.

    A dbdyno that is given up is killed, as a person would, and so are guards that are given up with it: nobody is left
    who could end them.
    """
    time.sleep(todo.stopped_s)
    for victim in victims:
        with suppress(psutil.NoSuchProcess):
            if todo.signal_name != GIVEN_UP:
                victim.send_signal(signal.SIGCONT)
            elif "dbdyno" in todo.victims and "dbdyno-load" not in victim.name():
                victim.send_signal(signal.SIGKILL)


def one_case(todo: Disturbance) -> Iterator[str]:
    """Do it, and yield each finding, and `MISSED` if nobody was hit; afterwards nothing is left of it."""
    moment_s = todo.share * undisturbed_s(todo.scene)
    stage = Stage(todo.scene)
    leftovers: set[Leftover] = set()
    try:
        struck_unix_s = disturb(stage, todo, moment_s)
        status = _wait(stage, BOUND_S + undisturbed_s(todo.scene))
        if status is None:
            left = "; ".join(map(describe, stage.processes()))
            yield f"did not end within {BOUND_S + undisturbed_s(todo.scene):.0f} s; there are: {left}"
            stage.dbdyno.kill()
            stage.dbdyno.wait()
        wait_for_the_end(GRACE_S)
        if {"guards", "dbdyno"} <= set(todo.victims):
            # With nobody left to remove it, what is no process is the next run's to remove.
            yield from (f"left process {describe(process)}" for process in below())
            stage.run(NEXT, "next").wait()
            wait_for_the_end(GRACE_S)
        leftovers = stage.leftovers()
        if struck_unix_s is None:
            yield MISSED
        yield from (f"left {leftover}" for leftover in sorted(leftovers))
        if error := traceback_in(stage.said()):
            yield f"a traceback: {error}"
        # SIGKILL always ends it so, and other signals do before it can handle any.
        by_signal = status is None or (status < 0 and "dbdyno" in todo.victims)
        yield from check_folder(stage.folder / "runs", DBDYNO, None if by_signal else status, stage.said())
        if status is not None and status < 0 and not by_signal:
            yield f"dbdyno itself was killed by signal {-status}"
        if struck_unix_s and "server" in todo.victims and todo.signal_name == "KILL":
            yield from complete_in_spite(stage.folder / "runs", struck_unix_s)
    finally:
        sweep(stage.folder, leftovers)


def traceback_in(said: str) -> str | None:
    """Return the place and the error of the first traceback in what dbdyno said, or None if there is none."""
    lines = iter(said.splitlines())
    if not any(line.startswith("Traceback") for line in lines):
        return None
    location = ""
    for line in lines:
        if not line.startswith(" "):
            return f"{line} {location}"
        if line.startswith("  File"):
            location = line.strip()
    return f"cut short {location}"


def _wait(stage: Stage, patience_s: float) -> int | None:
    """Return the status that dbdyno ended with, negative for a signal, or None if it did not end."""
    try:
        return stage.dbdyno.wait(patience_s)
    except psutil.TimeoutExpired:
        return None


def run(seed: int, cases: range, report: Report) -> None:
    """Do these cases one after the other: leftovers of two at a time could not be told apart."""
    adopt_orphans()
    Stage.isolated = isolate()
    scenes = []
    for scene in SCENES:
        if reason := scene.lacks():
            report.skip(f"{scene.experiment} {scene.store} {' '.join(scene.options)}".strip(), reason)
        else:
            scenes.append(scene)
    for case in cases:
        if report.out_of_time:
            return
        todo = draw(seed, case, scenes)
        began = time.monotonic()
        try:
            findings = list(one_case(todo))
        except RuntimeError as error:
            report.finding(todo.scene.group, case, f"{todo}: {error}")
            continue
        if MISSED in findings:
            report.case("nobody was hit, the run ended before")
            findings.remove(MISSED)
            # The host may be less busy than when the scenes were timed.
            undisturbed_s.cache_clear()
        else:
            report.case(todo.scene.group)
        report.say(f"case {case}: {todo} ({time.monotonic() - began:.1f} s, {len(findings)} findings)")
        for what in findings:
            report.finding(todo.scene.group, case, f"{todo}: {what}")


# Some hit nobody, because the run has ended or has no such process any more: 200 are left.
PART = Part("kills", "kills", full=240, short=3, run=run)
