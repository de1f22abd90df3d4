"""How often the steady-state rule is right on made-up series: `python -m tests.stats.hit_rates` prints the table."""

from __future__ import annotations

import sys
from collections.abc import Sequence

from dbdyno.stats.steady_state import steady_state

from .synthetic_series import CASES, NOISES, SECONDS, Case, series

SEEDS = 50
CUT_WITHIN_S = 20


def hit_rates(case: Case, variation: float, rho: float, seconds: int = SECONDS) -> tuple[float, float]:
    """The share of seeds for which the class is right, and for which the cut is right to within 20 s."""
    judged = [steady_state(series(case, variation, rho, seed, seconds)) for seed in range(SEEDS)]
    right = sum(judgement.kind in case.kinds for judgement in judged)
    near = sum(case.cut_s is None or abs(judgement.cut_s - case.cut_s) <= CUT_WITHIN_S for judgement in judged)
    return right / SEEDS, near / SEEDS


def main(arguments: Sequence[str]) -> None:
    """Print the table for trials of 600 s, or of as many as the command line says."""
    seconds = int(arguments[0]) if arguments else SECONDS
    print("| series | " + " | ".join(f"{variation:.0%}, ρ = {rho}" for variation, rho in NOISES) + " |")
    print("|---|" + "---|" * len(NOISES))
    for case in CASES:
        rates = [hit_rates(case, variation, rho, seconds) for variation, rho in NOISES]
        cells = [f"{right:.0%} / {near:.0%}" if case.cut_s is not None else f"{right:.0%}" for right, near in rates]
        print(f"| {case.name} | " + " | ".join(cells) + " |")


if __name__ == "__main__":
    main(sys.argv[1:])
