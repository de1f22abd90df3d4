"""Think time: how long a client of a closed loop pauses between two transactions, as a person or a program would.

think_time = "2ms"                                        # always as long; a number is microseconds
think_time = { kind = "exponential", mean = "2ms" }       # drawn for each pause
"""

import re
from typing import Annotated, Any, Literal

from pydantic import BaseModel, BeforeValidator, ConfigDict, model_serializer, model_validator

from dbdyno.contract import ThinkTimeDocument

MOST_US = 60_000_000
"""The contract's bound (docs/contract.md): a minute."""
_UNITS_US = {"us": 1, "µs": 1, "ms": 1000, "s": 1_000_000}


def _read_us(value: Any) -> int:
    if isinstance(value, str) and (match := re.fullmatch(r"\s*(\d{1,20})\s*([µu]s|ms|s)\s*", value)):
        value = int(match[1]) * _UNITS_US[match[2]]
    if isinstance(value, bool) or not isinstance(value, int):
        raise ValueError(f'{value!r} is not a time; give whole microseconds, or text such as "500us" or "2ms"')
    if not 1 <= value <= MOST_US:
        raise ValueError(f"{value:,} µs: a think time is from 1 to {MOST_US:,} µs; leave it out for none")
    return value


class ThinkTime(BaseModel):
    """A pause between two transactions of a client. mean: in microseconds; a constant pause is always as long."""

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)

    kind: Literal["constant", "exponential"]
    mean: Annotated[int, BeforeValidator(_read_us)]

    @model_validator(mode="before")
    @classmethod
    def _from_constant(cls, value: Any) -> Any:
        return value if isinstance(value, dict) else {"kind": "constant", "mean": value}

    @model_serializer(mode="plain")
    def _briefly(self) -> Any:
        """Write what is constant as its microseconds alone."""
        return self.mean if self.kind == "constant" else {"kind": self.kind, "mean": self.mean}

    def document(self) -> ThinkTimeDocument:
        """Return it as a plan has it."""
        return {"kind": self.kind, "mean_us": self.mean}

    @property
    def words(self) -> str:
        """For a person: `2,000 µs`, `exponential, 2,000 µs on average`."""
        return f"{self.mean:,} µs" if self.kind == "constant" else f"exponential, {self.mean:,} µs on average"
