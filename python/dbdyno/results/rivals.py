"""The systems of a run that are compared: several at the same variant, and the variants of one."""

from collections.abc import Mapping
from itertools import combinations

Variants = Mapping[str, Mapping[str, str]]
"""By label of a system, the keys of the experiment that it has for itself."""


def rivals(variants: Variants) -> list[tuple[str, str]]:
    """Return all pairs of labels that differ in the system alone, or in the variant alone."""
    return [(first, second) for first, second in combinations(variants, 2) if _alike(variants, first, second)]


def against(variants: Variants, baseline: str | None = None) -> list[tuple[str, str]]:
    """Return each label with the one it is compared with: `baseline`, else the first of its variant.

    If no two systems share a variant, the others are compared with the first of all.
    """
    if baseline is None:
        firsts: dict[tuple[tuple[str, str], ...], str] = {}
        pairs = [(firsts.setdefault(tuple(variant.items()), label), label) for label, variant in variants.items()]
        if several := [(first, label) for first, label in pairs if first != label]:
            return several
    first = next(iter(variants)) if baseline is None else baseline
    return [(first, label) for label in variants if label != first]


def base_of(label: str, variant: Mapping[str, str]) -> str:
    """Return the label of a system without the words of its variant."""
    for key, value in variant.items():
        label = label.replace(f", {key} {value}", "")
    return label


def _alike(variants: Variants, first: str, second: str) -> bool:
    ours, theirs = variants[first], variants[second]
    return dict(ours) == dict(theirs) or base_of(first, ours) == base_of(second, theirs)
