"""How long the texts of a column are: one size for all, or a distribution of sizes."""

from collections.abc import Mapping
from math import exp, gamma, inf
from typing import Annotated, Any, Literal

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, model_serializer, model_validator

SIZES: Mapping[str, tuple[str, ...]] = {
    "constant": ("size",),
    "uniform": ("from", "to"),
    "table": ("sizes",),
    "pareto": ("location", "scale", "shape"),
    "gev": ("location", "scale", "shape"),
    "log-normal": ("median", "sigma"),
}
"""The distributions of sizes, and the parameters that each needs. A table may have `otherwise`, too."""

_EULER = 0.5772156649015329
_ROUNDED = 1e-6
_LARGEST_SHAPE = 5

Positive = Annotated[float, Field(gt=0, lt=inf)]
Finite = Annotated[float, Field(gt=-inf, lt=inf)]
Characters = Annotated[float, Field(ge=0, le=65_535)]


class Size(BaseModel):
    """A distribution of sizes, in characters; each size is rounded, and cut at 0 and at the column's width.

    pareto: generalised Pareto. gev: generalised extreme value. sizes: each a size and its share.
    otherwise: the distribution of the shares that a table leaves.
    """

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)

    kind: Literal["constant", "uniform", "table", "pareto", "gev", "log-normal"]
    size: Characters | None = None
    from_: Annotated[Characters | None, Field(alias="from")] = None
    to: Characters | None = None
    sizes: list[Annotated[list[float], Field(min_length=2, max_length=2)]] | None = None
    otherwise: "Size | None" = None
    location: Finite | None = None
    scale: Positive | None = None
    shape: Annotated[float, Field(ge=-_LARGEST_SHAPE, le=_LARGEST_SHAPE)] | None = None
    median: Positive | None = None
    sigma: Positive | None = None

    @model_validator(mode="after")
    def _fits(self) -> "Size":
        needed = SIZES[self.kind]
        for name, field in type(self).model_fields.items():
            key, given = field.alias or name, getattr(self, name) is not None
            if key != "kind" and given != (key in needed) and not (key == "otherwise" and self.kind == "table"):
                raise ValueError(f"sizes of the kind '{self.kind}' {'do not take' if given else 'need'} {key}")
        if self.from_ is not None and self.to is not None and self.from_ > self.to:
            raise ValueError(f"from = {self.from_:g} is above to = {self.to:g}")
        if self.sizes is not None:
            _check_shares(self.sizes, self.otherwise is not None)
        return self

    @property
    def most(self) -> float:
        """The largest size, infinite unless the distribution ends there; it must fit the column."""
        largest = {"constant": self.size, "uniform": self.to}.get(self.kind, inf)
        if self.sizes is not None:
            return max(size for size, _ in self.sizes)
        return inf if largest is None else largest

    @property
    def mean(self) -> float:
        """The mean size, as long as the column does not cut any; infinite if the distribution has none."""
        location, scale, shape = self.location or 0, self.scale or 0, self.shape or 0
        if self.kind == "pareto":
            return location + scale / (1 - shape) if shape < 1 else inf
        if self.kind == "gev":
            return location + scale * ((gamma(1 - shape) - 1) / shape if shape else _EULER) if shape < 1 else inf
        if self.kind == "log-normal":
            return (self.median or 0) * exp((self.sigma or 0) ** 2 / 2)
        if self.sizes is not None:
            left = max(0.0, 1 - sum(share for _, share in self.sizes))
            rest = left * self.otherwise.mean if self.otherwise else 0
            return sum(size * share for size, share in self.sizes) + rest
        return self.size if self.size is not None else ((self.from_ or 0) + (self.to or 0)) / 2

    @model_serializer(mode="plain")
    def _briefly(self) -> Any:
        """Write what all texts have as its number alone, and of a distribution what it needs."""
        if self.kind == "constant":
            return self.size
        written = {(field.alias or name): getattr(self, name) for name, field in type(self).model_fields.items()}
        if self.otherwise is not None:
            written["otherwise"] = self.otherwise.model_dump()
        return {key: value for key, value in written.items() if value is not None}


def _check_shares(sizes: list[list[float]], has_more: bool) -> None:
    shares = sum(share for _, share in sizes)
    if not sizes or any(size < 0 or not share > 0 for size, share in sizes):
        raise ValueError("give each size, at least 0, with its share, above 0, e.g. sizes = [[2, 0.4], [9, 0.6]]")
    if has_more and not shares < 1:
        raise ValueError(f"the shares of sizes add up to {shares:.6g}, so nothing is left for `otherwise`")
    if not has_more and abs(shares - 1) > _ROUNDED:
        raise ValueError(f"the shares of sizes add up to {shares:.6g} and not to 1; `otherwise` may have the rest")


def _from_number(value: Any) -> Any:
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    return {"kind": "constant", "size": value} if is_number else value


Sized = Annotated[Size, BeforeValidator(_from_number)]
"""Sizes that may be written as one number."""
