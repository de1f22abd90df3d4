"""`until_flat`: a sweep of rising clients ends where its curve is flat; what is left out is written down and said."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from dbdyno.conduct.context import Context
from dbdyno.experiment.keys import MOST_CLIENTS
from dbdyno.experiment.trials import Cell, Trial, cell_of
from dbdyno.results.json_types import LeftOutStated
from dbdyno.results.read import read_trial
from dbdyno.results.usable import unusable
from dbdyno.stats.flatness import Flat, flatness


@dataclass
class _Sweep:
    """The steps of one sweep that can be used: clients, and throughput of each whole second."""

    clients: list[int] = field(default_factory=list)
    rates_per_s: list[list[float]] = field(default_factory=list)


class UntilFlat:
    """Watches the sweeps of one preparation: the trials that differ in nothing but their clients."""

    def __init__(self, context: Context) -> None:
        self._context = context
        self._sweeps: dict[Cell, _Sweep] = {}

    def after(self, ended: Trial, waiting: Sequence[Trial]) -> list[Trial]:
        """Return those of the `waiting` trials that are still to be run after `ended`.

        A trial that failed is no step: nothing is concluded from it. A sweep that goes as far as any without an end
        does, and is not flat there, is said to be that.
        """
        share = self._context.experiment.until_flat
        complete = self._context.earlier.outcomes
        further = [trial for trial in waiting if _sweep_of(trial) == _sweep_of(ended) and trial.name not in complete]
        # A share of the capacity that the sweep found is no step of it.
        if share is None or not ended.clients or ended.rate:
            return list(waiting)
        sweep = self._sweeps.setdefault(_sweep_of(ended), _Sweep())
        self._take(sweep, ended)
        flat = flatness(sweep.rates_per_s, share)
        if not flat and not further and ended.clients >= MOST_CLIENTS:
            still = f"not flat to within {100 * share:.4g} % beyond noise by {ended.clients:,} clients, its last step"
            self._leave_out(ended, [], still)
        if not flat or not further:
            return list(waiting)
        self._leave_out(ended, further, conclude(sweep.clients, further, flat, share))
        return [trial for trial in waiting if trial not in further]

    def _take(self, sweep: _Sweep, ended: Trial) -> None:
        trial = read_trial(self._context.folder.path / "trials" / ended.name)
        rates = [interval.completed / interval.seconds for interval in trial.recorded.whole_seconds]
        if rates and not unusable(trial):
            sweep.clients.append(ended.clients)
            sweep.rates_per_s.append(rates)

    def _leave_out(self, ended: Trial, further: Sequence[Trial], sentence: str) -> None:
        about: LeftOutStated = {
            "system": ended.system.label,
            "workload": str(ended.workload),
            "pipeline": ended.pipeline,
            "network_delay_us": ended.network_delay_us,
            "clients": [trial.clients for trial in further],
            "reason": sentence,
        }
        self._context.journal.leave_out([trial.name for trial in further], about)
        self._context.listener.steps_are_left_out(len(further), f"{ended.system.label}, {ended.workload}: {sentence}")


def _sweep_of(trial: Trial) -> Cell:
    return replace(cell_of(trial), clients=0)


def conclude(clients: Sequence[int], further: Sequence[Trial], flat: Flat, share: float) -> str:
    """Return the sentence that says which steps are left out, and why."""
    last = " and ".join(map(str, clients[-len(flat.rises) :]))
    rises = " and ".join(f"{rise:+.1%}" for rise in flat.rises)
    noise = "noise within trials is unknown" if flat.noise is None else f"noise within trials {flat.noise:.1%}"
    left = ", ".join(str(trial.clients) for trial in further)
    return (
        f"not run with {left} clients: the curve is flat. {last} clients changed throughput by {rises} from the best "
        f"before ({clients[flat.best]}), less than {100 * share:.4g} % beyond noise ({noise})"
    )
