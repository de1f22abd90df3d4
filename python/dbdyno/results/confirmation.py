"""A trial's load repeated with less of its limiting resource (`confirmation.json`, docs/run-folder.md)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from dbdyno.contract import JsonObject


@dataclass(frozen=True, slots=True)
class Followed:
    """The same load with less.

    Attributes:
        how: what was left, in words.
        followed: the share of the reduction by which throughput fell.
    """

    how: str
    before_per_s: float
    throughput_per_s: float
    followed: float


@dataclass(frozen=True, slots=True)
class Confirmation:
    """A verdict put to the test.

    Attributes:
        limit: what was reduced, as the table of limits names it.
        taken: the share of it that was taken away; `None` if one thing was changed instead.
        tried: what came of it, or `None` if that could not be tried.
        why_not: why it could not.
    """

    limit: str
    taken: float | None
    tried: Followed | None
    why_not: str | None = None

    @classmethod
    def read(cls, stated: JsonObject) -> Confirmation:
        """Return the confirmation that a file states."""
        why_not = stated.get("why_not")
        return cls(
            limit=str(stated["limit"]),
            taken=None if stated["taken"] is None else float(stated["taken"]),
            tried=_followed(stated) if why_not is None else None,
            why_not=None if why_not is None else str(why_not),
        )

    def document(self) -> dict[str, object]:
        """Return it as JSON has it."""
        stated: dict[str, object] = {"limit": self.limit, "taken": self.taken, "why_not": self.why_not}
        if self.tried is None:
            return stated
        return stated | {
            "how": self.tried.how,
            "before_per_s": self.tried.before_per_s,
            "throughput_per_s": self.tried.throughput_per_s,
            "followed": self.tried.followed,
        }


def _followed(stated: JsonObject) -> Followed:
    return Followed(
        how=str(stated["how"]),
        before_per_s=float(stated["before_per_s"]),
        throughput_per_s=float(stated["throughput_per_s"]),
        followed=float(stated["followed"]),
    )
