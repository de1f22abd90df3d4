"""Settings that a running server takes, and that move what limits it (`confirm_limit`)."""

from dataclasses import dataclass

NOT_DURABLE = "for this run alone: a crash loses acknowledged writes"


@dataclass(frozen=True)
class LiveSetting:
    """One setting.

    value: what it is changed to, or None for twice its value. least: what a running server takes at least.
    note: what a person must know of that, or nothing.
    """

    name: str
    value: str | None = None
    note: str = ""
    least: int = 0
