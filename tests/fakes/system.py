"""A system without a server: remembers its calls, and fails if its settings say so."""

from pathlib import Path
from typing import ClassVar

from dbdyno.errors import RunFailed
from dbdyno.experiment.workloads import OPERATIONS
from dbdyno.systems.base import Durability, System
from dbdyno.systems.running.kept_data import KeptData


class FakeSystem(System):
    """Settings: `fail_start`. calls: the verbs it was given. deaths: how it is found dead from its first trial on.

    copies: None where its data cannot be kept, else where it is. restore_s: what a start on a copy adds to `lost_s`.
    """

    name = "fake"
    what = "a system for tests"
    operations = frozenset(OPERATIONS)
    calls: ClassVar[list[str]] = []
    deaths: ClassVar[list[str]] = []
    copies: ClassVar[Path | None] = None
    restore_s: ClassVar[float] = 0.0
    lost_s: ClassVar[float] = 0.0

    @property
    def restorable(self):
        return self.copies is not None

    def keep(self):
        self.calls.append("keep")
        path = self.copies / f"kept-{self.calls.count('keep')}"
        path.mkdir()
        return KeptData(path)

    def start(self, launch):
        self.calls.append("restore" if launch.data else "start")
        if launch.data:
            assert launch.data.is_dir()
            type(self).lost_s += self.restore_s
        if "fail_start" in self.spec.settings:
            raise RunFailed("fake did not start")
        (launch.log_folder / "server-fake.log").write_text("started\n")
        self.log = launch.log_folder / "server-fake.log"
        self.asked = 0

    def stop(self):
        self.calls.append("stop")

    def death(self):
        return self.deaths[0] if self.deaths and self.asked else None

    def servers(self):
        return [{"name": "fake", "version": "1", "effective_settings": {}}]

    def durability(self):
        return Durability("D0", "it keeps nothing")

    def counters(self):
        # Asked before and after each trial, so this is also how it knows of one.
        self.calls.append("counters")
        self.asked += 1
        with self.log.open("a") as log:
            log.write(f"asked {self.asked}\n")
        return {"fake": {"asked": self.asked}}

    def store_plan(self, secrets):
        secrets.append("hidden")
        return {"kind": "fake", "settings": dict(self.spec.settings), "password": {"secret": len(secrets) - 1}}
