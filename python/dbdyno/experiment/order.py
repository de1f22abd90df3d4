"""The order in which sides are measured: randomised ABBA blocks (docs/statistics.md, section 3.1)."""

from collections.abc import Sequence
from random import Random
from typing import TypeVar

T = TypeVar("T")


def abba_order(sides: Sequence[T], repeats: int, seed: str) -> list[list[T]]:
    """Return the order of the sides within each repetition: blocks of two, the second the first reversed, drawn anew.

    Whatever changes steadily with time then weighs on all of them alike (ABBA), and nothing can keep step with the
    order. The order of fewer repetitions is the beginning of that of more.
    """
    random = Random(seed)
    order: list[list[T]] = []
    for _ in range((repeats + 1) // 2):
        block = random.sample(sides, len(sides))
        order += [block, block[::-1]]
    return order[:repeats]
