"""Which trials may be compared, and by what figure."""

from __future__ import annotations

from dbdyno.results.model import Trial


def unusable(trial: Trial) -> str | None:
    """Return why a trial's throughput may not be used, or `None` if it may."""
    if trial.state != "complete":
        return f"{trial.state}{f': {trial.reason}' if trial.reason else ''}"
    if wrong := trial.recorded.sums.get("mismatches"):
        return f"{wrong} answers were wrong"
    if failed := trial.recorded.sums.get("failed"):
        return f"{failed} transactions failed"
    return None if trial.recorded.throughput_per_s else "nothing was completed"


def compared_rate_per_s(trial: Trial) -> float:
    """Return what a usable trial is compared by: the mean of its steady state, or of all it measured if it has none."""
    return trial.recorded.steady_throughput_per_s or 0.0
