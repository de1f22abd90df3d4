"""Judges the `[limits]` of an experiment when its run has ended, trial by trial."""

from contextlib import suppress

from dbdyno.conduct.context import Context
from dbdyno.errors import UserError
from dbdyno.experiment.limit import Limit
from dbdyno.experiment.limits import Bound, LeastThroughput
from dbdyno.results.json_types import LimitFigureStated, LimitStated
from dbdyno.results.model import Recorded
from dbdyno.results.operations import issued
from dbdyno.results.read import read_trial


def judge_limits(context: Context, trials: list[str]) -> list[LimitStated]:
    """Return what `run.json` says of every limit in every complete trial of `trials`, by their folders' names.

    A trial that failed has failed the run already, whatever its figures are.
    """
    bounds = context.experiment.limits
    judged: list[LimitStated] = []
    for name in trials if bounds else ():
        # Recordings that cannot be understood have failed their trial; `show` reports them.
        with suppress(UserError):
            trial = read_trial(context.folder.path / "trials" / name)
            for bound in bounds if trial.state == "complete" else ():
                judged.append({"trial": name, "limit": str(bound), **judge_bound(bound, trial.recorded)})
    return judged


def judge_bound(bound: Bound, recorded: Recorded) -> LimitFigureStated:
    """Return figure, value, unit and whether the limit holds; a figure that is not known holds none."""
    if isinstance(bound, Limit):
        return _judge_time(bound, recorded)
    if isinstance(bound, LeastThroughput):
        per_s = recorded.throughput_per_s
        return _judged("throughput", per_s, "/s", per_s is not None and per_s > bound.per_s)
    failed = sum(sum(interval.errors.values()) for interval in recorded.intervals)
    if bound.below is not None:
        return _judged("errors", failed, "", failed < bound.below)
    operations = max(failed, sum(map(sum, issued(recorded))))
    share = failed / operations if operations else None
    return _judged("errors", share, "share", share is not None and share < (bound.below_share or 0))


def _judge_time(limit: Limit, recorded: Recorded) -> LimitFigureStated:
    value_us, figure = time_of(limit, recorded)
    return _judged(figure, value_us, "us", value_us is not None and value_us < limit.limit_us)


def time_of(limit: Limit, recorded: Recorded) -> tuple[float | None, str]:
    """Return the limit's figure in µs, and which it is: the maximum if too few transactions tell a percentile.

    It is of response times in an open loop, else of service times. No percentile is above the maximum, so a maximum
    below the limit holds it too.
    """
    times = recorded.response_time or recorded.service_time
    if not times.count:
        return None, limit.statistic
    if limit.statistic == "mean":
        return (times.mean_ns or 0.0) / 1000, "mean"
    value_ns = None if limit.percent is None else times.percentile_ns(limit.percent)
    return (times.max_ns / 1000, "max") if value_ns is None else (value_ns / 1000, limit.statistic)


def _judged(figure: str, value: float | None, unit: str, holds: bool) -> LimitFigureStated:
    return {"figure": figure, "value": value, "unit": unit, "holds": holds}
