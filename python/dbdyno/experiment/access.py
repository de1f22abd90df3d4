"""How an own workload chooses its keys: a distribution by name, or one with its parameters."""

from typing import Annotated, Any, Literal

from pydantic import (
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    SerializerFunctionWrapHandler,
    model_serializer,
    model_validator,
)

Distribution = Literal["uniform", "sequential", "zipfian", "latest", "hot-set", "special", "gaussian", "pareto"]
Share = Annotated[float, Field(gt=0, le=1)]

_TAKEN = {
    "exponent": ("zipfian", "latest"),
    "scrambled": ("zipfian",),
    "rows": ("hot-set",),
    "choices": ("hot-set",),
}
"""The distributions that take a key; `subset` and `moves` are taken by all but `latest`."""


class Access(BaseModel):
    """A distribution of keys over the rows, or over a part of them.

    exponent: of a row's rank, 0 is uniform. scrambled: the popular rows lie anywhere among the others.
    rows, choices: the share of rows that is hot, and the share of the choices among them.
    subset: the share of the rows that are chosen among. moves: by how many rows the subset moves on per transaction.
    """

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)

    kind: Distribution
    exponent: Annotated[float, Field(ge=0, le=3)] | None = None
    scrambled: bool | None = None
    rows: Share | None = None
    choices: Annotated[float, Field(ge=0, le=1)] | None = None
    subset: Share | None = None
    moves: Annotated[float, Field(ge=0, le=1_000_000)] | None = None

    @model_validator(mode="after")
    def _fits(self) -> "Access":
        for key in ("exponent", "scrambled", "rows", "choices", "subset", "moves"):
            takes = self.kind in _TAKEN[key] if key in _TAKEN else self.kind != "latest"
            if getattr(self, key) is not None and not takes:
                raise ValueError(f"the access '{self.kind}' does not take {key}")
        return self

    @model_serializer(mode="wrap")
    def _briefly(self, write: SerializerFunctionWrapHandler) -> Any:
        """Write what has no parameters as its name alone, as the contract always had it."""
        written = {key: value for key, value in write(self).items() if value is not None}
        return self.kind if set(written) == {"kind"} else written


def _from_name(value: Any) -> Any:
    return {"kind": value} if isinstance(value, str) else value


NamedAccess = Annotated[Access, BeforeValidator(_from_name)]
"""An access that may be written as its name alone."""
UNIFORM = Access(kind="uniform")
